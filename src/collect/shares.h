/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes have of the maps that all share (bpf/process/share.bpf.h), as userspace changes it: it deletes, and takes notices in. */
#ifndef COLLECT_SHARES_H
#define COLLECT_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "collect/private.h"

/* A kernel's counter, or a live allocation, of the process with that slot has been deleted. */
void shares__deleted_kernel(struct collector *collector, uint32_t slot);
void shares__deleted_live(struct collector *collector, uint32_t slot);

/* A notice of that many bytes, of the process with that slot, has been taken in. */
void shares__took_notice(struct collector *collector, uint32_t slot, size_t bytes);

/* Takes room back that the process does not need. To be called now and then. */
void shares__trim(struct collector *collector, uint32_t slot);

/* All entries of the process, which has ended, have been deleted. */
void shares__release(struct collector *collector, uint32_t slot);

#endif
