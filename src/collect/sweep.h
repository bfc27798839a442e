/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goes through a BPF map and deletes what is not needed any more. A map is not
 * changed while it is read, so the keys are kept until all have been seen.
 */
#ifndef COLLECT_SWEEP_H
#define COLLECT_SWEEP_H

#include "collect/private.h"

struct bpf_map;

enum sweep_verdict {
	SWEEP_KEEP,
	SWEEP_DELETE,
	SWEEP_END, /* goes with all that its process has (ended_keys.h) */
};

struct sweep {
	struct collector *collector;
	const struct bpf_map *map;
	bool reap; /* entries of ended processes are to go */
	/* Takes an entry in. Returns what is to be done with it, or a negative errno. */
	int (*take)(const struct sweep *sweep, const void *key, const void *value);
	/* What follows from having deleted it with SWEEP_DELETE; NULL: nothing. */
	void (*deleted)(const struct sweep *sweep, const void *key);
	struct key_list doomed; /* for sweep.c only */
};

/* SWEEP_END where the process of a slot is done, else SWEEP_KEEP. */
enum sweep_verdict sweep__of_process(const struct sweep *sweep, uint32_t slot);

/* Returns 0, -ENOMEM, what `take` returned, or a negative errno of the map. */
int sweep__run(struct sweep *sweep);

#endif
