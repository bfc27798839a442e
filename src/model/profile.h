/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profile of a process (gpuprobe/profile.h), as `stat` and `diagnose` show it: plain data
 * beside struct process, which collect/profile_maps.c fills from the maps.
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/profile.h"
#include "model/start.h"

/* Most ended threads kept in the list; the rest are added to sums. */
#define PROFILE_ENDED_KEPT 256

struct process;
struct stack;
struct steady;

struct profile_function {
	uint16_t row; /* in api_functions */
	struct duration_record time;
	uint64_t missed, missed_ns; /* estimated number of missed calls, and the time in them */
	/* calls in progress, and the time in calls that were not seen to return */
	uint64_t open, open_ns;
};

/* Estimates for a thread, in addition to its counters. */
struct thread_missed {
	struct time_totals time[TIME_CLASSES];
	uint64_t launches;
};

struct profile_size {
	struct size_key key;
	struct size_record record;
};

struct profile_copies {
	struct copy_size_key key;
	struct copy_size_record record;
};

struct profile_repeat {
	struct repeat_key key;
	struct repeat_record record;
};

struct profile_ignored {
	struct ignored_key key;
	struct ignored_record record;
};

/* The key's slot is not used. */
struct profile_mapped {
	struct mapped_copy_key key;
	struct mapped_copy_record record;
};

/* The stack that an id in the profile stands for. */
struct profile_stack {
	uint64_t id;
	const struct stack *stack;
};

struct profile {
	struct profile_function *functions; /* most time first */
	size_t function_count;
	struct thread_profile *threads; /* ended ones first, otherwise unordered */
	size_t thread_count;
	size_t ended_count;
	uint64_t counted_ns;	   /* when their counts were read; 0: never */
	uint64_t unlisted_threads; /* ended threads that are only in the sums */
	struct time_totals unlisted_time[TIME_CLASSES];
	uint64_t unlisted_wall_ns; /* their lifetimes, as far as watched */
	/*
	 * Estimates for the first `missed_count` of `threads`, and for all threads including the
	 * unlisted ones. None if nothing is estimated, or if a reading failed before the estimate
	 */
	struct thread_missed *missed, all_missed;
	size_t missed_count;
	struct profile_size *sizes; /* most time first */
	size_t size_count;
	struct profile_copies *copies;
	size_t copy_count;
	struct profile_repeat *repeats; /* most time first; only ranges with redundant copies */
	size_t repeat_count;
	struct profile_mapped *mapped; /* most bytes first */
	size_t mapped_count;
	/* most first; includes pending errors of threads that went on launching */
	struct profile_ignored *ignored;
	size_t ignored_count;
	struct process_profile totals;
	struct start_record start;
	struct steady *steady; /* NULL: it has had no work */
	/* set at its end: copies to the host that no wait had covered, calls and bytes */
	uint64_t inflight_at_exit[2];

	/* stacks of the ids above, as far as known; rewritten by each reading */
	struct profile_stack *stacks;
	size_t stack_count;

	/*
	 * highest live device memory at a reading, or of one size at any time: a lower bound of the
	 * real peak
	 */
	uint64_t peak_bytes;
};

/* All zero; release with profile__free. NULL without memory. */
struct profile *profile__new(void);
void profile__free(struct profile *profile);

/* Whether the row of api_functions launches kernels or graphs; `row` may be any number. */
bool profile__is_launch(size_t row);

/* Approximate size in memory; 0 for NULL. */
size_t profile__bytes(const struct profile *profile);

/*
 * The smallest time that at least `share` (0 to 1) of the histogram's entries do not exceed
 * (nearest rank): the middle of its bucket, but never above `max_ns` (pass UINT64_MAX if unknown).
 * 0 for an empty histogram.
 */
uint64_t profile__percentile(const __u64 buckets[TIME_BUCKETS], double share, uint64_t max_ns);

/* The watched part of the thread's life, from `began_ns` or its start to `now_ns` or its end. */
uint64_t profile__wall_ns(const struct thread_profile *thread, uint64_t began_ns, uint64_t now_ns);

/*
 * Up to when the threads' times count: the process's end, or when they were read. On a busy machine
 * that is seconds after `now_ns`, at which the reading began.
 */
uint64_t profile__counted_until_ns(const struct process *process, uint64_t now_ns);

/* Entry of the first watched call of the threads that are listed; 0: none. */
uint64_t profile__first_call_ns(const struct profile *profile);

/* Time inside outermost CUDA calls. */
uint64_t profile__inside_ns(const struct thread_profile *thread);

/*
 * Where time goes, for one or several threads: watched lifetimes, and the part inside outermost
 * CUDA calls.
 */
struct profile_time {
	uint64_t threads;
	uint64_t wall_ns, inside_ns, outside_ns;
	struct time_totals time[TIME_CLASSES];
};

/*
 * For a listed thread, and for all threads of the process including those only in the sums. Times
 * as in profile__wall_ns. Estimates for missed calls are included; that time is taken from
 * `outside_ns`.
 */
void profile__thread_time(const struct profile *profile, const struct thread_profile *thread,
			  uint64_t began_ns, uint64_t now_ns, struct profile_time *time);
void profile__sum_time(const struct profile *profile, uint64_t began_ns, uint64_t now_ns,
		       struct profile_time *time);

/* Time of threads that are only in the sums, by class. */
void profile__unlisted_time(const struct profile *profile, struct time_totals time[TIME_CLASSES]);

/* The estimated number of the listed thread's missed launches. */
uint64_t profile__missed_launches(const struct profile *profile,
				  const struct thread_profile *thread);

/* Whether times of any class, or of this one, include estimates. */
bool profile__is_estimated(const struct process *process);
bool time_class__is_estimated(enum time_class class, const struct process *process);

/*
 * The listed threads, most time inside calls first: an array of thread_count entries (malloc), NULL
 * without memory.
 */
const struct thread_profile **profile__threads_by_time(const struct profile *profile);

/* All time inside calls of the function, including estimates and calls that have not returned. */
uint64_t profile_function__ns(const struct profile_function *function);

/* Failed calls of the function in `row`, from the process's tallies. */
uint64_t profile__errors(const struct process *process, uint16_t row);

/* The stack with an id from the profile; the model owns it. NULL: not taken, or no longer known. */
const struct stack *profile__stack(const struct profile *profile, uint64_t id);

#endif
