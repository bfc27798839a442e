/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes' shares of the maps that all use (bpf/process/share.bpf.h): userspace lowers them when
 * it deletes entries and consumes notices.
 */
#ifndef COLLECT_SHARES_H
#define COLLECT_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "collect/private.h"

/*
 * A kernel's counter, a live allocation, or an object of the process in the slot has been deleted.
 */
void shares__deleted_kernel(struct collector *collector, uint32_t slot);
void shares__deleted_live(struct collector *collector, uint32_t slot);
void shares__deleted_object(struct collector *collector, uint32_t slot);

/* A notice of `bytes` bytes from the process in the slot has been consumed. */
void shares__took_notice(struct collector *collector, uint32_t slot, size_t bytes);

/* Takes back room that the process does not need. Call it now and then. */
void shares__trim(struct collector *collector, uint32_t slot);

/* The process has ended and all of its entries have been deleted. */
void shares__release(struct collector *collector, uint32_t slot);

#endif
