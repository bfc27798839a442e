# SPDX-License-Identifier: BSD-2-Clause
#
# The tests. Included by the top Makefile. `make test` installs what is missing,
# builds everything and runs tests/run.py, which closes with `N passed, N failed`;
# `make test-full` adds the long runs.

UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
UNIT_TESTS := $(addprefix $(BUILD)/tests/,$(basename $(notdir $(UNIT_SRC))))

# When `make test` began, in seconds since 1970: the printed time includes that of the build.
BEGAN ?=

.PHONY: test-programs unit-tests run-tests run-all-tests test-changed mutants verifier

# All that tests/run.py runs; what it calls by make finds it built.
TESTED := all test-programs portable bench-programs sanitized fuzz-targets

test:
	@began=$$(date +%s) && deploy/packages.sh install build test && \
		$(MAKE) --no-print-directory -j$$(nproc) $(TESTED) && \
		$(MAKE) --no-print-directory run-tests BEGAN=$$began

test-full:
	@began=$$(date +%s) && deploy/packages.sh install build test test-full && \
		$(MAKE) --no-print-directory -j$$(nproc) $(TESTED) valgrind-programs && \
		$(MAKE) --no-print-directory run-all-tests BEGAN=$$began

#: make test-changed  the tests that name what the working tree changed (root)
test-changed: all test-programs sanitized
	@tests/changed.py $(BUILD)

run-tests: $(TESTED)
	@tests/run.py $(if $(BEGAN),--began $(BEGAN)) $(BUILD)

run-all-tests: $(TESTED) valgrind-programs
	@tests/run.py --full $(if $(BEGAN),--began $(BEGAN)) $(BUILD)

#: make verifier    what the kernel's verifier goes through when gpuprobe starts, by function (root)
verifier: $(BUILD)/gpuprobe
	@tests/verifier/table.py $(BUILD) $(COMMAND)

#: make mutants     breaks gpuprobe in one place a family and looks whether its tests notice (root)
mutants: $(TESTED)
	@tests/mutants.py $(BUILD)

test-programs: unit-tests $(SIM_OUT)/selftest $(EXAMPLES_SIMULATED)

# A program stays in the folder when its source goes or is renamed; it is not to be run any more.
unit-tests: $(UNIT_TESTS)
	@rm -f $(filter-out $(UNIT_TESTS),$(wildcard $(BUILD)/tests/test_*))

# What a test needs besides the library; what is already in there is left out by the linker.
$(addprefix $(BUILD)/tests/test_api_,table table_files arg_location): $(API_OBJS)
OPTION_OBJS := $(patsubst %,$(BUILD)/obj/cli/options/%.o,arguments targets shared_rows \
	option_table stack_options filter_options recording_options)
$(patsubst %,$(BUILD)/tests/test_%_options,profile dump memleak ps trace): $(BUILD)/tests/test_%: \
	$(BUILD)/obj/cli/options/%.o $(OPTION_OBJS)
$(BUILD)/tests/test_option_table: $(OPTION_OBJS)
$(BUILD)/tests/test_attach_gaps: $(BUILD)/obj/cli/commands/attach_gaps.o
$(BUILD)/tests/test_target_pids: $(BUILD)/obj/cli/session/target_pids.o
$(BUILD)/tests/test_earlier: $(BUILD)/obj/cli/session/earlier.o
$(BUILD)/tests/test_rescans: $(BUILD)/obj/cli/session/rescans.o
$(BUILD)/tests/test_attach_failure: $(BUILD)/obj/cli/session/unwatchable.o
$(BUILD)/tests/test_nvml: | $(BUILD)/tests/fake/libnvidia-ml.so.1

# The BPF program as functions, compiled with stand-ins for libbpf's headers of helpers, which come
# first.
NATIVE_BPF_OBJ := $(patsubst tests/unit/%.c,$(BUILD)/tests/obj/%.o, \
	$(filter-out tests/unit/bpf/test_%, \
		$(wildcard tests/unit/bpf/*.c tests/unit/bpf/native/*.c)))
# Its frames have the sizes that an optimised program has.
$(BUILD)/tests/obj/stack/test_unwind.o: override TEST_CFLAGS :=
$(BUILD)/tests/obj/bpf/%.o: CPPFLAGS := -Itests/unit/bpf/native $(CPPFLAGS)
$(patsubst tests/unit/bpf/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/bpf/test_*.c)): \
	$(NATIVE_BPF_OBJ)

$(BUILD)/tests/test_bursts: $(BUILD)/obj/inject/sampling.o
$(BUILD)/tests/test_nvtx_payload: $(BUILD)/obj/inject/nvtx_payload.o
# CUPTI's header is compared with, where there is one.
$(BUILD)/tests/obj/inject/%.o: CPPFLAGS += -Iinject -isystem /usr/local/cuda/include

# It runs simulated ranks: those of the plain build, also if it is sanitized.
$(BUILD)/tests/test_nccl_ranks: | $(if $(findstring sanitize,$(HARDENING)),,$(SIM_OUT)/ranks)
# It loads the simulated libnccl.
$(BUILD)/tests/test_comm_memory: | \
	$(if $(findstring sanitize,$(HARDENING)),,$(SIM_OUT)/nccl/libnccl.so.2)

$(BUILD)/tests/fake/libnvidia-ml.so.1: tests/unit/fake/nvml.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -fPIC -shared \
		-Wl,-soname,libnvidia-ml.so.1 -o $@ $<

# tests/unit/FOLDER/test_X.c becomes tests/test_X: all programs are in one folder, where
# tests/run.py finds them.
$(foreach source,$(UNIT_SRC),$(eval \
	$(BUILD)/tests/$(basename $(notdir $(source))): \
		$(source:tests/unit/%.c=$(BUILD)/tests/obj/%.o)))

$(UNIT_TESTS): $(BUILD)/libgpuprobe.a
	$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(BUILD)/libgpuprobe.a $(LDLIBS) -lcmocka

$(BUILD)/tests/obj/%.o: tests/unit/%.c | $(SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Ibpf -Itests/unit $(ALL_CFLAGS) $(TEST_CFLAGS) -Wno-format-nonliteral \
		-MMD -MP -c -o $@ $<

-include $(wildcard $(BUILD)/tests/obj/*/*.d $(BUILD)/tests/obj/*/*/*.d)
