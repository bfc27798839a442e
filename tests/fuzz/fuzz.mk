# SPDX-License-Identifier: BSD-2-Clause
#
# Fuzzing, included by the top Makefile: a libFuzzer target for each reader of what a watched
# process or its files tell. All code of gpuprobe is built anew for it, with AddressSanitizer and
# UndefinedBehaviorSanitizer.

FUZZ ?= $(BUILD)/fuzz
FUZZ_SECONDS ?= 20
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SANITIZE := address,undefined
# Warnings of the library are looked at where it is built otherwise.
FUZZ_CFLAGS := -std=gnu11 -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all $(FUZZ_MORE)
FUZZ_LIB_OBJ := $(LIB_SRC:src/%.c=$(FUZZ)/obj/%.o) $(FUZZ)/obj/gen/api_tables.o
# What the harness stands in for: see tests/fuzz/harness.h.
FUZZ_WRAP := open opendir fopen readlink process_memory__read process_memory__read_string proc_maps__each mapping__open \
	root_file__open root_file__open_link regular_file__open
# And of single targets.
FUZZ_WRAP_command_line := watch__check_pids
FUZZ_WRAP_debuginfod := debuginfod_library__open debuginfod_library__close
FUZZ_CLI_OBJ := $(patsubst src/%.c,$(FUZZ)/obj/%.o,$(filter-out src/cli/main.c,$(CLI_SRC)))

.PHONY: fuzz fuzz-long fuzz-targets fuzz-coverage

#: make fuzz-coverage  which lines the corpora of the fuzz targets reach, into build/fuzz-coverage/report.txt
#: make fuzz        each fuzz target for FUZZ_SECONDS=20
#: make fuzz-long   the same for an hour each
fuzz: fuzz-targets
	@tests/fuzz/run.py --seconds $(FUZZ_SECONDS) $(BUILD)

fuzz-long: fuzz-targets
	@tests/fuzz/run.py --seconds 3600 $(BUILD)

# Built apart: what counts lines slows the fuzzing down.
fuzz-coverage:
	@$(MAKE) --no-print-directory FUZZ=$(BUILD)/fuzz-coverage \
		FUZZ_MORE="-fprofile-instr-generate -fcoverage-mapping" fuzz-targets
	@tests/fuzz/coverage.py $(BUILD)

fuzz-targets: $(FUZZ_TARGETS:%=$(FUZZ)/fuzz_%) $(FUZZ)/seeds/made

$(FUZZ)/seeds/made: tests/fuzz/seeds.py
	@rm -rf $(@D)
	@mkdir -p $(@D)
	tests/fuzz/seeds.py $(@D)
	@touch $@

$(FUZZ)/obj/%.o: src/%.c | $(SKELETONS)
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZE) -MMD -MP -c $< -o $@

$(FUZZ)/obj/gen/%.o: $(BUILD)/gen/%.c
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZE) -MMD -MP -c $< -o $@

$(FUZZ)/target/%.o: tests/fuzz/%.c | $(SKELETONS)
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) -Itests/fuzz -Itests/unit $(FUZZ_CFLAGS) -Wall -Wextra -Werror \
		-Wno-gnu-variable-sized-type-not-at-end -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZE) \
		-MMD -MP -c $< -o $@

$(FUZZ)/libgpuprobe.a: $(FUZZ_LIB_OBJ) $(FUZZ_CLI_OBJ)
	@rm -f $@
	$(AR) qcs $@ $^

$(FUZZ)/fuzz_%: $(FUZZ)/target/fuzz_%.o $(FUZZ)/target/harness.o $(FUZZ)/libgpuprobe.a
	$(CLANG) -fsanitize=fuzzer,$(FUZZ_SANITIZE) $(FUZZ_MORE) -o $@ $(filter %.o,$^) $(FUZZ)/libgpuprobe.a \
		$(FUZZ_WRAP:%=-Wl,--wrap=%) $(FUZZ_WRAP_$*:%=-Wl,--wrap=%) $(LDLIBS)

-include $(wildcard $(FUZZ)/obj/*/*.d $(FUZZ)/target/*.d)
