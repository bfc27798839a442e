/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The followed threads: their numbers in the BPF maps, and where they spend their time. An ended
 * thread keeps its number until another thread needs it.
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
#include "target/socket_role.h"

#define SUBMITTERS_MAX 128 /* for threads that submit; the rest is for threads that wake them */
#define HOPS_MAX 3	   /* from a submitting thread to one that is followed because of it */

struct host_bpf;

/* The descriptor at which a thread waits most, if its process listens for connections. */
struct socket_wait {
	int32_t fd;
	uint8_t tries;	/* 0: none was looked at */
	bool is_polled; /* in poll or select */
	enum socket_role role;
};

struct followed_thread {
	bool used;
	bool marked; /* the iterator has found it */
	struct host_submitter who;
	bool submits;
	uint8_t hops;	 /* 0: it submits itself */
	int32_t for_pid; /* the process because of which it is followed */
	uint64_t for_start_ns;
	uint32_t generation; /* of its number */
	struct code_locations *locations;
	uint64_t began_ns; /* start of being followed */
	struct socket_wait socket;
	struct host_counts counts; /* as last read */
	/* The marks of the process because of which it is followed, as last reported. */
	struct steady_marks steady;
	struct host_counts marks[SITE_MARKS]; /* its counts at each mark */
};

struct followed_list {
	struct host_bpf *skeleton;
	volatile struct host_profile *profiles; /* the map's */
	struct code_locations_budget budget;
	uint64_t refused; /* threads that found no room, counted each time they are found */
	struct followed_thread threads[HOST_THREADS];
};

/* `skeleton` must outlive the list. Returns 0 or a negative errno. */
int followed_list__init(struct followed_list *list, struct host_bpf *skeleton);
void followed_list__clear(struct followed_list *list);

/* Returns the number of the thread, or -1. */
long followed_list__find(const struct followed_list *list, uint32_t kernel_tid, uint64_t start_ns);

/*
 * Assigns a number to the thread and requests the iterator to mark it. `origin` is the thread
 * because of which it is followed; NULL for a thread that submits. Returns false if there is no
 * room or no memory.
 */
bool followed_list__add(struct followed_list *list, const struct host_submitter *who,
			const struct followed_thread *origin);

/* Records that a thread, followed so far because it wakes others, also submits. */
void followed_list__promote(struct followed_list *list, size_t number,
			    const struct host_submitter *who);

/* Starts following the threads that the iterator has marked since the last call. */
void followed_list__look(struct followed_list *list);

/* Reads the counts of all threads. */
void followed_list__read(struct followed_list *list, uint64_t now_ns);

/* Stores the thread's counts, as last read, for each of the marks that it does not have yet. */
void followed_thread__mark(struct followed_thread *thread, const struct steady_marks *steady);

/*
 * Returns in `counts` what a thread has done since it is followed, or since its process is steady
 * if that is known, as last read. CPU time is distributed among the classes.
 */
void followed_thread__count(const struct followed_thread *thread, struct host_counts *counts);

#endif
