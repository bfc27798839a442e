# SPDX-License-Identifier: BSD-2-Clause
#
# gpuprobe and its unit tests under AddressSanitizer and UndefinedBehaviorSanitizer, in a folder of their own. What they
# watch, the simulated CUDA and the workloads, stays that of the plain build, and so do the warnings: gcc's that follow
# the flow are wrong of code with checks put in.

SANITIZED := $(BUILD)/sanitized
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

.PHONY: sanitized

#: make sanitized   gpuprobe and the unit tests under ASan and UBSan, in build/sanitized
sanitized: check-deps
	@$(MAKE) --no-print-directory BUILD=$(SANITIZED) WARNINGS=-w CFLAGS='-O1 -g -DGPUPROBE_NO_FILTER' \
		HARDENING='-fPIE $(SANITIZERS)' LDFLAGS='-pie $(SANITIZERS)' $(SANITIZED)/gpuprobe unit-tests
