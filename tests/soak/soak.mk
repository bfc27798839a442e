# SPDX-License-Identifier: BSD-2-Clause
#
# The soak: see tests/soak/soak.py. Included by the top Makefile.

SOAK_SECONDS ?= 1800

.PHONY: soak

#: make soak        programs that start and end for SOAK_SECONDS [1800], watched (root)
soak: all $(BUILD)/soak/heap.so
	@unshare --pid --fork --kill-child --mount-proc tests/soak/soak.py $(BUILD) $(SOAK_SECONDS)

$(BUILD)/soak/heap.so: tests/soak/heap.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -fPIC -shared -o $@ $<
