/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The account of a process (gpuprobe/account.h), as `stat` and `diagnose` show
 * it: plain data beside struct process, from the maps by collect/account_maps.c.
 */
#ifndef MODEL_ACCOUNT_H
#define MODEL_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/account.h"
#include "model/start.h"

/* Threads that have ended stay in the list up to this many; the rest are summed up. */
#define ACCOUNT_ENDED_KEPT 256

struct process;
struct stack;
struct steady;

struct account_function {
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

struct account_size {
	struct size_key key;
	struct size_record record;
};

struct account_copies {
	struct copy_size_key key;
	struct copy_size_record record;
};

struct account_repeat {
	struct repeat_key key;
	struct repeat_record record;
};

struct account_ignored {
	struct ignored_key key;
	struct ignored_record record;
};

/* The key's slot says nothing. */
struct account_mapped {
	struct mapped_copy_key key;
	struct mapped_copy_record record;
};

/* What an id of a stack in the account stands for. */
struct account_stack {
	uint64_t id;
	const struct stack *stack;
};

struct account {
	struct account_function *functions; /* most time first */
	size_t function_count;
	struct thread_account *threads; /* those that have ended first, otherwise in no order */
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
	struct account_size *sizes; /* most time first */
	size_t size_count;
	struct account_copies *copies;
	size_t copy_count;
	struct account_repeat *repeats; /* most time first; those copied again for nothing */
	size_t repeat_count;
	struct account_mapped *mapped; /* most bytes first */
	size_t mapped_count;
	struct account_ignored *ignored; /* most first; what is pending in threads that went on with launches included */
	size_t ignored_count;
	struct process_account totals;
	struct start_record start;
	struct steady *steady;	      /* NULL: it has had no work */
	uint64_t inflight_at_exit[2]; /* once ended: copies to the host that no wait had covered, calls and bytes */

	struct account_stack *stacks; /* of the ids above that are known; rewritten by each reading */
	size_t stack_count;

	uint64_t peak_bytes; /* of device memory live at a reading, or of one size at any time: not less was live at some time */
};

/* Everything zero; release with account__free. NULL without memory. */
struct account *account__new(void);
void account__free(struct account *account);

/* What it takes in memory, about; 0 for NULL. */
size_t account__bytes(const struct account *account);

/*
 * The least time that `share` (0 to 1) of the counts of a histogram do not exceed (the nearest rank): the
 * middle of its bucket, but never above `max_ns` (pass UINT64_MAX where it is not known). 0 for an empty one.
 */
uint64_t account__percentile(const __u64 buckets[TIME_BUCKETS], double share, uint64_t max_ns);

/* The time of the thread's life that was watched, from `began_ns` or its start to `now_ns` or its end. */
uint64_t account__wall_ns(const struct thread_account *thread, uint64_t began_ns, uint64_t now_ns);

/* Time inside outermost CUDA calls. */
uint64_t account__inside_ns(const struct thread_account *thread);

/* Where time goes, of a thread or of several: watched lives, and what of them was inside outermost CUDA calls. */
struct account_time {
	uint64_t threads;
	uint64_t wall_ns, inside_ns, outside_ns;
	struct time_totals time[TIME_CLASSES];
};

/*
 * Of a thread that is listed, and of all of the process, those included that are only summed up. As
 * account__wall_ns. With what is estimated of calls that were not seen; it was outside before.
 */
void account__thread_time(const struct account *account, const struct thread_account *thread, uint64_t began_ns,
			  uint64_t now_ns, struct account_time *time);
void account__sum_time(const struct account *account, uint64_t began_ns, uint64_t now_ns, struct account_time *time);

/* Of those that are only summed up, by class. */
void account__unlisted_time(const struct account *account, struct time_totals time[TIME_CLASSES]);

/* What is estimated of the listed thread's launches. */
uint64_t account__missed_launches(const struct account *account, const struct thread_account *thread);

/* Whether times of any class are estimated, or those of this one. */
bool account__is_estimated(const struct process *process);
bool time_class__is_estimated(enum time_class class, const struct process *process);

/* The listed threads, most time inside calls first: an array of thread_count (malloc), NULL without memory. */
const struct thread_account **account__threads_by_time(const struct account *account);

/* All time inside calls of the function: with what is estimated, and of calls that have not returned. */
uint64_t account_function__ns(const struct account_function *function);

/* Failed calls of the function in `row`, of the process's tallies. */
uint64_t account__errors(const struct process *process, uint16_t row);

/* The stack with an id that the account has, which is the model's; NULL: not taken, or not known any more. */
const struct stack *account__stack(const struct account *account, uint64_t id);

#endif
