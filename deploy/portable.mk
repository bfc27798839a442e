# SPDX-License-Identifier: BSD-2-Clause
# A build that needs nothing on the target but glibc 2.36 or newer: everything
# else is linked statically.

PORTABLE := $(BUILD)/portable/gpuprobe
# libdwfl wants lzma and bzip2, for compressed files that it is never given.
PORTABLE_LIBS := -Wl,-Bstatic -lbpf -lcap -lseccomp -ldw -lelf -llzma -lbz2 -levent_extra \
	-levent_core -lz -liberty -lncursesw -ltinfo -Wl,-Bdynamic -ldl -lm -lpthread

PORTABLE_INJECTED := $(addprefix $(dir $(PORTABLE)),$(notdir $(INJECTED)))

portable: check-deps $(PORTABLE) $(PORTABLE_INJECTED)

$(PORTABLE_INJECTED): $(dir $(PORTABLE))%: $(BUILD)/%
	@mkdir -p $(@D)
	cp $< $@

$(PORTABLE): $(CLI_OBJ) $(BUILD)/libgpuprobe.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -static-libgcc -Wl,-Map=$@.map -o $@ $^ $(PORTABLE_LIBS)
