/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of a reading (reading.h) that take tensors into the model; only WITH_TENSORS. */
#ifndef COLLECT_TENSORS_H
#define COLLECT_TENSORS_H

#include "collect/reading.h"
#include "model/tensors.h"

/* A reading begins. Returns 0. */
int tensors__begin_reading(struct reading *reading);

/* Takes in an entry of `tensor_devices`; the first one shows that the process has tensors. */
int tensors__take_device(struct reading *reading, struct process *process, const void *key,
			 const void *value);

/*
 * The library whose stack allocated memory from CUDA. The function that calls CUDA is the
 * allocator's, even where the stack breaks off behind it.
 */
enum segment_owner tensors__owner_of(const struct collector *collector, uint64_t stack_id);

/* An allocation of CUDA that may be a segment. Returns 0 or -ENOMEM. */
int tensors__take_segment(const struct reading *reading, struct process *process,
			  const struct allocation_key *key, const struct allocation_record *record);

/* Walks over live tensors if lists are made. Returns 0 or a negative errno. */
int tensors__read(struct reading *reading);

/* Takes in an entry of `tensor_sites`. */
int tensors__take_site(struct reading *reading, struct process *process, const void *key,
		       const void *value);

/* Makes the lists that refer to stacks, once these have names. Returns 0 or -ENOMEM. */
int tensors__list_all(struct reading *reading);

#endif
