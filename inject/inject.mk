# SPDX-License-Identifier: BSD-2-Clause
# The library that gpuprobe gives to a program for --gpu-times. It needs libc alone, and all symbols
# are hidden that are not for the driver or the probes.

TIMES_LIBRARY := $(BUILD)/libgpuprobe-times.so
INJECT_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard inject/*.c))
# A sanitizer's runtime cannot be loaded into a program that is without it.
INJECT_CFLAGS := $(BASE_CFLAGS) -O2 -g -Iinclude -D_GNU_SOURCE -fPIC -fvisibility=hidden \
	-fstack-protector-strong -fcf-protection $(PATH_MAP)

$(BUILD)/obj/inject/%.o: inject/%.c
	@mkdir -p $(@D)
	$(CC) $(INJECT_CFLAGS) -MMD -MP -c $< -o $@

$(TIMES_LIBRARY): $(INJECT_OBJ)
	$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,relro,-z,now,-z,noexecstack,-z,nodelete \
		-Wl,--no-undefined -o $@ $^ -ldl

-include $(INJECT_OBJ:.o=.d)
