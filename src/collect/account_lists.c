// SPDX-License-Identifier: BSD-2-Clause
// Lists of the account of a run, see account_lists.h.
#include "collect/account_lists.h"

#include <stdlib.h>
#include <string.h>

#include "collect/growing_list.h"
#include "collect/sweep.h"
#include "gen/gpuprobe.skel.h"
#include "model/account.h"

static struct account *account_of(const struct sweep *sweep, uint32_t slot)
{
	struct process *process = collector__process_at(sweep->collector, slot);

	return process ? process->account : NULL;
}

static int take_size(const struct sweep *sweep, const void *key, const void *value)
{
	struct account_size size = {.key = *(const struct size_key *)key,
				    .record = *(const struct size_record *)value};
	struct account *account = account_of(sweep, size.key.slot);
	int ret;

	if (!account)
		return 0;
	/* Frees of what had had no room in the map when it was allocated. */
	if ((int64_t)size.record.live < 0)
		size.record.live = 0;
	ret = growing_list__append((void **)&account->sizes, &account->size_count, &size, sizeof(size));
	return ret ? ret : (int)sweep__of_process(sweep, size.key.slot);
}

static int take_copies(const struct sweep *sweep, const void *key, const void *value)
{
	struct account_copies copies = {.key = *(const struct copy_size_key *)key,
					.record = *(const struct copy_size_record *)value};
	struct account *account = account_of(sweep, copies.key.slot);
	int ret;

	if (!account)
		return 0;
	ret = growing_list__append((void **)&account->copies, &account->copy_count, &copies, sizeof(copies));
	return ret ? ret : (int)sweep__of_process(sweep, copies.key.slot);
}

static int take_repeat(const struct sweep *sweep, const void *key, const void *value)
{
	struct account_repeat repeat = {.key = *(const struct repeat_key *)key,
					.record = *(const struct repeat_record *)value};
	struct account *account = account_of(sweep, repeat.key.slot);
	int ret = 0;

	if (!account)
		return 0;
	if (repeat.record.repeats)
		ret = growing_list__append((void **)&account->repeats, &account->repeat_count, &repeat,
					   sizeof(repeat));
	return ret ? ret : (int)sweep__of_process(sweep, repeat.key.slot);
}

static int take_ignored(const struct sweep *sweep, const void *key, const void *value)
{
	struct account_ignored ignored = {.key = *(const struct ignored_key *)key,
					  .record = *(const struct ignored_record *)value};
	struct account *account = account_of(sweep, ignored.key.slot);
	int ret;

	if (!account)
		return 0;
	ret = growing_list__append((void **)&account->ignored, &account->ignored_count, &ignored, sizeof(ignored));
	return ret ? ret : (int)sweep__of_process(sweep, ignored.key.slot);
}

static int take_mapped(const struct sweep *sweep, const void *key, const void *value)
{
	struct account_mapped mapped = {.key = *(const struct mapped_copy_key *)key,
					.record = *(const struct mapped_copy_record *)value};
	struct account *account = account_of(sweep, mapped.key.slot);
	int ret;

	if (!account)
		return 0;
	mapped.record.name[MAPPED_NAME - 1] = '\0';
	ret = growing_list__append((void **)&account->mapped, &account->mapped_count, &mapped, sizeof(mapped));
	return ret ? ret : (int)sweep__of_process(sweep, mapped.key.slot);
}

int account_lists__read(struct reading *reading)
{
	const struct gpuprobe_bpf *skeleton = reading->collector->skeleton;
	const struct {
		const struct bpf_map *map;
		int (*take)(const struct sweep *sweep, const void *key, const void *value);
	} lists[] = {
		{skeleton->maps.sizes, take_size},
		{skeleton->maps.copy_sizes, take_copies},
		{skeleton->maps.repeats, take_repeat},
		{skeleton->maps.ignored, take_ignored},
		{skeleton->maps.mapped_copies, take_mapped},
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists) && !ret; i++) {
		struct sweep sweep = {
			.collector = reading->collector,
			.map = lists[i].map,
			.reap = reading->reap,
			.take = lists[i].take,
		};

		ret = sweep__run(&sweep);
	}
	return ret;
}

void account_lists__clear(struct account *account)
{
	account->size_count = 0;
	account->copy_count = 0;
	account->repeat_count = 0;
	account->ignored_count = 0;
	account->mapped_count = 0;
}

static struct account_ignored *find_ignored(struct account *account, const struct ignored_key *key)
{
	for (size_t i = 0; i < account->ignored_count; i++)
		if (!memcmp(&account->ignored[i].key, key, sizeof(*key)))
			return &account->ignored[i];
	return NULL;
}

int account_lists__add_pending(struct account *account, const struct thread_account *thread)
{
	struct account_ignored *known;
	struct account_ignored fresh = {
		.key = {.slot = thread->slot, .code = thread->error_code, .row = (uint16_t)thread->error_row},
		.record = {
			.calls = 1,
			.launches = thread->error_launches,
			.first_ns = thread->error_ns,
			.stack = thread->error_stack,
		},
	};

	if (!thread->error_code || !thread->error_launches)
		return 0;
	known = find_ignored(account, &fresh.key);
	if (!known)
		return growing_list__append((void **)&account->ignored, &account->ignored_count, &fresh,
					    sizeof(fresh));
	known->record.calls++;
	known->record.launches += fresh.record.launches;
	known->record.stack = fresh.record.stack;
	if (fresh.record.first_ns < known->record.first_ns)
		known->record.first_ns = fresh.record.first_ns;
	return 0;
}

/* --- their order --- */

static int more(uint64_t x, uint64_t y)
{
	return x < y ? 1 : (x > y ? -1 : 0);
}

static int compare_sizes(const void *a, const void *b)
{
	const struct account_size *x = a, *y = b;
	int order = more(x->record.allocation_ns + x->record.free_ns, y->record.allocation_ns + y->record.free_ns);

	return order ? order : memcmp(&x->key, &y->key, sizeof(x->key));
}

static int compare_copies(const void *a, const void *b)
{
	const struct account_copies *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static int compare_repeats(const void *a, const void *b)
{
	const struct account_repeat *x = a, *y = b;
	int order = more(x->record.repeat_ns, y->record.repeat_ns);

	return order ? order : memcmp(&x->key, &y->key, sizeof(x->key));
}

static int compare_ignored(const void *a, const void *b)
{
	const struct account_ignored *x = a, *y = b;
	int order = more(x->record.calls, y->record.calls);

	return order ? order : memcmp(&x->key, &y->key, sizeof(x->key));
}

static int compare_mapped(const void *a, const void *b)
{
	const struct account_mapped *x = a, *y = b;
	int order = more(x->record.bytes, y->record.bytes);

	return order ? order : memcmp(&x->key, &y->key, sizeof(x->key));
}

static void sort(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
	if (count)
		qsort(items, count, size, compare);
}

void account_lists__sort(struct account *account)
{
	sort(account->sizes, account->size_count, sizeof(*account->sizes), compare_sizes);
	sort(account->copies, account->copy_count, sizeof(*account->copies), compare_copies);
	sort(account->repeats, account->repeat_count, sizeof(*account->repeats), compare_repeats);
	sort(account->ignored, account->ignored_count, sizeof(*account->ignored), compare_ignored);
	sort(account->mapped, account->mapped_count, sizeof(*account->mapped), compare_mapped);
}
