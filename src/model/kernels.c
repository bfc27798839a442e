// SPDX-License-Identifier: BSD-2-Clause
// Launch counts by handle, see kernels.h; kernels_by_name.c sums them by name.
#include "model/kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "model/devices.h"
#include "model/kernels_by_name.h"

struct kernel_handle {
	struct kernel_key key;
	struct shown_kernel *shown;
	struct shape_record shape;
	size_t counts;	 /* counters in the table */
	size_t going_on; /* of these, those of the current generation */
	UT_hash_handle hh;
	UT_hash_handle by_address;
};

/* A handle's launches on one device, executed or captured. */
struct launch_count {
	struct launch_key key;
	struct kernel_handle *handle;
	uint64_t launches;
	uint64_t weighed; /* launches already included in `weight` */
	double weight;	  /* weight for distributing missed launches, see model/missed.h */
	uint64_t missed;  /* estimated launches in addition */
	int retired;
	bool leaves; /* it is removed once estimates have been distributed */
	UT_hash_handle hh;
};

/* The kernel that a handle stood for before it was gone. */
struct past_handle {
	uint64_t handle;
	struct shown_kernel *shown;
	UT_hash_handle hh; /* most recent last */
};

#define PAST_HANDLES 4096

struct kernel_table {
	struct kernel_handle *handles;
	struct kernel_handle *latest; /* the latest handle of each address */
	struct past_handle *past;
	struct launch_count *counts;
	struct kernels_by_name shown;
	struct device_totals *folded; /* launches by device, from handles that are gone */
	size_t folded_count;
	char *names; /* after settling: the names of the list */
	size_t name_bytes;
};

struct kernel_table *kernel_table__new(void)
{
	return calloc(1, sizeof(struct kernel_table));
}

void kernel_table__share(struct kernel_table *table, size_t *name_bytes)
{
	table->shown.all_name_bytes = name_bytes;
}

/* Frees everything but the names of a settled table. */
static void clear(struct kernel_table *table)
{
	TABLE_CLEAR(table->past, free);
	TABLE_CLEAR(table->counts, free);
	HASH_CLEAR(by_address, table->latest);
	TABLE_CLEAR(table->handles, free);
	kernels_by_name__clear(&table->shown);
	free(table->folded);
	table->folded = NULL;
	table->folded_count = 0;
}

void kernel_table__free(struct kernel_table *table)
{
	if (!table)
		return;
	clear(table);
	free(table->names);
	free(table);
}

size_t kernel_table__bytes(const struct kernel_table *table)
{
	if (!table)
		return 0;
	return sizeof(*table) + HASH_COUNT(table->handles) * sizeof(*table->handles) +
	       HASH_COUNT(table->counts) * sizeof(*table->counts) +
	       HASH_COUNT(table->past) * sizeof(*table->past) +
	       kernels_by_name__bytes(&table->shown) +
	       table->folded_count * sizeof(*table->folded) + table->name_bytes;
}

static size_t size_of(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/* Copies the text to *end and advances it. */
static char *move_text(const char *text, char **end)
{
	char *copy = *end;

	if (!text)
		return NULL;
	memcpy(copy, text, size_of(text));
	*end += size_of(text);
	return copy;
}

void kernel_table__settle(struct kernel_table *table, struct process *process)
{
	size_t bytes = 0;
	char *end;

	if (table->names)
		return;
	for (size_t i = 0; i < process->kernel_count; i++)
		bytes += size_of(process->kernels[i].name) +
			 size_of(process->kernels[i].short_name) +
			 size_of(process->kernels[i].label);
	table->names = end = malloc(bytes ? bytes : 1);
	if (!end)
		return;
	for (size_t i = 0; i < process->kernel_count; i++) {
		process->kernels[i].name = move_text(process->kernels[i].name, &end);
		process->kernels[i].short_name = move_text(process->kernels[i].short_name, &end);
		process->kernels[i].label = move_text(process->kernels[i].label, &end);
	}
	table->name_bytes = bytes;
	clear(table);
}

static struct kernel_handle *find_handle(const struct kernel_table *table,
					 const struct kernel_key *key)
{
	return TABLE_FIND(table->handles, key, key);
}

static struct launch_count *find_count(const struct kernel_table *table,
				       const struct launch_key *key)
{
	return TABLE_FIND(table->counts, key, key);
}

static struct kernel_handle *find_latest(const struct kernel_table *table, uint64_t address)
{
	struct kernel_handle *handle;

	HASH_FIND(by_address, table->latest, &address, sizeof(address), handle);
	return handle;
}

/*
 * Without memory the address is not recorded: only the kernel's name in a launch sequence is
 * missing then.
 */
static void note_address(struct kernel_table *table, struct kernel_handle *handle)
{
	struct kernel_handle *before = find_latest(table, handle->key.handle);

	if (before && before->key.generation > handle->key.generation)
		return;
	if (before)
		HASH_DELETE(by_address, table->latest, before);
	HASH_ADD(by_address, table->latest, key.handle, sizeof(handle->key.handle), handle);
}

static struct kernel_handle *take_handle(struct kernel_table *table, const struct kernel_key *key)
{
	struct kernel_handle *handle = find_handle(table, key);

	if (handle)
		return handle;
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return NULL;
	handle->key = *key;
	handle->shown = kernels_by_name__add(&table->shown, key->handle);
	if (!handle->shown) {
		free(handle);
		return NULL;
	}
	if (!TABLE_ADD(table->handles, key, handle)) {
		note_address(table, handle);
		return handle;
	}
	kernels_by_name__drop(&table->shown, handle->shown);
	free(handle);
	return NULL;
}

static struct launch_count *add_count(struct kernel_table *table, const struct launch_key *key)
{
	struct kernel_handle *handle = take_handle(table, &key->kernel);
	struct launch_count *count = handle ? TABLE_ADD_NEW(table->counts, key, key) : NULL;

	if (!count)
		return NULL;
	count->handle = handle;
	handle->counts++;
	handle->going_on++;
	return count;
}

int kernel_table__set(struct kernel_table *table, const struct launch_key *key, uint64_t launches,
		      const char *name)
{
	struct launch_count *count = find_count(table, key);

	if (!count)
		count = add_count(table, key);
	if (!count)
		return -ENOMEM;
	count->launches = launches;
	if (!name || count->handle->shown->mangled)
		return 0;
	return kernels_by_name__name(&table->shown, &count->handle->shown, key->kernel.handle,
				     name);
}

int kernel_table__set_shape(struct kernel_table *table, const struct kernel_key *key,
			    const struct shape_record *shape)
{
	struct kernel_handle *handle = take_handle(table, key);

	if (!handle)
		return -ENOMEM;
	handle->shape = *shape;
	return 0;
}

int kernel_table__is_named(const struct kernel_table *table, const struct launch_key *key)
{
	const struct kernel_handle *handle = find_handle(table, &key->kernel);

	return handle && handle->shown->mangled;
}

bool kernel_table__texts(const struct kernel_table *table, const struct kernel_key *key,
			 struct kernel_texts *texts)
{
	const struct kernel_handle *handle = find_handle(table, key);

	if (!handle || !handle->shown->mangled)
		return false;
	*texts = (struct kernel_texts){
		.full = handle->shown->full,
		.brief = handle->shown->brief,
		.label = handle->shown->label,
	};
	return true;
}

int kernel_table__is_over(const struct kernel_table *table, const struct kernel_key *key)
{
	const struct kernel_handle *handle = find_handle(table, key);

	return !handle || !handle->going_on;
}

static void retire(struct launch_count *count)
{
	count->handle->going_on -= !count->retired;
	count->retired = 1;
}

int kernel_table__retire(struct kernel_table *table, const struct launch_key *key)
{
	struct launch_count *count = find_count(table, key);
	int before = count ? count->retired : 1;

	if (count)
		retire(count);
	return before;
}

/*
 * Without memory it is not recorded: only the kernel's name in a launch sequence is missing then.
 */
static void remember(struct kernel_table *table, const struct kernel_handle *handle)
{
	struct past_handle *past = TABLE_FIND(table->past, handle, &handle->key.handle);

	if (!past && HASH_COUNT(table->past) >= PAST_HANDLES)
		past = table->past;
	if (past)
		HASH_DEL(table->past, past);
	else
		past = calloc(1, sizeof(*past));
	if (!past)
		return;
	*past = (struct past_handle){.handle = handle->key.handle, .shown = handle->shown};
	if (TABLE_ADD(table->past, handle, past))
		free(past);
}

bool kernel_table__knows(const struct kernel_table *table, uint64_t handle, const char **label)
{
	const struct kernel_handle *latest = find_latest(table, handle);
	const struct past_handle *past = TABLE_FIND(table->past, handle, &handle);

	*label = latest ? latest->shown->label : (past ? past->shown->label : NULL);
	return latest || past;
}

static int by_handle(const void *a, const void *b)
{
	const struct known_kernel *x = a, *y = b;

	return x->handle < y->handle ? -1 : x->handle > y->handle;
}

bool process__knows_kernel(const struct process *process, uint64_t handle, const char **label)
{
	const struct known_kernel key = {.handle = handle}, *found;

	if (process->kernel_table)
		return kernel_table__knows(process->kernel_table, handle, label);
	if (!process->known_kernel_count)
		return false;
	found = bsearch(&key, process->known_kernels, process->known_kernel_count, sizeof(key),
			by_handle);
	*label = found ? found->label : NULL;
	return found;
}

static void fold_handle(struct kernel_table *table, struct kernel_handle *handle)
{
	shape_record__merge(&handle->shown->folded_shape, &handle->shape);
	remember(table, handle);
	if (handle == find_latest(table, handle->key.handle))
		HASH_DELETE(by_address, table->latest, handle);
	HASH_DEL(table->handles, handle);
	free(handle);
}

int kernel_table__fold(struct kernel_table *table, const struct launch_key *key)
{
	struct launch_count *count = find_count(table, key);
	struct device_totals *totals;

	if (!count)
		return 0;
	if (!key->captured) {
		totals = device_totals__of(&table->folded, &table->folded_count, key->device);
		if (!totals)
			return -ENOMEM;
		totals->launches += count->launches + count->missed;
	}
	retire(count);
	count->handle->shown->folded[!!key->captured] += count->launches + count->missed;
	count->handle->shown->folded_missed += count->missed;
	if (!--count->handle->counts)
		fold_handle(table, count->handle);
	HASH_DEL(table->counts, count);
	free(count);
	return 0;
}

void kernel_table__leave(struct kernel_table *table, const struct launch_key *key)
{
	struct launch_count *count = find_count(table, key);

	if (!count)
		return;
	count->leaves = true;
	retire(count);
}

/* While a thread moves its counts to the map, they may be in neither for a moment. */
static uint64_t fresh_of(const struct launch_count *count)
{
	return count->launches > count->weighed ? count->launches - count->weighed : 0;
}

void kernel_table__weigh(const struct kernel_table *table, double *weight, uint64_t *fresh)
{
	const struct launch_count *count;

	for (count = table->counts; count; count = count->hh.next) {
		*weight += count->weight;
		*fresh += fresh_of(count);
	}
}

uint64_t kernel_table__miss(struct kernel_table *table, const struct missed_share *share,
			    double *rest, uint64_t missed[2])
{
	struct launch_count *count;
	uint64_t sum = 0, own;

	for (count = table->counts; count; count = count->hh.next) {
		count->weight = missed_share__weigh(share, count->weight, fresh_of(count));
		count->weighed += fresh_of(count);
		own = missed_share__of(share, count->weight, rest);
		count->missed += own;
		missed[!!count->key.captured] += own;
		sum += own;
	}
	return sum;
}

int kernel_table__fold_left(struct kernel_table *table)
{
	struct launch_count *count, *next;
	int ret = 0;

	HASH_ITER (hh, table->counts, count, next) {
		/* A copy, because folding frees the count that holds the key. */
		const struct launch_key key = count->key;

		if (count->leaves && !ret)
			ret = kernel_table__fold(table, &key);
	}
	return ret;
}

static int sum_by_device(const struct kernel_table *table, struct process *process)
{
	const struct launch_count *count;
	struct device_totals *totals;

	for (size_t i = 0; i < table->folded_count; i++) {
		totals = device_totals__of(&process->devices, &process->device_count,
					   table->folded[i].device);
		if (!totals)
			return -ENOMEM;
		totals->launches += table->folded[i].launches;
	}
	for (count = table->counts; count; count = count->hh.next) {
		if (count->key.captured)
			continue;
		totals = device_totals__of(&process->devices, &process->device_count,
					   count->key.device);
		if (!totals)
			return -ENOMEM;
		totals->launches += count->launches + count->missed;
	}
	return 0;
}

/* Sums the counts of handles that are gone and of those that exist. */
static void sum_up(struct kernel_table *table)
{
	struct kernel_handle *handle;
	struct launch_count *count;

	kernels_by_name__begin_sum(&table->shown);
	for (handle = table->handles; handle; handle = handle->hh.next)
		shape_record__merge(&handle->shown->current_shape, &handle->shape);
	for (count = table->counts; count; count = count->hh.next) {
		count->handle->shown->current[!!count->key.captured] +=
			count->launches + count->missed;
		count->handle->shown->current_missed += count->missed;
	}
}

int kernel_table__list(struct kernel_table *table, struct process *process)
{
	sum_up(table);
	if (sum_by_device(table, process))
		return -ENOMEM;
	return kernels_by_name__list(&table->shown, process);
}

void kernel_table__clear_list(struct process *process)
{
	free(process->kernels);
	process->kernels = NULL;
	process->kernel_count = 0;
}
