# SPDX-License-Identifier: BSD-2-Clause
#
# The tests. Included by the top Makefile. `make test` installs what is missing,
# builds everything and runs tests/run.py, which closes with `N passed, N failed`;
# `make test-full` adds the long runs.

UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))

# When `make test` began, in seconds since 1970: what it took to build is part of the time that is printed.
BEGAN ?=

.PHONY: test-programs run-tests run-all-tests mutants

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

run-tests: $(TESTED)
	@tests/run.py $(if $(BEGAN),--began $(BEGAN)) $(BUILD)

run-all-tests: $(TESTED) valgrind-programs
	@tests/run.py --full $(if $(BEGAN),--began $(BEGAN)) $(BUILD)

#: make mutants     breaks gpuprobe in one place a family and looks whether its tests notice (root)
mutants: $(TESTED)
	@tests/mutants.py $(BUILD)

test-programs: $(UNIT_TESTS) $(SIM_OUT)/selftest $(EXAMPLES_SIMULATED)

# What a test needs besides the library; what is already in there is left out by the linker.
$(BUILD)/tests/test_generate $(BUILD)/tests/test_generate_files $(BUILD)/tests/test_generate_places: $(API_OBJS)
$(BUILD)/tests/test_trace_options: $(BUILD)/obj/cli/trace_options.o $(BUILD)/obj/cli/stack_options.o \
	$(BUILD)/obj/cli/arguments.o
$(BUILD)/tests/test_memleak_options: $(BUILD)/obj/cli/memleak_options.o $(BUILD)/obj/cli/stack_options.o \
	$(BUILD)/obj/cli/arguments.o
$(BUILD)/tests/test_account_options: $(BUILD)/obj/cli/account_options.o $(BUILD)/obj/cli/stack_options.o \
	$(BUILD)/obj/cli/arguments.o
$(BUILD)/tests/test_trace_gaps: $(BUILD)/obj/cli/gaps.o
$(BUILD)/tests/test_asked: $(BUILD)/obj/cli/asked.o
$(BUILD)/tests/test_rescans: $(BUILD)/obj/cli/rescans.o
$(BUILD)/tests/test_hindrance: $(BUILD)/obj/cli/refusals.o
$(BUILD)/tests/test_nvml: | $(BUILD)/tests/fake/libnvidia-ml.so.1

$(BUILD)/tests/fake/libnvidia-ml.so.1: tests/unit/fake/nvml.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -fPIC -shared -Wl,-soname,libnvidia-ml.so.1 -o $@ $<

$(BUILD)/tests/%: $(BUILD)/tests/obj/%.o $(BUILD)/libgpuprobe.a
	$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(BUILD)/libgpuprobe.a $(LDLIBS) -lcmocka

$(BUILD)/tests/obj/%.o: tests/unit/%.c | $(SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit $(ALL_CFLAGS) -Wno-format-nonliteral -MMD -MP -c -o $@ $<

-include $(wildcard $(BUILD)/tests/obj/*.d)
