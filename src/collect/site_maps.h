/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks and call sites, where stacks are taken: takes in the ring of stacks,
 * tells BPF programs what those need of processes, and reads the maps of sites.
 */
#ifndef COLLECT_SITE_MAPS_H
#define COLLECT_SITE_MAPS_H

#include "collect/reading.h"

/* The stacks of a collector whose BPF object takes some, and whose ring is open. Returns 0 or a negative errno. */
int site_maps__open(struct collector *collector, struct error *err);

/* A reading begins: no list leads to a stack until it is made anew. Returns 0. */
int site_maps__begin(struct reading *reading);

/* A kernel that has launches: its name is kept for its sites. Returns 0 or -ENOMEM. */
int site_maps__name(struct process *process, const struct kernel_key *key);

/* A live allocation of device memory. Returns 0 or -ENOMEM. */
int site_maps__add_live(const struct collector *collector, struct process *process,
			const struct allocation_record *record);

/* Whether the list of allocations and live sites leave it out, by the options' filter. */
bool site_maps__leaves_out(const struct collector *collector, const struct process *process,
			   const struct allocation_record *record);

/* The rest is for readings WITH_STACKS. */

/*
 * Add a call site, or a launch site, to the process's table (reading_step.take). Where a stack is
 * the same as another, its call sites are deleted once they are added to the other's.
 */
int site_maps__take_site(struct reading *reading, struct process *process, const void *key, const void *value);
int site_maps__take_launch_site(struct reading *reading, struct process *process, const void *key, const void *value);

/* Names the stacks that BPF has sent by now. Returns 0. */
int site_maps__name_stacks(struct reading *reading);

/* Makes the lists of sites, with the stacks that have names. Returns 0 or -ENOMEM. */
int site_maps__list(struct reading *reading);

#endif
