# SPDX-License-Identifier: BSD-2-Clause
#
# Which lines of src/ and api/ the tests run: a build that counts them, in a folder of its own. A
# killed process does not write its counts; one that ends by _exit writes them in
# tests/coverage_exit.c.

COVERAGE := $(BUILD)/coverage

.PHONY: coverage coverage-build

#: make coverage    lines that the tests run, by folder, and pages in build/coverage/pages (root)
coverage: all test-programs coverage-build
	@deploy/packages.sh install test-full
	@tests/coverage.py $(BUILD) $(COVERAGE)

# Counts are added up atomically: threads and the processes of src/base/sigkill_safe.c share them.
coverage-build: check-deps $(SKELETONS) $(COVERAGE)/exit.o
	@$(MAKE) --no-print-directory BUILD=$(COVERAGE) SHARED=$(SHARED) WARNINGS=-w \
		CFLAGS='-O0 -g' \
		HARDENING='-fPIE --coverage -fprofile-update=atomic' \
		LDFLAGS='-pie --coverage -Wl,--wrap=_exit $(COVERAGE)/exit.o' \
		$(COVERAGE)/api/generate $(COVERAGE)/gpuprobe unit-tests

$(COVERAGE)/exit.o: tests/coverage_exit.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -fPIE -D_GNU_SOURCE -c -o $@ $<
