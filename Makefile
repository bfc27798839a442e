# SPDX-License-Identifier: BSD-2-Clause
# gpuprobe: `make` builds build/gpuprobe and the simulated CUDA libraries in
# build/sim; `make help` lists the rest. Plain make installs nothing.

BUILD ?= build
# The build whose BPF objects and skeletons this one takes. They do not depend on CFLAGS.
SHARED ?= $(BUILD)
VERSION := 0.1.0
# Options of the compilers that keep a folder's path out of what they make, for a release.
PATH_MAP ?=

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wvla -Wformat=2 -Wpointer-arith -Wundef -Werror
HARDENING := -fPIE -fstack-protector-strong -fstack-clash-protection -fcf-protection \
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
CFLAGS ?= -O2 -g
CPPFLAGS += -Isrc -Iinclude -I$(SHARED) -D_GNU_SOURCE -DGPUPROBE_VERSION='"$(VERSION)"'
BASE_CFLAGS := -std=gnu11 $(WARNINGS)
ALL_CFLAGS = $(BASE_CFLAGS) $(HARDENING) $(CFLAGS) $(PATH_MAP)
LDLIBS := -lbpf -lcap -lseccomp -ldw -lelf -levent_extra -levent_core -lz -liberty -lncursesw \
	-ltinfo -ldl -lm -lpthread
LDFLAGS += -pie -Wl,-z,relro,-z,now,-z,noexecstack

BPF_CFLAGS := -g -O2 -mcpu=v3 -target bpf -D__TARGET_ARCH_x86 -Iinclude -Ibpf \
	-I/usr/include/$(shell gcc -print-multiarch) -Wall -Wextra -Werror \
	-Wno-gnu-variable-sized-type-not-at-end $(PATH_MAP)

LIB_SRC := $(filter-out src/cli/%,$(wildcard src/*/*.c src/*/*/*.c))
CLI_SRC := $(wildcard src/cli/*.c src/cli/*/*.c)
LIB_OBJ := $(LIB_SRC:src/%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/gen/api_tables.o
CLI_OBJ := $(CLI_SRC:src/%.c=$(BUILD)/obj/%.o)
SKELETONS := $(patsubst %,$(SHARED)/gen/%.skel.h,gpuprobe trace identity dump host times nvtx)

.PHONY: all help clean deps check-deps sim demo test test-full portable
.DELETE_ON_ERROR:
.SECONDARY:

COMPLETIONS := $(addprefix $(BUILD)/completions/,gpuprobe.bash gpuprobe.fish _gpuprobe)

all: check-deps $(BUILD)/gpuprobe $(BUILD)/libgpuprobe-times.so \
	$(BUILD)/libgpuprobe-nvtx.so $(COMPLETIONS) sim

help:
	@sed -n 's/^#: //p' $(MAKEFILE_LIST)

#: make             build gpuprobe and the simulated CUDA libraries
#: make deps        install the Debian packages that are missing (root)
#: make demo        build, then watch the demo workload for 15 s (root)
#: make examples    programs to watch, where there is nvcc by it too
#: make test        build and run all tests (root)
#: make test-full   the long runs as well (root)
#: make bench       what gpuprobe costs, in 10 minutes, into docs/performance.md (root)
#: make portable    a build that needs nothing but glibc
#: make image       a container image without an engine, from the portable build
#: make install     into DESTDIR and PREFIX; make uninstall removes it
#: make clean

include api/api.mk
include inject/inject.mk
-include sim/sim.mk
include examples/examples.mk
-include tests/tests.mk
include tests/soak/soak.mk
include tests/kernel/kernel.mk
include tests/sanitized.mk
include tests/valgrind/valgrind.mk
include tests/coverage.mk
include tests/static/static.mk
include bench/bench.mk
include tests/fuzz/fuzz.mk
include deploy/portable.mk
include deploy/image/image.mk

# --- packages: the one list is deploy/packages.txt ---

check-deps:
	@deploy/packages.sh check build

deps:
	@deploy/packages.sh install build test

# --- BPF ---

$(SHARED)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*/*.bpf.h) \
		$(wildcard include/gpuprobe/*.h include/gpuprobe/*/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(SHARED)/gen/%.skel.h: $(SHARED)/bpf/%.bpf.o
	@mkdir -p $(@D)
	$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# --- userspace ---

$(BUILD)/obj/%.o: src/%.c | $(SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The files of the page at /, which the assembler embeds.
$(BUILD)/obj/output/web/files.o: $(wildcard web/* third_party/uplot-*/*)

# The skeletons change with the BPF objects; what includes them follows through -MMD.
-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d)

$(BUILD)/libgpuprobe.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) qcs $@ $^

$(BUILD)/gpuprobe: $(CLI_OBJ) $(BUILD)/libgpuprobe.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# --- completions of shells, from the tables of options ---

$(BUILD)/obj/completions/%: completions/%.c completions/values.c completions/values.h \
		$(filter-out %/main.o,$(CLI_OBJ)) $(BUILD)/libgpuprobe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(LDLIBS)

$(BUILD)/completions/gpuprobe.bash: $(BUILD)/obj/completions/bash
$(BUILD)/completions/gpuprobe.fish: $(BUILD)/obj/completions/fish
$(BUILD)/completions/_gpuprobe: $(BUILD)/obj/completions/zsh

$(COMPLETIONS):
	@mkdir -p $(@D)
	$< > $@.new
	@mv $@.new $@

# --- using it ---

include deploy/install.mk
include deploy/packages.mk
include deploy/release/release.mk

demo:
	@deploy/packages.sh install build
	@$(MAKE) --no-print-directory all
	@deploy/demo.sh $(BUILD)

clean:
	rm -rf $(BUILD)
