/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the overhead governor knows about each thread: its number of calls seen, their cost, and its
 * call rates while families were watched. From these follows what was missed while they were not
 * watched.
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

/* Calls of one family in one thread. */
struct governed_calls {
	uint64_t now;	    /* as of the latest reading */
	uint64_t at_cycle;  /* when the cycle began */
	uint64_t at_window; /* when its window began */
	uint64_t at_end;    /* when its window ended */
	double rate;	    /* calls per nanosecond in the latest window */
	/* the same per active time, or a part of an earlier rate: expected for the next window */
	double held_rate;
	double rate_without;  /* estimated rate without probes */
	bool rated;	      /* it has been through a window */
	uint64_t missed_from; /* missed calls before this time are counted */
	/* gap time counted at `rate_without`, until the next rate corrects it */
	double gap_ns;
};

struct governed_thread {
	struct governed_key key;
	uint64_t ended_ns; /* 0: alive */
	struct governed_calls calls[RATE_FAMILIES];
	/* Run times so far; only known while it makes many calls, when they matter. */
	bool run_known;
	struct run_time run, run_at_cycle, run_at_window;
	/* recent time off the CPU, and the part of it spent waiting for a CPU */
	double off_ns, waited_ns;
	double debt_ns; /* paid beyond the budget so far; negative: below it */
	UT_hash_handle hh;
};

/* Calls of one process. */
struct governed_process {
	uint64_t seen[RATE_FAMILIES];
	double missed[RATE_FAMILIES];
	/* highest reported number of missed calls, as of the latest governed_threads__report */
	uint64_t reported[RATE_FAMILIES];
};

struct governed_threads {
	struct governed_thread *table;
	struct governed_process *processes; /* indexed by slot */
	size_t process_count;
	struct thread_rate *rates; /* buffer for a reading */
	uint64_t read_ns;	   /* time of the latest reading */
	bool incomplete;	   /* some thread is missing for lack of memory */
};

/* 0 or -ENOMEM. */
int governed_threads__init(struct governed_threads *threads);
void governed_threads__clear(struct governed_threads *threads);

/* Reads the threads' numbers of calls. Returns the time of the reading. */
uint64_t governed_threads__read(struct governed_threads *threads,
				const struct governor_hooks *hooks);

/* How long the thread existed between these times. */
uint64_t governed_thread__time(const struct governed_thread *thread, uint64_t from_ns,
			       uint64_t to_ns);

/*
 * The same, minus the time that it waited for a CPU; `before` was its run time at the beginning. If
 * a thread gets half of a CPU, calls cost it twice the share of its time, because extra CPU time
 * takes proportionally longer.
 */
double governed_thread__active(const struct governed_thread *thread, uint64_t from_ns,
			       uint64_t to_ns, const struct run_time *before);

/* The cycle that began at `from_ns` ends, and another begins. */
void governed_thread__end_cycle(struct governed_thread *thread, uint64_t from_ns, uint64_t to_ns);

/* Counts missed calls of a detached family up to `to_ns`. */
void governed_threads__miss(struct governed_threads *threads, enum rate_family family,
			    uint64_t to_ns);

/*
 * Sets the thread's current rate without probes: half of the calls missed since the previous window
 * came at this rate.
 */
void governed_threads__rate(struct governed_threads *threads, struct governed_thread *thread,
			    enum rate_family family, double rate_without);

/* Publishes the current estimate of missed calls for each process. */
void governed_threads__report(struct governed_threads *threads);

/* The data of a process; NULL: nothing is known. */
const struct governed_process *governed_threads__process(const struct governed_threads *threads,
							 uint32_t slot);

/* Drops threads that have ended. */
void governed_threads__drop_ended(struct governed_threads *threads);

/* Drops all data of the process in the slot. */
void governed_threads__forget(struct governed_threads *threads, uint32_t slot);

#endif
