# SPDX-License-Identifier: BSD-2-Clause
#
# gpuprobe and its unit tests to be run under valgrind, in a folder of their own: with -O1, since
# -O2 compares members of a structure at once, with the padding between them; without the filter of
# system calls, which valgrind's own would not pass; with the calls that valgrind lacks (calls.c).

VALGRIND := $(BUILD)/valgrind

.PHONY: valgrind valgrind-programs

#: make valgrind    the unit tests and some integration tests under valgrind (root)
valgrind: all valgrind-programs
	@tests/run.py --only valgrind-unit,valgrind $(BUILD)

valgrind-programs: check-deps $(SKELETONS) $(VALGRIND)/calls.o $(VALGRIND)/pidfd
	@$(MAKE) --no-print-directory BUILD=$(VALGRIND) SHARED=$(SHARED) WARNINGS=-w \
		CFLAGS='-O1 -g -DGPUPROBE_NO_FILTER -DGPUPROBE_VALGRIND' \
		LDFLAGS='-pie -Wl,-z,relro,-z,now $(VALGRIND)/calls.o' \
		$(VALGRIND)/gpuprobe unit-tests

$(VALGRIND)/calls.o: tests/valgrind/calls.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -fPIE -D_GNU_SOURCE \
		-DPIDFD_PROGRAM='"$(abspath $(VALGRIND))/pidfd"' -c -o $@ $<

$(VALGRIND)/pidfd: tests/valgrind/pidfd.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -o $@ $<
