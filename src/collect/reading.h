/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One reading of the BPF maps: runs the steps of a table (snapshot.c) in order. Most steps walk
 * over a map. No element is deleted during the walk. Elements that are no longer needed are deleted
 * once the walk has seen all. Elements of ended processes are deleted at the end of the reading, if
 * it succeeds (ended_keys.h).
 */
#ifndef COLLECT_READING_H
#define COLLECT_READING_H

#include "collect/private.h"

struct reading_step;

struct reading {
	struct collector *collector;
	bool with_lists;
	bool reap; /* this reading reaps ended processes */
	unsigned int name_tries;
	/* For reading.c: the step whose map was walked last, and keys to delete from it */
	const struct reading_step *step;
	struct key_list to_delete; /* the owner frees its keys */
};

/* What happens to an element that a step has taken in. */
enum element {
	ELEMENT_KEEP, /* stays until its process is reaped */
	/* deleted once the walk has seen all, or with its process if that is reaped now */
	ELEMENT_DELETE,
	ELEMENT_SKIP, /* stays, even when its process is reaped */
};

/* When a step applies. */
enum {
	ON_REAP = 1 << 0,
	WITH_PROFILE = 1 << 1,
	WITH_STACKS = 1 << 2,
	WITH_TENSORS = 1 << 3,
};

/* What a step does if an earlier one has failed. */
enum reading_failure {
	FAILED_SKIP, /* it does not run */
	FAILED_STOP, /* neither it nor any step after it runs, whether it applies or not */
	FAILED_RUN,  /* it runs all the same */
};

/* A step either walks over a map or calls a function. */
struct reading_step {
	size_t map;			   /* see IN_MAP; 0: the step calls `run` */
	unsigned short slot_at, slot_size; /* the process's slot in a key */
	/*
	 * Also takes in elements of slots whose process is not in the model yet, with a NULL
	 * process.
	 */
	bool of_unknown;
	/*
	 * Takes in an element. Returns an enum element, or a negative errno, which stops the walk.
	 * NULL: ELEMENT_KEEP.
	 */
	int (*take)(struct reading *reading, struct process *process, const void *key,
		    const void *value);
	/* Deletes an ELEMENT_DELETE element and whatever depends on it. NULL: only the element. */
	void (*delete)(struct reading *reading, const void *key);
	int (*run)(struct reading *reading); /* returns 0 or a negative errno */
	unsigned int only;		     /* conditions that must all be met */
	enum reading_failure on_failure;
};

/*
 * A step's map: its name in the skeleton (gen/gpuprobe.skel.h), the structure of its keys, and
 * their member with the slot.
 */
#define IN_MAP(name, key, slot) \
	.map = offsetof(struct gpuprobe_bpf, maps.name), .slot_at = offsetof(struct key, slot), \
	.slot_size = sizeof(((struct key *)NULL)->slot)

/* Whether this reading reaps the process: deletes its entries from the maps. */
static inline bool reading__reaps(const struct reading *reading, const struct process *process)
{
	return reading->reap && collector__may_reap(reading->collector, process);
}

/* Whether this reading rebuilds the process's lists of addresses. */
static inline bool reading__lists(const struct reading *reading, const struct process *process)
{
	return process->slot != NO_PROCESS &&
	       ((reading->with_lists && !process->left_out) || reading__reaps(reading, process));
}

/* Runs the steps that apply, in order. Returns 0, or the errno of the first that failed. */
int reading__run(struct reading *reading, const struct reading_step *steps, size_t count);

/*
 * Walks over the step's map: takes in each element, then deletes those that are no longer needed,
 * even if the walk failed. Returns 0 or a negative errno.
 */
int reading__walk(struct reading *reading, const struct reading_step *step);

/*
 * The same in parts, for elements found in another way: begin a walk over the step's map; take in
 * one of its elements. reading__take is a map_entry_fn whose `arg` is the reading. It returns 0 or
 * a negative errno.
 */
void reading__begin_walk(struct reading *reading, const struct reading_step *step);
int reading__take(const void *key, const void *value, void *arg);

/* Marks a key of the map walked last for the next reading__delete. Returns 0 or -ENOMEM. */
int reading__delete_later(struct reading *reading, const void *key);

/*
 * Makes sure that the next reading__delete_later cannot fail. For use before steps that must not be
 * repeated. Returns 0 or -ENOMEM.
 */
int reading__make_room(struct reading *reading);

/*
 * If the process is reaped, marks a key of the map walked last for deletion at the reading's end.
 * Returns 0 or -ENOMEM.
 */
int reading__end(struct reading *reading, const struct process *process, const void *key);

/*
 * Deletes the keys marked by reading__delete_later. Each walk ends with this; call it for keys that
 * were marked after the walk. Returns 0.
 */
int reading__delete(struct reading *reading);

#endif
