// SPDX-License-Identifier: BSD-2-Clause
// Launch counts by handle, shown by name, see kernels.h.
#include "model/kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/table.h"
#include "model/devices.h"
#include "symbol/kernel_name.h"

/* A kernel as it is shown: all handles of one name, or one handle without a name. */
struct shown_kernel {
	struct shape_record folded_shape;  /* of handles that are gone */
	struct shape_record current_shape; /* scratch of kernel_table__list */
	char *mangled;			   /* NULL while unknown */
	char *full, *brief;
	uint64_t handle; /* the latest */
	uint64_t serial;
	/* [0] executed, [1] captured */
	uint64_t folded[2];			/* launches of handles that are gone */
	uint64_t current[2];			/* scratch of kernel_table__list */
	uint64_t folded_missed, current_missed; /* of both sorts: estimated */
	UT_hash_handle hh;			/* by mangled name, once named */
	struct shown_kernel *prev_unnamed, *next_unnamed;
};

struct kernel_handle {
	struct kernel_key key;
	struct shown_kernel *shown;
	struct shape_record shape;
	size_t counts; /* that it has in the table */
	UT_hash_handle hh;
};

/* A handle's launches of one sort. */
struct launch_count {
	struct launch_key key;
	struct kernel_handle *handle;
	uint64_t launches;
	uint64_t weighed; /* of these, those that are in `weight` */
	double weight;	  /* by which missed launches are shared out, see model/missed.h */
	uint64_t missed;  /* beside them: estimated */
	int retired;
	bool leaves; /* once it has been estimated by */
	UT_hash_handle hh;
};

/* What a handle that is gone stood for. */
struct past_handle {
	uint64_t handle;
	struct shown_kernel *shown;
	UT_hash_handle hh; /* the latest last */
};

#define PAST_HANDLES 4096
/* A program that makes up names without end: kernels beyond these stay without one. Ten times what PyTorch needs. */
#define NAME_BYTES_MAX (64u << 20)

struct kernel_table {
	struct kernel_handle *handles;
	struct past_handle *past;
	struct launch_count *counts;
	struct shown_kernel *named;
	struct shown_kernel *unnamed;
	uint64_t next_serial;
	size_t name_bytes;	      /* of `named` */
	uint64_t names_ns;	      /* CPU time that they have taken */
	struct device_totals *folded; /* launches by device, of handles that are gone */
	size_t folded_count;
};

struct kernel_table *kernel_table__new(void)
{
	return calloc(1, sizeof(struct kernel_table));
}

static void free_strings(struct shown_kernel *shown)
{
	free(shown->mangled);
	free(shown->full);
	free(shown->brief);
	shown->mangled = shown->full = shown->brief = NULL;
}

static void free_shown(struct shown_kernel *shown)
{
	free_strings(shown);
	free(shown);
}

void kernel_table__free(struct kernel_table *table)
{
	struct kernel_handle *handle, *next_handle;
	struct launch_count *count, *next_count;
	struct shown_kernel *shown, *next;
	struct past_handle *past, *next_past;

	if (!table)
		return;
	HASH_ITER (hh, table->past, past, next_past) {
		HASH_DEL(table->past, past);
		free(past);
	}
	HASH_ITER (hh, table->counts, count, next_count) {
		HASH_DEL(table->counts, count);
		free(count);
	}
	HASH_ITER (hh, table->handles, handle, next_handle) {
		HASH_DEL(table->handles, handle);
		free(handle);
	}
	HASH_ITER (hh, table->named, shown, next) {
		HASH_DEL(table->named, shown);
		free_shown(shown);
	}
	for (shown = table->unnamed; shown; shown = next) {
		next = shown->next_unnamed;
		free_shown(shown);
	}
	free(table->folded);
	free(table);
}

static struct kernel_handle *find_handle(const struct kernel_table *table, const struct kernel_key *key)
{
	struct kernel_handle *handle;

	HASH_FIND(hh, table->handles, key, sizeof(*key), handle);
	return handle;
}

static struct launch_count *find_count(const struct kernel_table *table, const struct launch_key *key)
{
	struct launch_count *count;

	HASH_FIND(hh, table->counts, key, sizeof(*key), count);
	return count;
}

static void widen(__u64 *min, __u64 *max, __u64 other_min, __u64 other_max)
{
	if (other_min < *min)
		*min = other_min;
	if (other_max > *max)
		*max = other_max;
}

/* Samples of two handles of one kernel. */
static void merge_shape(struct shape_record *sum, const struct shape_record *shape)
{
	if (!shape->samples)
		return;
	if (!sum->samples) {
		*sum = *shape;
		return;
	}
	sum->samples += shape->samples;
	widen(&sum->blocks_min, &sum->blocks_max, shape->blocks_min, shape->blocks_max);
	widen(&sum->threads_min, &sum->threads_max, shape->threads_min, shape->threads_max);
	widen(&sum->shared_min, &sum->shared_max, shape->shared_min, shape->shared_max);
	sum->gaps += shape->gaps;
	sum->gap_ns += shape->gap_ns;
	widen(&sum->gap_min, &sum->gap_max, shape->gap_min, shape->gap_max);
	if (shape->latest_ns < sum->latest_ns)
		return;
	sum->latest_ns = shape->latest_ns;
	sum->latest = shape->latest;
	sum->stream = shape->stream;
}

static struct shown_kernel *add_unnamed(struct kernel_table *table, uint64_t handle)
{
	struct shown_kernel *shown = calloc(1, sizeof(*shown));

	if (!shown)
		return NULL;
	shown->handle = handle;
	shown->serial = table->next_serial++;
	DL_PREPEND2(table->unnamed, shown, prev_unnamed, next_unnamed);
	return shown;
}

static void unlink_unnamed(struct kernel_table *table, struct shown_kernel *shown)
{
	DL_DELETE2(table->unnamed, shown, prev_unnamed, next_unnamed);
}

/* What is kept of a readable name: a mangled one can be made to become sixty times as long. */
static char *cut(const char *name)
{
	char text[KERNEL_NAME_MAX + 1];

	kernel_name__cut(name, text, sizeof(text), KERNEL_NAME_MAX);
	return strdup(text);
}

static int set_strings(struct kernel_table *table, struct shown_kernel *shown, const char *mangled)
{
	char *readable = kernel_name__demangle_within(&table->names_ns, mangled);
	uint64_t begin = clock__thread_ns();
	char *brief = readable ? kernel_name__short(readable) : NULL;

	table->names_ns += clock__thread_ns() - begin;
	shown->mangled = strdup(mangled);
	shown->full = readable ? cut(readable) : NULL;
	shown->brief = brief ? cut(brief) : NULL;
	free(readable);
	free(brief);
	if (shown->mangled && shown->full && shown->brief)
		return 0;
	free_strings(shown);
	return -ENOMEM;
}

/* Gives an unnamed kernel its name, or makes it part of the kernel that has the name already. */
static int name_shown(struct kernel_table *table, struct kernel_handle *handle, const char *mangled)
{
	struct shown_kernel *shown = handle->shown, *known;
	int ret;

	HASH_FIND_STR(table->named, mangled, known);
	if (known) {
		known->folded[0] += shown->folded[0];
		known->folded[1] += shown->folded[1];
		known->folded_missed += shown->folded_missed;
		merge_shape(&known->folded_shape, &shown->folded_shape);
		known->handle = handle->key.handle;
		unlink_unnamed(table, shown);
		free_shown(shown);
		handle->shown = known;
		return 0;
	}
	if (table->name_bytes > NAME_BYTES_MAX)
		return 0;
	ret = set_strings(table, shown, mangled);
	if (ret)
		return ret;
	HASH_ADD_KEYPTR(hh, table->named, shown->mangled, strlen(shown->mangled), shown);
	if (!shown->hh.tbl) {
		free_strings(shown);
		return -ENOMEM;
	}
	table->name_bytes += sizeof(*shown) + strlen(shown->mangled) + strlen(shown->full) + strlen(shown->brief) + 3;
	unlink_unnamed(table, shown);
	return 0;
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
	handle->shown = add_unnamed(table, key->handle);
	if (!handle->shown) {
		free(handle);
		return NULL;
	}
	HASH_ADD(hh, table->handles, key, sizeof(handle->key), handle);
	if (handle->hh.tbl)
		return handle;
	unlink_unnamed(table, handle->shown);
	free_shown(handle->shown);
	free(handle);
	return NULL;
}

static struct launch_count *add_count(struct kernel_table *table, const struct launch_key *key)
{
	struct kernel_handle *handle = take_handle(table, &key->kernel);
	struct launch_count *count = calloc(1, sizeof(*count));

	if (!handle || !count) {
		free(count);
		return NULL;
	}
	count->key = *key;
	count->handle = handle;
	HASH_ADD(hh, table->counts, key, sizeof(count->key), count);
	if (!count->hh.tbl) {
		free(count);
		return NULL;
	}
	handle->counts++;
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
	return name_shown(table, count->handle, name);
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

const char *kernel_table__full_name(const struct kernel_table *table, const struct kernel_key *key,
				    const char **brief)
{
	const struct kernel_handle *handle = find_handle(table, key);

	if (!handle || !handle->shown->mangled)
		return NULL;
	*brief = handle->shown->brief;
	return handle->shown->full;
}

int kernel_table__is_over(const struct kernel_table *table, const struct kernel_key *key)
{
	const struct launch_count *count;

	for (count = table->counts; count; count = count->hh.next)
		if (!count->retired && !memcmp(&count->key.kernel, key, sizeof(*key)))
			return 0;
	return 1;
}

int kernel_table__retire(struct kernel_table *table, const struct launch_key *key)
{
	struct launch_count *count = find_count(table, key);
	int before = count ? count->retired : 1;

	if (count)
		count->retired = 1;
	return before;
}

/* Without memory it is forgotten: only its name in a sequence of launches is then missing. */
static void remember(struct kernel_table *table, const struct kernel_handle *handle)
{
	struct past_handle *past;

	HASH_FIND(hh, table->past, &handle->key.handle, sizeof(handle->key.handle), past);
	if (!past && HASH_COUNT(table->past) >= PAST_HANDLES)
		past = table->past;
	if (past)
		HASH_DEL(table->past, past);
	else
		past = calloc(1, sizeof(*past));
	if (!past)
		return;
	*past = (struct past_handle){.handle = handle->key.handle, .shown = handle->shown};
	HASH_ADD(hh, table->past, handle, sizeof(past->handle), past);
	if (!past->hh.tbl)
		free(past);
}

bool kernel_table__knows(const struct kernel_table *table, uint64_t handle, const char **brief)
{
	const struct kernel_handle *at, *latest = NULL;
	const struct past_handle *past;

	for (at = table->handles; at; at = at->hh.next)
		if (at->key.handle == handle && (!latest || at->key.generation > latest->key.generation))
			latest = at;
	HASH_FIND(hh, table->past, &handle, sizeof(handle), past);
	*brief = latest ? latest->shown->brief : (past ? past->shown->brief : NULL);
	return latest || past;
}

static void fold_handle(struct kernel_table *table, struct kernel_handle *handle)
{
	merge_shape(&handle->shown->folded_shape, &handle->shape);
	remember(table, handle);
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
	count->retired = 1;
}

/* A thread that moves its counts to the map may have them nowhere for a moment. */
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

uint64_t kernel_table__miss(struct kernel_table *table, const struct missed_share *share, double *rest,
			    uint64_t missed[2])
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
		/* The key goes with the count. */
		const struct launch_key key = count->key;

		if (count->leaves && !ret)
			ret = kernel_table__fold(table, &key);
	}
	return ret;
}

static int by_launches(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;

	if (x->launches != y->launches)
		return x->launches < y->launches ? 1 : -1;
	/* How they come out of the map is chance: one run's report compares with another's. */
	if (x->name && y->name && strcmp(x->name, y->name))
		return strcmp(x->name, y->name);
	if (!x->name != !y->name)
		return x->name ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static void append(struct process *process, const struct shown_kernel *shown)
{
	/* Its shape may be known before its launches are. */
	if (!shown->mangled && !shown->current[0] && !shown->current[1])
		return;
	process->kernels[process->kernel_count++] = (struct kernel){
		.handle = shown->handle,
		.name = shown->full,
		.short_name = shown->brief,
		.launches = shown->current[0],
		.captured = shown->current[1],
		.missed = shown->current_missed,
		.shape = shown->current_shape,
		.serial = shown->serial,
	};
	process->launches += shown->current[0];
	process->captured_launches += shown->current[1];
}

static int sum_by_device(const struct kernel_table *table, struct process *process)
{
	const struct launch_count *count;
	struct device_totals *totals;

	for (size_t i = 0; i < table->folded_count; i++) {
		totals = device_totals__of(&process->devices, &process->device_count, table->folded[i].device);
		if (!totals)
			return -ENOMEM;
		totals->launches += table->folded[i].launches;
	}
	for (count = table->counts; count; count = count->hh.next) {
		if (count->key.captured)
			continue;
		totals = device_totals__of(&process->devices, &process->device_count, count->key.device);
		if (!totals)
			return -ENOMEM;
		totals->launches += count->launches + count->missed;
	}
	return 0;
}

static void begin_sum(struct shown_kernel *shown)
{
	memcpy(shown->current, shown->folded, sizeof(shown->current));
	shown->current_missed = shown->folded_missed;
	shown->current_shape = shown->folded_shape;
}

/* What handles that are gone counted, and what those that are there do. */
static void sum_up(struct kernel_table *table)
{
	struct shown_kernel *shown;
	struct kernel_handle *handle;
	struct launch_count *count;

	for (shown = table->unnamed; shown; shown = shown->next_unnamed)
		begin_sum(shown);
	for (shown = table->named; shown; shown = shown->hh.next)
		begin_sum(shown);
	for (handle = table->handles; handle; handle = handle->hh.next)
		merge_shape(&handle->shown->current_shape, &handle->shape);
	for (count = table->counts; count; count = count->hh.next) {
		count->handle->shown->current[!!count->key.captured] += count->launches + count->missed;
		count->handle->shown->current_missed += count->missed;
	}
}

int kernel_table__list(struct kernel_table *table, struct process *process)
{
	size_t count = HASH_COUNT(table->named);
	struct shown_kernel *shown, *next;
	struct kernel *list;

	for (shown = table->unnamed; shown; shown = shown->next_unnamed)
		count++;
	sum_up(table);
	if (sum_by_device(table, process))
		return -ENOMEM;
	list = realloc(process->kernels, (count ? count : 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	process->kernels = list;
	process->kernel_count = 0;
	process->launches = 0;
	process->captured_launches = 0;
	HASH_ITER (hh, table->named, shown, next) {
		append(process, shown);
	}
	for (shown = table->unnamed; shown; shown = shown->next_unnamed)
		append(process, shown);
	qsort(list, process->kernel_count, sizeof(*list), by_launches);
	return 0;
}

void kernel_table__clear_list(struct process *process)
{
	free(process->kernels);
	process->kernels = NULL;
	process->kernel_count = 0;
}
