# SPDX-License-Identifier: BSD-2-Clause
#
# Checks of the sources by compilers and other tools: tests/static/run.py. What gcc says while it builds is among them,
# so all is built first.

# How far clang's analyzer goes: see run.py.
STATIC_STATES ?= 225000
# Checks, with commas between them; all, if empty.
STATIC_ONLY ?=

.PHONY: static format

#: make static      check the sources with gcc, clang, clang-tidy, cppcheck and others
static: all test-programs bench-programs
	@/usr/bin/python3 tests/static/run.py $(BUILD) --only '$(STATIC_ONLY)' --states $(STATIC_STATES) -- $(CPPFLAGS) $(BASE_CFLAGS)

#: make format      lay the C sources out as the check `format` wants them
format:
	@find src api bpf include sim bench examples tests -name '*.[ch]' -print0 | xargs -0 clang-format -i
