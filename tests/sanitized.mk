# SPDX-License-Identifier: BSD-2-Clause
#
# gpuprobe and its unit tests under AddressSanitizer and UndefinedBehaviorSanitizer, in a folder of
# their own. They watch the simulated CUDA and the workloads of the plain build, which also shows
# warnings. clang builds it so that libFuzzer can see which lines an input reaches: the fuzz targets
# link the same objects. What makes the build quicker and hides nothing: reports need lines and no
# types, neither the tests' own code nor that of QUICK is optimised, and lld links.

SANITIZED := $(BUILD)/sanitized
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer $(FUZZ_MORE)

# Folders whose code takes little of any test's time. They compile twice as fast without -O1.
QUICK := api check cli collect compare device dump export finding host kineto nccl output \
	privilege probe ps
QUICK_CFLAGS ?=
$(QUICK:%=$(BUILD)/obj/%/%.o): ALL_CFLAGS += $(QUICK_CFLAGS)

.PHONY: sanitized

#: make sanitized   gpuprobe and the unit tests under ASan and UBSan, in build/sanitized
sanitized: check-deps $(SKELETONS)
	@$(MAKE) --no-print-directory BUILD=$(SANITIZED) SHARED=$(SHARED) CC=$(CLANG) WARNINGS=-w \
		CFLAGS='-O1 -gline-tables-only -DGPUPROBE_NO_FILTER -DGPUPROBE_SANITIZED' \
		TEST_CFLAGS=-O0 QUICK_CFLAGS=-O0 \
		HARDENING='-fPIE $(SANITIZERS) -fsanitize=fuzzer-no-link' \
		LDFLAGS='-fuse-ld=lld -pie $(SANITIZERS)' \
		$(SANITIZED)/gpuprobe unit-tests
