/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the overhead governor knows of each thread: how many calls it was seen to
 * make, what they cost it, and how often it made them while families were
 * watched, from which follows what was missed while they were not.
 */
#ifndef GOVERN_THREADS_H
#define GOVERN_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "govern/governor.h"

struct governed_key {
	uint64_t start_ns;
	int32_t tid;
	uint32_t slot;
};

/* Of a family, in one thread. */
struct governed_calls {
	uint64_t now;	      /* as of the latest reading */
	uint64_t at_cycle;    /* when the cycle began */
	uint64_t at_window;   /* when its window did */
	uint64_t at_end;      /* when that ended */
	double rate;	      /* calls per nanosecond in the latest window */
	double held_rate;     /* the same of active time, or a part of an earlier one: what is expected of the next */
	double rate_without;  /* as they would be without probes */
	bool rated;	      /* it has been through a window */
	uint64_t missed_from; /* what was missed before is counted */
	double gap_ns;	      /* of this since the latest window */
};

struct governed_thread {
	struct governed_key key;
	uint64_t ended_ns; /* 0: it lives */
	struct governed_calls calls[RATE_FAMILIES];
	/* So far; while it makes many calls, which is when it matters. */
	bool run_known;
	struct run_time run, run_at_cycle, run_at_window;
	double off_ns, waited_ns; /* of the time that it did not run lately, what it waited */
	double debt_ns;		  /* paid beyond the budget so far; negative: less */
	UT_hash_handle hh;
};

/* Of a process. */
struct governed_process {
	uint64_t seen[RATE_FAMILIES];
	double missed[RATE_FAMILIES];
	uint64_t reported[RATE_FAMILIES]; /* the most of it so far, as of the latest governed_threads__report */
};

struct governed_threads {
	struct governed_thread *table;
	struct governed_process *processes; /* by slot */
	size_t process_count;
	struct thread_rate *rates; /* room for a reading */
	uint64_t read_ns;	   /* of the latest reading */
	bool incomplete;	   /* some thread is not known, without memory */
};

/* 0 or -ENOMEM. */
int governed_threads__init(struct governed_threads *threads);
void governed_threads__clear(struct governed_threads *threads);

/* Reads how many calls threads have made. Returns the time of it. */
uint64_t governed_threads__read(struct governed_threads *threads, const struct governor_hooks *hooks);

/* How long the thread was there between these times. */
uint64_t governed_thread__time(const struct governed_thread *thread, uint64_t from_ns, uint64_t to_ns);

/*
 * The same without what it waited for a CPU; `before` was its run time at the beginning. Where it gets a half
 * of a CPU, calls cost it twice the share of its time: what takes longer by so much CPU time takes longer in proportion.
 */
double governed_thread__active(const struct governed_thread *thread, uint64_t from_ns, uint64_t to_ns,
			       const struct run_time *before);

/* A cycle that began at `from_ns` ends: another does. */
void governed_thread__end_cycle(struct governed_thread *thread, uint64_t from_ns, uint64_t to_ns);

/* Counts what is missed of a family that is out, up to `to_ns`. */
void governed_threads__miss(struct governed_threads *threads, enum rate_family family, uint64_t to_ns);

/* The thread's rate without probes is so much now: of what was missed since the window before, half was at that. */
void governed_threads__rate(struct governed_threads *threads, struct governed_thread *thread,
			    enum rate_family family, double rate_without);

/* Makes what processes are told to have missed that of now. */
void governed_threads__report(struct governed_threads *threads);

/* A process's own; NULL: nothing is known. */
const struct governed_process *governed_threads__process(const struct governed_threads *threads, uint32_t slot);

/* Forgets threads that have ended. */
void governed_threads__drop_ended(struct governed_threads *threads);

/* Forgets all of the process in the slot. */
void governed_threads__forget(struct governed_threads *threads, uint32_t slot);

#endif
