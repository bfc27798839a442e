# SPDX-License-Identifier: BSD-2-Clause
#
# Checks of the sources by compilers and other tools: tests/static/run.py. What gcc says while it builds is among them,
# so all is built first.

# `--format` here makes the check fail where sources are not as clang-format makes them.
STATIC_OPTIONS ?=
# How far clang's analyzer goes: see run.py.
STATIC_STATES ?= 225000

.PHONY: static format

#: make static      check the sources with gcc, clang, clang-tidy, cppcheck and others
static: all test-programs bench-programs
	@/usr/bin/python3 tests/static/run.py $(BUILD) --states $(STATIC_STATES) $(STATIC_OPTIONS) -- $(CPPFLAGS) $(BASE_CFLAGS)

#: make format      what clang-format makes of the sources
format:
	clang-format -i $(wildcard $(foreach folder,src/* api bpf include/gpuprobe tests/unit tests/unit/fake sim/* \
		sim/workloads/* bench,$(folder)/*.c $(folder)/*.h))
