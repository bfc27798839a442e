/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One reading of the BPF maps: it runs the steps of a table (snapshot.c) in their order, and most
 * steps walk over a map. A walk deletes nothing while it goes through the map. Elements that have
 * no use any more are deleted once it has seen all; elements of ended processes at the end of a
 * reading that has succeeded (ended_keys.h).
 */
#ifndef COLLECT_READING_H
#define COLLECT_READING_H

#include "collect/private.h"

struct reading_step;

struct reading {
	struct collector *collector;
	bool with_lists;
	bool reap; /* ended processes go with this reading */
	unsigned int name_tries;
	/* For reading.c: the step whose map was walked last, and keys to delete from it */
	const struct reading_step *step;
	struct key_list to_delete; /* free its keys */
};

/* What a step wants with an element that it has taken in. */
enum element {
	ELEMENT_KEEP,	/* stays until its process is reaped */
	ELEMENT_DELETE, /* is deleted once the walk has seen all, or with its process if that is reaped now */
	ELEMENT_SKIP,	/* stays, even when its process is reaped */
};

/* When a step applies. */
enum {
	ON_REAP = 1 << 0,
	WITH_ACCOUNT = 1 << 1,
	WITH_STACKS = 1 << 2,
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
	unsigned short slot_at, slot_size; /* of the process's slot in a key */
	/*
	 * Takes in elements of slots whose process the model does not have yet, with a NULL
	 * process. Else it leaves them.
	 */
	bool of_unknown;
	/*
	 * Takes in an element. Returns an enum element, or a negative errno, which ends the walk.
	 * NULL: ELEMENT_KEEP.
	 */
	int (*take)(struct reading *reading, struct process *process, const void *key, const void *value);
	/* Deletes an element of ELEMENT_DELETE with what goes with it. NULL: only the element. */
	void (*delete)(struct reading *reading, const void *key);
	int (*run)(struct reading *reading); /* returns 0 or a negative errno */
	unsigned int only;		     /* conditions: all have to be met */
	enum reading_failure on_failure;
};

/*
 * A step's map: its name in the skeleton (gen/gpuprobe.skel.h), the structure of its keys, and
 * their member with the slot.
 */
#define IN_MAP(name, key, slot) \
	.map = offsetof(struct gpuprobe_bpf, maps.name), .slot_at = offsetof(struct key, slot), \
	.slot_size = sizeof(((struct key *)NULL)->slot)

/* Whether the process is done, and what the maps have of it goes with this reading. */
static inline bool reading__reaps(const struct reading *reading, const struct process *process)
{
	return reading->reap && process->ended;
}

/* Whether the process's lists of addresses are made anew in this reading. */
static inline bool reading__lists(const struct reading *reading, const struct process *process)
{
	return process->slot != NO_PROCESS && (reading->with_lists || reading__reaps(reading, process));
}

/* Runs the steps that apply, in their order. Returns 0, or the errno of the first that failed. */
int reading__run(struct reading *reading, const struct reading_step *steps, size_t count);

/*
 * Walks over the step's map: takes each element in, then deletes those that have no use any more,
 * also if the walk has failed. Returns 0 or a negative errno.
 */
int reading__walk(struct reading *reading, const struct reading_step *step);

/*
 * The same in parts, for elements that are found otherwise: begins a walk over the step's map;
 * takes an element of it in. reading__take is a map_entry_fn: `arg` is the reading. Returns 0 or a
 * negative errno.
 */
void reading__begin_walk(struct reading *reading, const struct reading_step *step);
int reading__take(const void *key, const void *value, void *arg);

/* Has the next reading__delete delete a key of the map walked last. Returns 0 or -ENOMEM. */
int reading__delete_later(struct reading *reading, const void *key);

/*
 * Makes sure that the next reading__delete_later does not fail: before steps that must not be
 * repeated. Returns 0 or -ENOMEM.
 */
int reading__make_room(struct reading *reading);

/*
 * If the process is reaped, has this key of the map walked last deleted at the reading's end.
 * Returns 0 or -ENOMEM.
 */
int reading__end(struct reading *reading, const struct process *process, const void *key);

/*
 * Deletes the keys of reading__delete_later. A walk ends with it; a caller needs it for keys that
 * it adds after the walk. Returns 0.
 */
int reading__delete(struct reading *reading);

#endif
