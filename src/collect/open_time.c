// SPDX-License-Identifier: BSD-2-Clause
// Time in calls in progress, see open_time.h.
#include "collect/open_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "collect/tally.h"
#include "collect/tally_waits.h"
#include "model/profile.h"
#include "api/api.h"

/* beyond this many entries, a reported time may drop by a call's time when the call returns */
#define KEPT_MOST 16384

enum reported_of {
	TOLD_WAIT = 1, /* a waiting function on a device */
	TOLD_FUNCTION, /* a profile's function */
	TOLD_THREAD,   /* a profile's thread, in one class of its time */
};

/* What the time belongs to. Fields that do not identify it are 0. */
struct reported_key {
	uint32_t slot;
	uint8_t of; /* enum reported_of */
	uint8_t device;
	uint16_t row; /* or enum time_class */
	uint64_t thread_start_ns;
	int32_t tid;
	uint32_t pad;
};

struct reported {
	struct reported_key key;
	uint64_t open, open_ns; /* the calls in progress in this reading, and the time in them */
	uint64_t reported_ns;	/* the sum reported last */
	uint64_t rest_ns;	/* part of it that is not counted yet */
	UT_hash_handle hh;
};

struct open_time {
	struct reported *reported; /* a uthash table */
};

struct open_time *open_time__new(void)
{
	return calloc(1, sizeof(struct open_time));
}

static void drop(struct open_time *time, struct reported *reported)
{
	HASH_DEL(time->reported, reported);
	free(reported);
}

void open_time__free(struct open_time *time)
{
	if (!time)
		return;
	TABLE_CLEAR(time->reported, free);
	free(time);
}

/* NULL without memory. */
static struct reported *reported_of(struct open_time *time, const struct reported_key *key)
{
	struct reported *reported;

	HASH_FIND(hh, time->reported, key, sizeof(*key), reported);
	if (reported)
		return reported;
	reported = calloc(1, sizeof(*reported));
	if (!reported)
		return NULL;
	reported->key = *key;
	HASH_ADD(hh, time->reported, key, sizeof(reported->key), reported);
	if (reported->hh.tbl)
		return reported;
	free(reported);
	return NULL;
}

static int add(struct open_time *time, const struct reported_key *key, bool open, uint64_t ns)
{
	struct reported *reported = reported_of(time, key);

	if (!reported)
		return -ENOMEM;
	reported->open += open;
	reported->open_ns += ns;
	return 0;
}

static int add_profile(struct open_time *time, const struct open_call_record *record, bool open,
		       uint64_t ns)
{
	const struct reported_key function = {
		.slot = record->slot, .of = TOLD_FUNCTION, .row = record->row};
	struct reported_key thread = {
		.slot = record->slot,
		.of = TOLD_THREAD,
		.row = (uint16_t)time_class_of((uint8_t)api_functions[record->row].desc.operation),
		.thread_start_ns = record->thread_start_ns,
		.tid = record->tid,
	};
	int ret = add(time, &function, open, ns);

	return ret || !record->outermost ? ret : add(time, &thread, open, ns);
}

int open_time__add(struct open_time *time, struct process *process,
		   const struct open_call_record *record, bool open, uint64_t ns)
{
	const struct reported_key wait = {.slot = record->slot,
					  .of = TOLD_WAIT,
					  .device = record->device,
					  .row = record->row};
	int ret = tally__add_open(process, record->row, record->device, open, ns);

	if (!ret && tally_waits__is_wait(record->row))
		ret = add(time, &wait, open, ns);
	if (!ret && process->profile)
		ret = add_profile(time, record, open, ns);
	return ret;
}

/* --- adding the rest to what is counted --- */

static struct profile_function *function_of(struct profile *profile, uint16_t row)
{
	const struct profile_function fresh = {.row = row};

	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].row == row)
			return &profile->functions[i];
	if (ARRAY_APPEND(profile->functions, profile->function_count, fresh))
		return NULL;
	return &profile->functions[profile->function_count - 1];
}

static struct thread_profile *thread_of(const struct profile *profile,
					const struct reported_key *key)
{
	for (size_t i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].tid == key->tid &&
		    profile->threads[i].start_ns == key->thread_start_ns)
			return &profile->threads[i];
	return NULL;
}

/* The time to add to `counted_ns`, so that the sum does not decrease. */
static uint64_t rest(struct reported *reported, uint64_t counted_ns)
{
	uint64_t ns = counted_ns + reported->open_ns;

	if (ns > reported->reported_ns)
		reported->reported_ns = ns;
	reported->rest_ns = reported->reported_ns - counted_ns;
	return reported->rest_ns;
}

static int settle_wait(struct process *process, struct reported *reported)
{
	uint64_t ns = rest(reported,
			   tally_waits__waited(process, reported->key.row, reported->key.device));

	return tally_waits__add_open(process, reported->key.row, reported->key.device,
				     reported->open, ns);
}

static int settle_function(struct profile *profile, struct reported *reported)
{
	struct profile_function *function = function_of(profile, reported->key.row);

	if (!function)
		return -ENOMEM;
	function->open = reported->open;
	function->open_ns = rest(reported, function->time.ns + function->time.unfinished_ns);
	return 0;
}

/* Threads without a counter slot, and threads already added to the sums, have no profile. */
static void settle_thread(const struct profile *profile, struct reported *reported)
{
	struct thread_profile *thread = thread_of(profile, &reported->key);

	if (!thread)
		reported->rest_ns = 0;
	else
		thread->time[reported->key.row].ns +=
			rest(reported, thread->time[reported->key.row].ns);
}

static int settle(struct process *process, struct reported *reported)
{
	switch (reported->key.of) {
	case TOLD_WAIT: return settle_wait(process, reported);
	case TOLD_FUNCTION: return settle_function(process->profile, reported);
	default: settle_thread(process->profile, reported); return 0;
	}
}

/*
 * Entries without calls in progress stay until the counters have caught up. The time in calls from
 * before attach is added again in each reading.
 */
static bool is_needed(const struct open_time *time, const struct reported *reported)
{
	return reported->open || (reported->rest_ns && HASH_COUNT(time->reported) <= KEPT_MOST);
}

int open_time__settle(struct open_time *time, const struct reading *reading)
{
	struct reported *reported, *next;
	int ret = 0;

	HASH_ITER (hh, time->reported, reported, next) {
		struct process *process =
			collector__process_at(reading->collector, reported->key.slot);

		if (process && !ret)
			ret = settle(process, reported);
		if (!process || reading__reaps(reading, process) || !is_needed(time, reported))
			drop(time, reported);
		else
			reported->open = reported->open_ns = 0;
	}
	return ret;
}
