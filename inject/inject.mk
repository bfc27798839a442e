# SPDX-License-Identifier: BSD-2-Clause
# The libraries that gpuprobe gives to a program, for --gpu-times and --nvtx. They need libc alone,
# and all symbols are hidden that are not for the driver, NVTX or the probes.

TIMES_LIBRARY := $(BUILD)/libgpuprobe-times.so
NVTX_LIBRARY := $(BUILD)/libgpuprobe-nvtx.so
INJECTED := $(TIMES_LIBRARY) $(NVTX_LIBRARY)
INJECT_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard inject/*.c))
# A sanitizer's runtime cannot be loaded into a program that is without it.
INJECT_CFLAGS := $(BASE_CFLAGS) -O2 -g -Iinclude -D_GNU_SOURCE -fPIC -fvisibility=hidden \
	-fstack-protector-strong -fcf-protection $(PATH_MAP)
INJECT_LINK = $(CC) -shared -Wl,-soname,$(@F) -Wl,-z,relro,-z,now,-z,noexecstack,-z,nodelete \
	-Wl,--no-undefined -o $@ $^ -ldl

$(BUILD)/obj/inject/%.o: inject/%.c
	@mkdir -p $(@D)
	$(CC) $(INJECT_CFLAGS) -MMD -MP -c $< -o $@

NVTX_OBJ := $(BUILD)/obj/inject/nvtx.o $(BUILD)/obj/inject/nvtx_payload.o

$(NVTX_LIBRARY): $(NVTX_OBJ)
	$(INJECT_LINK)

$(TIMES_LIBRARY): $(filter-out $(NVTX_OBJ),$(INJECT_OBJ))
	$(INJECT_LINK)

-include $(INJECT_OBJ:.o=.d)
