// SPDX-License-Identifier: BSD-2-Clause
// Call sites by id, shown by stack, see sites.h.
#include "model/sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturate.h"
#include "base/table.h"
#include "model/profile.h"

struct site_sum {
	uint64_t calls, amount;
};

struct site_count {
	struct call_site_key key;
	uint64_t calls, amount;		      /* as read from the map */
	uint64_t folded_calls, folded_amount; /* counts that are no longer in the maps */
	uint64_t waiting;		      /* launches without their own stack */
	struct site_sum marks[SITE_MARKS];
	int retired;
	UT_hash_handle hh;
};

struct site_kernel {
	struct kernel_key key;
	struct kernel_texts texts;
	UT_hash_handle hh;
};

struct live_count {
	uint64_t stack;
	uint64_t bytes, count, oldest_ns, newest_ns;
	UT_hash_handle hh;
};

struct site_table {
	struct site_count *counts;
	struct site_kernel *kernels;
	struct live_count *live;
	struct call_site *waits; /* waits that were in progress at attach */
	size_t wait_count;
};

struct site_table *site_table__new(void)
{
	return calloc(1, sizeof(struct site_table));
}

void site_table__free(struct site_table *table)
{
	if (!table)
		return;
	TABLE_CLEAR(table->counts, free);
	TABLE_CLEAR(table->kernels, free);
	TABLE_CLEAR(table->live, free);
	free(table->waits);
	free(table);
}

size_t site_table__bytes(const struct site_table *table)
{
	if (!table)
		return 0;
	return sizeof(*table) + table->wait_count * sizeof(*table->waits) +
	       HASH_COUNT(table->counts) * sizeof(*table->counts) +
	       HASH_COUNT(table->kernels) * sizeof(*table->kernels) +
	       HASH_COUNT(table->live) * sizeof(*table->live);
}

static struct site_sum sum_of(const struct site_count *count)
{
	return (struct site_sum){
		.calls = count->calls + count->waiting + count->folded_calls,
		.amount = saturate__sum(count->amount, count->folded_amount),
	};
}

void site_table__mark(struct site_table *table, int mark)
{
	for (struct site_count *count = table->counts; count; count = count->hh.next)
		count->marks[mark] = sum_of(count);
}

void site_table__begin(struct site_table *table, bool with_live)
{
	for (struct site_count *count = table->counts; count; count = count->hh.next)
		count->waiting = 0;
	if (with_live)
		TABLE_CLEAR(table->live, free);
}

static struct site_count *find_count(const struct site_table *table,
				     const struct call_site_key *key)
{
	return TABLE_FIND(table->counts, key, key);
}

static struct site_count *take_count(struct site_table *table, const struct call_site_key *key)
{
	return TABLE_TAKE(table->counts, key, key);
}

int site_table__set(struct site_table *table, const struct call_site_key *key,
		    const struct call_site_record *record)
{
	struct site_count *count = take_count(table, key);

	if (!count)
		return -ENOMEM;
	count->calls = record->calls;
	count->amount = record->amount;
	return 0;
}

int site_table__retire(struct site_table *table, const struct call_site_key *key)
{
	struct site_count *count = find_count(table, key);
	int before = count ? count->retired : 0;

	if (count)
		count->retired = 1;
	return before;
}

int site_table__fold(struct site_table *table, const struct call_site_key *key, uint64_t same)
{
	struct site_count *count = find_count(table, key), *into;
	struct call_site_key other = *key;

	if (!count)
		return 0;
	other.stack = same;
	into = take_count(table, &other);
	if (!into)
		return -ENOMEM;
	into->folded_calls += count->calls + count->folded_calls;
	saturate__add(&into->folded_amount, saturate__sum(count->amount, count->folded_amount));
	for (int i = 0; i < SITE_MARKS; i++) {
		into->marks[i].calls += count->marks[i].calls;
		saturate__add(&into->marks[i].amount, count->marks[i].amount);
	}
	HASH_DEL(table->counts, count);
	free(count);
	return 0;
}

int site_table__add_launches(struct site_table *table, const struct launch_site_key *key,
			     uint64_t stack, uint64_t launches)
{
	struct call_site_key site = {
		.stack = stack,
		.what = key->handle,
		.generation = key->generation,
		.slot = (uint16_t)key->slot,
		.kind = SITE_LAUNCH,
	};
	struct site_count *count;

	if (!launches)
		return 0;
	count = take_count(table, &site);
	if (!count)
		return -ENOMEM;
	count->waiting += launches;
	return 0;
}

int site_table__set_wait(struct site_table *table, const struct stack *stack, uint16_t row,
			 uint64_t ns)
{
	for (size_t i = 0; i < table->wait_count; i++) {
		if (table->waits[i].stack == stack) {
			table->waits[i].amount = ns;
			return 0;
		}
	}
	return ARRAY_APPEND(
		table->waits, table->wait_count,
		(struct call_site){.stack = stack, .kind = SITE_WAIT, .row = row, .amount = ns});
}

static const struct site_kernel *find_kernel(const struct site_table *table,
					     const struct kernel_key *key)
{
	return TABLE_FIND(table->kernels, key, key);
}

int site_table__name(struct site_table *table, const struct kernel_key *key,
		     const struct kernel_texts *texts)
{
	struct site_kernel *kernel;

	if (find_kernel(table, key))
		return 0;
	kernel = TABLE_ADD_NEW(table->kernels, key, key);
	if (!kernel)
		return -ENOMEM;
	kernel->texts = *texts;
	return 0;
}

int site_table__add_live(struct site_table *table, uint64_t stack, uint32_t count, uint64_t bytes,
			 uint64_t start_ns)
{
	struct live_count *live = TABLE_TAKE(table->live, stack, &stack);

	if (!live)
		return -ENOMEM;
	saturate__add(&live->bytes, saturate__product(bytes, count));
	if (!live->count || start_ns < live->oldest_ns)
		live->oldest_ns = start_ns;
	live->count += count;
	if (start_ns > live->newest_ns)
		live->newest_ns = start_ns;
	return 0;
}

/* --- lists --- */

static struct call_site site_of(const struct site_table *table, const struct site_count *count,
				int mark)
{
	const struct site_sum sum = sum_of(count), nothing = {0},
			      early = mark < 0 ? nothing : count->marks[mark];
	struct kernel_key key = {
		.handle = count->key.what,
		.slot = count->key.slot,
		.generation = count->key.generation,
	};
	struct call_site site = {
		.kind = count->key.kind,
		.calls = sum.calls,
		.amount = sum.amount,
		/* Launches without a stack may belong to another site by now. */
		.early_calls = early.calls < sum.calls ? early.calls : sum.calls,
		.early_amount = early.amount < sum.amount ? early.amount : sum.amount,
	};
	const struct site_kernel *kernel;

	if (site.kind == SITE_LAUNCH) {
		kernel = find_kernel(table, &key);
		site.kernel = kernel ? kernel->texts.full : NULL;
		site.kernel_short = kernel ? kernel->texts.brief : NULL;
		site.kernel_label = kernel ? kernel->texts.label : NULL;
	} else if (site.kind == SITE_FAILURE) {
		site.row = (uint16_t)(count->key.what >> 32);
		site.code = (int32_t)count->key.what;
	} else {
		site.row = (uint16_t)count->key.what;
	}
	return site;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Orders equal sites next to each other. A kernel's name is one string for all of its handles. */
static int by_identity(const void *a, const void *b)
{
	const struct call_site *x = a, *y = b;
	int order = compare(x->kind, y->kind);

	if (!order)
		order = compare((uintptr_t)x->stack, (uintptr_t)y->stack);
	if (!order)
		order = compare(x->row, y->row);
	if (!order)
		order = compare((uint32_t)x->code, (uint32_t)y->code);
	return order ? order : compare((uintptr_t)x->kernel, (uintptr_t)y->kernel);
}

static uint64_t weight(const struct call_site *site)
{
	return site->amount ? site->amount : site->calls;
}

static uint64_t serial_of(const struct stack *stack)
{
	return stack ? stack->serial : UINT64_MAX;
}

static int by_weight(const void *a, const void *b)
{
	const struct call_site *x = a, *y = b;
	int order = compare(x->kind, y->kind);

	if (!order)
		order = compare(weight(y), weight(x));
	if (!order)
		order = compare(serial_of(x->stack), serial_of(y->stack));
	/* Kernels that one call site launches as often. */
	if (!order && x->kernel_short && y->kernel_short)
		order = strverscmp(x->kernel_short, y->kernel_short);
	return order;
}

static size_t merge_sites(struct call_site *sites, size_t count)
{
	size_t used = 0;

	if (count)
		qsort(sites, count, sizeof(*sites), by_identity);
	for (size_t i = 0; i < count; i++) {
		if (used && !by_identity(&sites[used - 1], &sites[i])) {
			sites[used - 1].calls += sites[i].calls;
			saturate__add(&sites[used - 1].amount, sites[i].amount);
			sites[used - 1].early_calls += sites[i].early_calls;
			saturate__add(&sites[used - 1].early_amount, sites[i].early_amount);
		} else {
			sites[used++] = sites[i];
		}
	}
	if (used)
		qsort(sites, used, sizeof(*sites), by_weight);
	return used;
}

static int list_sites(const struct site_table *table, struct process *process, int mark,
		      site_stack_fn find, void *arg)
{
	size_t room = HASH_COUNT(table->counts) + table->wait_count, count = 0;
	struct call_site *list = realloc(process->sites, (room ? room : 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	process->sites = list;
	for (const struct site_count *at = table->counts; at; at = at->hh.next) {
		list[count] = site_of(table, at, mark);
		list[count].stack = at->key.stack ? find(arg, at->key.stack) : NULL;
		count += list[count].calls > 0;
	}
	for (size_t i = 0; i < table->wait_count; i++)
		list[count++] = table->waits[i];
	count = merge_sites(list, count);
	/* They are ordered by kind, and SITE_OBJECT is the last one. */
	process->site_count = count;
	while (process->site_count && list[process->site_count - 1].kind == SITE_OBJECT)
		process->site_count--;
	process->object_call_count = count - process->site_count;
	return 0;
}

static int by_stack(const void *a, const void *b)
{
	const struct live_site *x = a, *y = b;

	return compare((uintptr_t)x->stack, (uintptr_t)y->stack);
}

static int by_bytes(const void *a, const void *b)
{
	const struct live_site *x = a, *y = b;
	int order = compare(y->bytes, x->bytes);

	return order ? order : compare(serial_of(x->stack), serial_of(y->stack));
}

static void add_to_live(struct live_site *site, const struct live_site *other)
{
	saturate__add(&site->bytes, other->bytes);
	site->count += other->count;
	if (other->oldest_ns < site->oldest_ns)
		site->oldest_ns = other->oldest_ns;
	if (other->newest_ns > site->newest_ns)
		site->newest_ns = other->newest_ns;
}

static size_t merge_live(struct live_site *sites, size_t count)
{
	size_t used = 0;

	if (count)
		qsort(sites, count, sizeof(*sites), by_stack);
	for (size_t i = 0; i < count; i++) {
		if (used && sites[used - 1].stack == sites[i].stack)
			add_to_live(&sites[used - 1], &sites[i]);
		else
			sites[used++] = sites[i];
	}
	if (used)
		qsort(sites, used, sizeof(*sites), by_bytes);
	return used;
}

int site_table__list_live(const struct site_table *table, struct live_site **sites,
			  size_t *site_count, site_stack_fn find, void *arg)
{
	size_t room = HASH_COUNT(table->live), count = 0;
	struct live_site *list = realloc(*sites, (room ? room : 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	*sites = list;
	for (const struct live_count *live = table->live; live; live = live->hh.next)
		list[count++] = (struct live_site){
			.stack = live->stack ? find(arg, live->stack) : NULL,
			.bytes = live->bytes,
			.count = live->count,
			.oldest_ns = live->oldest_ns,
			.newest_ns = live->newest_ns,
		};
	*site_count = merge_live(list, count);
	return 0;
}

int site_table__list(const struct site_table *table, struct process *process, int mark,
		     site_stack_fn find, void *arg)
{
	int ret = list_sites(table, process, mark, find, arg);

	if (!ret)
		ret = site_table__list_live(table, &process->live_sites, &process->live_site_count,
					    find, arg);
	if (!ret && process->pinned_table)
		ret = site_table__list_live(process->pinned_table, &process->pinned_sites,
					    &process->pinned_site_count, find, arg);
	for (size_t i = 0; i < process->live_listed; i++)
		process->live[i].stack =
			process->live[i].stack_id ? find(arg, process->live[i].stack_id) : NULL;
	return ret;
}

void site_table__forget_stacks(struct process *process)
{
	process->site_count = 0;
	process->object_call_count = 0;
	process->live_site_count = 0;
	process->pinned_site_count = 0;
	process->object_site_count = 0;
	for (size_t i = 0; i < process->live_listed; i++)
		process->live[i].stack = NULL;
	if (process->profile)
		process->profile->stack_count = 0;
}

void site_table__clear_lists(struct process *process)
{
	free(process->sites);
	free(process->live_sites);
	free(process->pinned_sites);
	free(process->object_sites);
	process->sites = NULL;
	process->live_sites = NULL;
	process->pinned_sites = NULL;
	process->object_sites = NULL;
	process->site_count = 0;
	process->object_call_count = 0;
	process->live_site_count = 0;
	process->pinned_site_count = 0;
	process->object_site_count = 0;
}
