/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process has copied or set, of one kind. */
#ifndef MODEL_COPIED_H
#define MODEL_COPIED_H

#include <stdint.h>

#include "model/model.h"

struct copied {
	uint64_t calls, bytes;
	uint64_t pageable_bytes; /* part of `bytes` */
};

/* Synchronous and asynchronous copies, including those whose return was not followed. */
struct copied process__copied(const struct process *process, enum copy_kind kind);

#endif
