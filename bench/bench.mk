# SPDX-License-Identifier: BSD-2-Clause
#
# What the benchmarks need besides gpuprobe. Included by the top Makefile.

.PHONY: bench bench-trace bench-stacks bench-account bench-programs

bench: all bench-programs
	/usr/bin/python3 bench/monitor.py --build $(BUILD)

#: make bench-trace what the tracer costs and bears, beside bpftrace (root)
bench-trace: all bench-programs
	/usr/bin/python3 bench/trace.py --build $(BUILD)

#: make bench-stacks what stacks cost, by mode, and the memory they take (root)
bench-stacks: all bench-programs
	/usr/bin/python3 bench/stacks.py --build $(BUILD)

#: make bench-account what the account of a run costs (root)
bench-account: all bench-programs
	/usr/bin/python3 bench/account.py --build $(BUILD)

bench-programs: $(BUILD)/bench/calls $(BUILD)/bench/empty $(BUILD)/bench/format

$(BUILD)/bench/calls: bench/calls.c $(SIM_COMMON) | $(SIM_LIBRARIES) $(SIM_LINKS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -fno-omit-frame-pointer -Isim/include -o $@ $^ -L$(SIM_OUT) -Wl,--enable-new-dtags \
		-Wl,-rpath,'$$ORIGIN/../sim' -lcudart -lcuda -pthread

$(BUILD)/bench/empty: bench/empty.c $(BUILD)/libgpuprobe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/bench/format: bench/format.c $(BUILD)/libgpuprobe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
