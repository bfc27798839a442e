# SPDX-License-Identifier: BSD-2-Clause
#
# Which lines of src/ the tests run: a build that counts them, in a folder of its own. What is killed has not written
# its counts, nor has what ends by _exit.

COVERAGE := $(BUILD)/coverage

.PHONY: coverage coverage-build

#: make coverage    lines of src/ that the tests run, by folder; a page of each file in build/coverage/pages (root)
coverage: all test-programs coverage-build
	@deploy/packages.sh install test-full
	@tests/coverage.py $(BUILD) $(COVERAGE)

coverage-build: check-deps
	@$(MAKE) --no-print-directory BUILD=$(COVERAGE) WARNINGS=-w CFLAGS='-O0 -g' \
		HARDENING='-fPIE --coverage -fprofile-update=atomic' LDFLAGS='-pie --coverage' $(COVERAGE)/gpuprobe unit-tests
