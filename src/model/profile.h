/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profile of a process (gpuprobe/profile.h), as `stat` and `diagnose` show
 * it: plain data beside struct process, from the maps by collect/profile_maps.c.
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/profile.h"
#include "model/start.h"

/* Threads that have ended stay in the list up to this many; the rest are summed up. */
#define ACCOUNT_ENDED_KEPT 256

struct process;
struct stack;
struct steady;

struct profile_function {
	uint16_t row; /* in api_functions */
	struct duration_record time;
	uint64_t missed, missed_ns; /* calls beside them that are estimated, and the time in them */
	uint64_t open, open_ns;	    /* calls in progress, and the time in calls that have not been seen to return */
};

/* What is estimated of a thread beside what was counted. */
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

/* The key's slot says nothing. */
struct profile_mapped {
	struct mapped_copy_key key;
	struct mapped_copy_record record;
};

/* What an id of a stack in the profile stands for. */
struct profile_stack {
	uint64_t id;
	const struct stack *stack;
};

struct profile {
	struct profile_function *functions; /* most time first */
	size_t function_count;
	struct thread_profile *threads; /* those that have ended first, otherwise in no order */
	size_t thread_count;
	size_t ended_count;
	uint64_t unlisted_threads; /* ended, and only summed up */
	struct time_totals unlisted_time[TIME_CLASSES];
	uint64_t unlisted_wall_ns; /* their lives, as far as watched */
	/*
	 * Of what the first so many of `threads` have (none: nothing is estimated, or a reading failed before it
	 * was), and of all, those included that are only summed up
	 */
	struct thread_missed *missed, all_missed;
	size_t missed_count;
	struct profile_size *sizes; /* most time first */
	size_t size_count;
	struct profile_copies *copies;
	size_t copy_count;
	struct profile_repeat *repeats; /* most time first; those copied again for nothing */
	size_t repeat_count;
	struct profile_mapped *mapped; /* most bytes first */
	size_t mapped_count;
	struct profile_ignored *ignored; /* most first; what is pending in threads that went on with launches included */
	size_t ignored_count;
	struct process_profile totals;
	struct start_record start;
	struct steady *steady;	      /* NULL: it has had no work */
	uint64_t inflight_at_exit[2]; /* once ended: copies to the host that no wait had covered, calls and bytes */

	struct profile_stack *stacks; /* of the ids above that are known; rewritten by each reading */
	size_t stack_count;

	uint64_t peak_bytes; /* of device memory live at a reading, or of one size at any time: not less was live at some time */
};

/* Everything zero; release with profile__free. NULL without memory. */
struct profile *profile__new(void);
void profile__free(struct profile *profile);

/* What it takes in memory, about; 0 for NULL. */
size_t profile__bytes(const struct profile *profile);

/*
 * The least time that `share` (0 to 1) of the counts of a histogram do not exceed (the nearest rank): the
 * middle of its bucket, but never above `max_ns` (pass UINT64_MAX where it is not known). 0 for an empty one.
 */
uint64_t profile__percentile(const __u64 buckets[TIME_BUCKETS], double share, uint64_t max_ns);

/* The time of the thread's life that was watched, from `began_ns` or its start to `now_ns` or its end. */
uint64_t profile__wall_ns(const struct thread_profile *thread, uint64_t began_ns, uint64_t now_ns);

/* Time inside outermost CUDA calls. */
uint64_t profile__inside_ns(const struct thread_profile *thread);

/* Where time goes, of a thread or of several: watched lives, and what of them was inside outermost CUDA calls. */
struct profile_time {
	uint64_t threads;
	uint64_t wall_ns, inside_ns, outside_ns;
	struct time_totals time[TIME_CLASSES];
};

/*
 * Of a thread that is listed, and of all of the process, those included that are only summed up. As
 * profile__wall_ns. With what is estimated of calls that were not seen; it was outside before.
 */
void profile__thread_time(const struct profile *profile, const struct thread_profile *thread, uint64_t began_ns,
			  uint64_t now_ns, struct profile_time *time);
void profile__sum_time(const struct profile *profile, uint64_t began_ns, uint64_t now_ns, struct profile_time *time);

/* Of those that are only summed up, by class. */
void profile__unlisted_time(const struct profile *profile, struct time_totals time[TIME_CLASSES]);

/* What is estimated of the listed thread's launches. */
uint64_t profile__missed_launches(const struct profile *profile, const struct thread_profile *thread);

/* Whether times of any class are estimated, or those of this one. */
bool profile__is_estimated(const struct process *process);
bool time_class__is_estimated(enum time_class class, const struct process *process);

/* The listed threads, most time inside calls first: an array of thread_count (malloc), NULL without memory. */
const struct thread_profile **profile__threads_by_time(const struct profile *profile);

/* All time inside calls of the function: with what is estimated, and of calls that have not returned. */
uint64_t profile_function__ns(const struct profile_function *function);

/* Failed calls of the function in `row`, of the process's tallies. */
uint64_t profile__errors(const struct process *process, uint16_t row);

/* The stack with an id that the profile has, which is the model's; NULL: not taken, or not known any more. */
const struct stack *profile__stack(const struct profile *profile, uint64_t id);

#endif
