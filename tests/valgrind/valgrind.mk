# SPDX-License-Identifier: BSD-2-Clause
#
# gpuprobe and its unit tests to be run under valgrind, in a folder of their own: with -O1, since -O2 compares members of a
# structure at once, with the padding between them; without the filter of system calls, which valgrind's own would not
# pass; with what valgrind has to be told of bpf(2), and with a loader of their own. Valgrind executes what it reads, a breakpoint too, and gpuprobe probes the loader of
# whatever runs on the machine. A file with this name it takes for none.

VALGRIND := $(BUILD)/valgrind
VALGRIND_LOADER := $(abspath $(VALGRIND))/loader

.PHONY: valgrind valgrind-programs

#: make valgrind    the unit tests and some integration tests under valgrind (root)
valgrind: all valgrind-programs
	@tests/run.py --only valgrind-unit,valgrind $(BUILD)

valgrind-programs: check-deps $(VALGRIND_LOADER) $(VALGRIND)/bpf.o
	@$(MAKE) --no-print-directory BUILD=$(VALGRIND) WARNINGS=-w CFLAGS='-O1 -g -DGPUPROBE_NO_FILTER' \
		LDFLAGS='-pie -Wl,-z,relro,-z,now -Wl,--dynamic-linker=$(VALGRIND_LOADER) $(VALGRIND)/bpf.o' \
		$(VALGRIND)/gpuprobe unit-tests

$(VALGRIND_LOADER): /lib64/ld-linux-x86-64.so.2
	@mkdir -p $(@D)
	cp $< $@

$(VALGRIND)/bpf.o: tests/valgrind/bpf.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -fPIE -D_GNU_SOURCE -c -o $@ $<
