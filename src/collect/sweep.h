/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goes through a BPF map and deletes what is not needed any more. A map is not
 * changed while it is read, so the keys are kept until all have been seen.
 */
#ifndef COLLECT_SWEEP_H
#define COLLECT_SWEEP_H

#include "collect/private.h"

struct bpf_map;

struct sweep {
	struct collector *collector;
	const struct bpf_map *map;
	bool reap; /* entries of ended processes go */
	/* Takes an entry in. Returns 1 if it is to be deleted, 0 if not, or a negative errno. */
	int (*take)(const struct sweep *sweep, const void *key, const void *value);
	/* What follows from having deleted it; NULL: nothing. */
	void (*deleted)(const struct sweep *sweep, const void *key);
	struct key_list doomed; /* for sweep.c only */
};

/* Whether the process of a slot is done and what is its own to be deleted. */
bool sweep__is_doomed(const struct sweep *sweep, uint32_t slot);

/* Returns 0, -ENOMEM, what `take` returned, or a negative errno of the map. */
int sweep__run(struct sweep *sweep);

#endif
