/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads that are followed: their numbers in the BPF maps, and where they spend their time. Those that
 * have ended keep their number until another needs it.
 */
#ifndef HOST_FOLLOWED_H
#define HOST_FOLLOWED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprobe/host.h"
#include "host/counts.h"
#include "host/code_locations.h"
#include "model/steady.h"

#define SUBMITTERS_MAX 128 /* of the numbers; the rest is for those that wake them */
#define WAKERS_MAX (HOST_THREADS - SUBMITTERS_MAX)
#define HOPS_MAX 3 /* from a thread that submits to one that is followed for its sake */

struct host_bpf;

struct followed_thread {
	bool used;
	bool marked; /* the iterator has found it */
	struct host_submitter who;
	bool submits;
	uint8_t hops;	 /* 0: it submits */
	int32_t for_pid; /* the process for whose sake */
	uint64_t for_start_ns;
	uint32_t generation; /* of its number */
	struct code_locations *places;
	uint64_t began_ns; /* followed since */
	/* Of the process that it is followed for, as told last */
	struct steady_marks steady;
	struct host_counts marks[SITE_MARKS]; /* what it had done by each */
};

struct followed_list {
	struct host_bpf *skeleton;
	volatile struct host_profile *profiles; /* the map's */
	struct code_locations_budget budget;
	uint64_t refused; /* threads that there was no room for, each time that they were found */
	struct followed_thread threads[HOST_THREADS];
};

/* `skeleton` must outlive the list. 0 or a negative errno. */
int followed_list__init(struct followed_list *list, struct host_bpf *skeleton);
void followed_list__clear(struct followed_list *list);

/* The number of the thread, or -1. */
long followed_list__find(const struct followed_list *list, uint32_t kernel_tid, uint64_t start_ns);

/*
 * Takes a number for the thread and asks the iterator to mark it. `origin` is the one for whose sake, NULL for one that
 * submits. Returns whether there was room, and memory.
 */
bool followed_list__add(struct followed_list *list, const struct host_submitter *who, const struct followed_thread *origin);

/* A thread that was followed since it wakes others submits, too. */
void followed_list__promote(struct followed_list *list, size_t number, const struct host_submitter *who);

/* Those that the iterator has marked since are followed now. */
void followed_list__look(struct followed_list *list);

/* What a thread has done by now is kept with each of the marks that it has not got yet. */
void followed_thread__mark(struct followed_list *list, size_t number, const struct steady_marks *steady, uint64_t now_ns);

/* What a thread has done since it is followed, or since its process is steady, where that is known, with its time on a CPU shared out. */
void followed_thread__count(const struct followed_list *list, size_t number, uint64_t now_ns, struct host_counts *counts);

#endif
