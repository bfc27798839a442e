# SPDX-License-Identifier: BSD-2-Clause
#
# The benchmark, and what it needs besides gpuprobe. Included by the top Makefile.

.PHONY: bench bench-quick bench-programs bench-packages

# `make bench` needs the packages of the tests as well: bpftrace, python3.
bench bench-quick: bench-packages

bench-packages:
	@deploy/packages.sh install build test

bench: all bench-programs
	/usr/bin/python3 bench/bench.py --build $(BUILD)

#: make bench-quick the same in a minute, with fewer rounds (root)
bench-quick: all bench-programs
	/usr/bin/python3 bench/bench.py --build $(BUILD) --quick

#: make bench-NAME  one section of it: a file of bench/sections (root)
$(patsubst bench/sections/%.py,bench-%,$(wildcard bench/sections/*.py)): bench-%: all bench-programs
	/usr/bin/python3 bench/bench.py --build $(BUILD) --only $*

bench-programs: $(addprefix $(BUILD)/bench/,bystander calls empty format host sites usual)

$(addprefix $(BUILD)/bench/,calls sites): $(BUILD)/bench/%: bench/%.c $(SIM_COMMON) \
		| $(SIM_LIBRARIES) $(SIM_LINKS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -fno-omit-frame-pointer -Isim/include -o $@ $^ \
		-L$(SIM_OUT) -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN/../sim' \
		-lcudart -lcuda -pthread

$(BUILD)/bench/bystander: bench/bystander.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -o $@ $<

$(BUILD)/bench/empty: bench/empty.c $(BUILD)/libgpuprobe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/bench/format: bench/format.c $(BUILD)/libgpuprobe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/bench/host: bench/host.c | $(SIM_LIBRARIES) $(SIM_LINKS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -fno-omit-frame-pointer \
		-Isim/include -o $@ $< -L$(SIM_OUT) -Wl,--enable-new-dtags \
		-Wl,-rpath,'$$ORIGIN/../sim' -lcuda -pthread

$(BUILD)/bench/usual: bench/usual.c bench/usual.h $(SHARED)/gen/usual.skel.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -lbpf

$(SHARED)/bpf/usual.bpf.o: bench/usual.bpf.c bench/usual.h $(wildcard bpf/*/*.bpf.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -Ibench -c $< -o $@
