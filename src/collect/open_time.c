// SPDX-License-Identifier: BSD-2-Clause
// Time in calls in progress, see open_time.h.
#include "collect/open_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "collect/growing_list.h"
#include "collect/tally.h"
#include "model/account.h"
#include "api/api.h"

#define KEPT_MOST 16384 /* what is told beyond may go back by what a call had, when it returns */

enum told_of {
	TOLD_WAIT = 1, /* a function on a device */
	TOLD_FUNCTION, /* of an account */
	TOLD_THREAD,   /* of an account, a class of its time */
};

/* Whose time it is; what does not tell it is 0. */
struct told_key {
	uint32_t slot;
	uint8_t of; /* enum told_of */
	uint8_t device;
	uint16_t row; /* or enum time_class */
	uint64_t thread_start_ns;
	int32_t tid;
	uint32_t pad;
};

struct told {
	struct told_key key;
	uint64_t open, open_ns; /* calls in progress in this reading */
	uint64_t told_ns;	/* the latest sum */
	uint64_t rest_ns;	/* of it, what is not counted */
	UT_hash_handle hh;
};

struct open_time {
	struct told *told; /* a uthash table */
};

struct open_time *open_time__new(void)
{
	return calloc(1, sizeof(struct open_time));
}

static void drop(struct open_time *time, struct told *told)
{
	HASH_DEL(time->told, told);
	free(told);
}

void open_time__free(struct open_time *time)
{
	struct told *told, *next;

	if (!time)
		return;
	HASH_ITER (hh, time->told, told, next)
		drop(time, told);
	free(time);
}

/* NULL without memory. */
static struct told *told_of(struct open_time *time, const struct told_key *key)
{
	struct told *told;

	HASH_FIND(hh, time->told, key, sizeof(*key), told);
	if (told)
		return told;
	told = calloc(1, sizeof(*told));
	if (!told)
		return NULL;
	told->key = *key;
	HASH_ADD(hh, time->told, key, sizeof(told->key), told);
	if (told->hh.tbl)
		return told;
	free(told);
	return NULL;
}

static int add(struct open_time *time, const struct told_key *key, bool open, uint64_t ns)
{
	struct told *told = told_of(time, key);

	if (!told)
		return -ENOMEM;
	told->open += open;
	told->open_ns += ns;
	return 0;
}

static int add_account(struct open_time *time, const struct open_call_record *record, bool open, uint64_t ns)
{
	const struct told_key function = {.slot = record->slot, .of = TOLD_FUNCTION, .row = record->row};
	struct told_key thread = {
		.slot = record->slot,
		.of = TOLD_THREAD,
		.row = (uint16_t)time_class_of((uint8_t)api_functions[record->row].desc.operation),
		.thread_start_ns = record->thread_start_ns,
		.tid = record->tid,
	};
	int ret = add(time, &function, open, ns);

	return ret || !record->outermost ? ret : add(time, &thread, open, ns);
}

int open_time__add(struct open_time *time, struct process *process, const struct open_call_record *record, bool open,
		   uint64_t ns)
{
	const struct told_key wait = {.slot = record->slot, .of = TOLD_WAIT, .device = record->device, .row = record->row};
	int ret = tally__add_open(process, record->row, record->device, open, ns);

	if (!ret && tally__is_wait(record->row))
		ret = add(time, &wait, open, ns);
	if (!ret && process->account)
		ret = add_account(time, record, open, ns);
	return ret;
}

/* --- what is counted, and the rest --- */

static struct account_function *function_of(struct account *account, uint16_t row)
{
	const struct account_function fresh = {.row = row};

	for (size_t i = 0; i < account->function_count; i++)
		if (account->functions[i].row == row)
			return &account->functions[i];
	if (growing_list__append((void **)&account->functions, &account->function_count, &fresh, sizeof(fresh)))
		return NULL;
	return &account->functions[account->function_count - 1];
}

static struct thread_account *thread_of(const struct account *account, const struct told_key *key)
{
	for (size_t i = 0; i < account->thread_count; i++)
		if (account->threads[i].tid == key->tid && account->threads[i].start_ns == key->thread_start_ns)
			return &account->threads[i];
	return NULL;
}

/* How much to add to `counted_ns`. */
static uint64_t rest(struct told *told, uint64_t counted_ns)
{
	uint64_t ns = counted_ns + told->open_ns;

	if (ns > told->told_ns)
		told->told_ns = ns;
	told->rest_ns = told->told_ns - counted_ns;
	return told->rest_ns;
}

static int settle_wait(struct process *process, struct told *told)
{
	uint64_t ns = rest(told, tally__waited(process, told->key.row, told->key.device));

	return tally__add_open_wait(process, told->key.row, told->key.device, told->open, ns);
}

static int settle_function(struct account *account, struct told *told)
{
	struct account_function *function = function_of(account, told->key.row);

	if (!function)
		return -ENOMEM;
	function->open = told->open;
	function->open_ns = rest(told, function->time.ns + function->time.unfinished_ns);
	return 0;
}

/* A thread without a place has no account, and one that has been summed up none of its own any more. */
static void settle_thread(const struct account *account, struct told *told)
{
	struct thread_account *thread = thread_of(account, &told->key);

	if (!thread)
		told->rest_ns = 0;
	else
		thread->time[told->key.row].ns += rest(told, thread->time[told->key.row].ns);
}

static int settle(struct process *process, struct told *told)
{
	switch (told->key.of) {
	case TOLD_WAIT:
		return settle_wait(process, told);
	case TOLD_FUNCTION:
		return settle_function(process->account, told);
	default:
		settle_thread(process->account, told);
		return 0;
	}
}

/* Without calls in progress, until the counters have caught up. What calls from before took is said anew in each reading. */
static bool is_needed(const struct open_time *time, const struct told *told)
{
	return told->open || (told->rest_ns && HASH_COUNT(time->told) <= KEPT_MOST);
}

int open_time__settle(struct open_time *time, const struct reading *reading)
{
	struct told *told, *next;
	int ret = 0;

	HASH_ITER (hh, time->told, told, next) {
		struct process *process = collector__process_at(reading->collector, told->key.slot);

		if (process && !ret)
			ret = settle(process, told);
		if (!process || reading__dooms(reading, process) || !is_needed(time, told))
			drop(time, told);
		else
			told->open = told->open_ns = 0;
	}
	return ret;
}
