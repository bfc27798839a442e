/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks and call sites, if stacks are taken: receives the ring of stacks, gives BPF programs what
 * they need to know about processes, and reads the maps of sites.
 */
#ifndef COLLECT_SITE_MAPS_H
#define COLLECT_SITE_MAPS_H

#include "collect/reading.h"

/*
 * Creates the collector's stacks. The BPF object must take stacks, and the ring must be open.
 * Returns 0 or a negative errno.
 */
int site_maps__open(struct collector *collector, struct error *err);

/* Begins a reading: no list refers to a stack until it is made again. Returns 0. */
int site_maps__begin(struct reading *reading);

/* Keeps the name of a kernel with launches for its sites. Returns 0 or -ENOMEM. */
int site_maps__name(struct process *process, const struct kernel_key *key);

/* Adds a live allocation of device memory. Returns 0 or -ENOMEM. */
int site_maps__add_live(const struct collector *collector, struct process *process,
			const struct allocation_record *record);

/* Adds a live object, whose kind is valid. Returns 0 or -ENOMEM. */
int site_maps__add_object(const struct collector *collector, struct process *process,
			  const struct object_key *key, const struct object_record *record);

/* Lists live objects by call site, after the call sites. Returns 0 or -ENOMEM. */
int site_maps__list_objects(struct reading *reading);

/*
 * Whether the options' filter excludes the allocation from the list of allocations and from live
 * sites.
 */
bool site_maps__leaves_out(const struct collector *collector, const struct process *process,
			   const struct allocation_record *record);

/* The rest is only for readings WITH_STACKS. */

/*
 * Add a call site, or a launch site, to the process's table (reading_step.take). If a call site's
 * stack is the same as another, it is added to the other's call site and deleted.
 */
int site_maps__take_site(struct reading *reading, struct process *process, const void *key,
			 const void *value);
int site_maps__take_launch_site(struct reading *reading, struct process *process, const void *key,
				const void *value);

/* Names the stacks that BPF has sent by now. Returns 0. */
int site_maps__name_stacks(struct reading *reading);

/* Makes the lists of sites, with the stacks that are named. Returns 0 or -ENOMEM. */
int site_maps__list(struct reading *reading);

#endif
