# SPDX-License-Identifier: BSD-2-Clause
#
# Checks of the sources by compilers and other tools: tests/static/run.py. gcc's warnings are among
# them, so all is built first.

# How far clang's analyzer goes (run.py). With 40,000 states it reaches as many branches as with its
# own 225,000, in a quarter of the time; with 20,000 it misses 1 %.
STATIC_STATES ?= 40000
# Checks, with commas between them; all, if empty.
STATIC_ONLY ?=
# --all: unchanged files as well.
STATIC_FLAGS ?=

.PHONY: static static-record format hooks compile_commands.json

#: make static      check the sources with gcc, clang, clang-tidy, cppcheck and others
static: all test-programs bench-programs
	@/usr/bin/python3 tests/static/run.py $(BUILD) --only '$(STATIC_ONLY)' \
		--states $(STATIC_STATES) $(STATIC_FLAGS) -- $(CPPFLAGS) $(BASE_CFLAGS)

#: make static-record  the same, and a fresh clone leaves out what passed as long as it is unchanged
static-record:
	@$(MAKE) --no-print-directory static STATIC_FLAGS=--record

#: make format      lay the C sources out as the check `format` wants them
format:
	@find src api bpf include sim bench examples tests -name '*.[ch]' -print0 | \
		xargs -0 clang-format -i

#: make compile_commands.json  how each file is compiled, for clangd
compile_commands.json: all
	@/usr/bin/python3 tests/static/run.py $(BUILD) --database $@ -- $(CPPFLAGS) $(BASE_CFLAGS)

#: make hooks       git looks at what is staged before each commit
hooks:
	@ln -sf ../../tests/static/pre-commit.sh "$$(git rev-parse --git-path hooks)/pre-commit"
