# SPDX-License-Identifier: BSD-2-Clause
#
# Fuzzing, included by the top Makefile: a libFuzzer target for each reader of what a watched
# process or its files tell. The code of gpuprobe is that of tests/sanitized.mk.

FUZZ ?= $(BUILD)/fuzz
FUZZ_SECONDS ?= 20
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CFLAGS := -std=gnu11 -O1 -g $(SANITIZERS)
FUZZ_CLI_OBJ := $(patsubst src/%.c,$(SANITIZED)/obj/%.o,$(filter-out src/cli/main.c,$(CLI_SRC)))
# What the harness stands in for: see tests/fuzz/harness.h.
FUZZ_WRAP := open opendir fopen readlink process_memory__read process_memory__read_string \
	proc_maps__each mapping__open root_file__open root_file__open_link regular_file__open
# And of single targets.
FUZZ_WRAP_command_line := watch__check_pids
FUZZ_WRAP_debuginfod := debuginfod_library__open debuginfod_library__close

.PHONY: fuzz fuzz-long fuzz-targets fuzz-programs fuzz-coverage

#: make fuzz-coverage  lines that the fuzz corpora reach, into build/fuzz-coverage/report.txt
#: make fuzz        each fuzz target for FUZZ_SECONDS=20
#: make fuzz-long   the same for an hour each
fuzz: fuzz-targets
	@tests/fuzz/run.py --seconds $(FUZZ_SECONDS) $(BUILD)

fuzz-long: fuzz-targets
	@tests/fuzz/run.py --seconds 3600 $(BUILD)

# Built apart: what counts lines slows the fuzzing down.
fuzz-coverage:
	@$(MAKE) --no-print-directory FUZZ=$(BUILD)/fuzz-coverage \
		SANITIZED=$(BUILD)/fuzz-coverage/sanitized \
		FUZZ_MORE="-fprofile-instr-generate -fcoverage-mapping" fuzz-targets
	@tests/fuzz/coverage.py $(BUILD)

# The objects are another make's: this one looks at them when they are there.
fuzz-targets: sanitized
	@$(MAKE) --no-print-directory fuzz-programs

fuzz-programs: $(FUZZ_TARGETS:%=$(FUZZ)/fuzz_%) $(FUZZ)/seeds/made

$(FUZZ)/seeds/made: tests/fuzz/seeds.py
	@rm -rf $(@D)
	@mkdir -p $(@D)
	tests/fuzz/seeds.py $(@D)
	@touch $@

$(FUZZ)/target/%.o: tests/fuzz/%.c | $(SKELETONS)
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) -Itests/fuzz -Ibpf -Itests/unit $(FUZZ_CFLAGS) -Wall -Wextra -Werror \
		-Wno-gnu-variable-sized-type-not-at-end -fsanitize=fuzzer-no-link -MMD -MP \
		-c $< -o $@

$(FUZZ)/libcli.a: $(FUZZ_CLI_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) qcs $@ $^

$(FUZZ)/fuzz_%: $(FUZZ)/target/fuzz_%.o $(FUZZ)/target/harness.o $(FUZZ)/libcli.a \
		$(SANITIZED)/libgpuprobe.a
	$(CLANG) -fsanitize=fuzzer $(SANITIZERS) -o $@ $(filter %.o,$^) $(FUZZ)/libcli.a \
		$(SANITIZED)/libgpuprobe.a $(FUZZ_WRAP:%=-Wl,--wrap=%) \
		$(FUZZ_WRAP_$*:%=-Wl,--wrap=%) $(LDLIBS)

-include $(wildcard $(FUZZ)/target/*.d)
