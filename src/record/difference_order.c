// SPDX-License-Identifier: BSD-2-Clause
// Orders lists of a difference again: what was most before need not be most in it, see
// difference.h.
#include <stdlib.h>

#include "model/profile.h"
#include "record/difference.h"

/* The larger number first. */
static int compare(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int by_launches(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;
	int order = compare(x->launches, y->launches);

	return order ? order : compare(y->serial, x->serial);
}

static int by_runs(const void *a, const void *b)
{
	const struct graph_run *x = a, *y = b;
	int order = compare(x->launches, y->launches);

	return order ? order : compare(y->kernels, x->kernels);
}

/* The shared entry is the last one. */
static int by_failures(const void *a, const void *b)
{
	const struct failure *x = a, *y = b;

	if (x->is_rest != y->is_rest)
		return x->is_rest ? 1 : -1;
	return compare(x->count, y->count);
}

static uint64_t weight_of(const struct call_site *site)
{
	return site->kind == SITE_LAUNCH || site->kind == SITE_FAILURE ? site->calls : site->amount;
}

static int by_site(const void *a, const void *b)
{
	const struct call_site *x = a, *y = b;
	int order = compare(y->kind, x->kind);

	order = order ? order : compare(weight_of(x), weight_of(y));
	return order ? order : compare(x->calls, y->calls);
}

static int by_time(const void *a, const void *b)
{
	const struct profile_function *x = a, *y = b;
	int order = compare(profile_function__ns(x), profile_function__ns(y));

	return order ? order : compare(y->row, x->row);
}

static int by_size(const void *a, const void *b)
{
	const struct size_record *x = &((const struct profile_size *)a)->record,
				 *y = &((const struct profile_size *)b)->record;

	return compare(x->allocation_ns + x->free_ns, y->allocation_ns + y->free_ns);
}

static int by_repeat(const void *a, const void *b)
{
	const struct profile_repeat *x = a, *y = b;

	return compare(x->record.repeat_ns, y->record.repeat_ns);
}

static int by_bytes(const void *a, const void *b)
{
	const struct profile_mapped *x = a, *y = b;

	return compare(x->record.bytes, y->record.bytes);
}

static int by_calls(const void *a, const void *b)
{
	const struct profile_ignored *x = a, *y = b;

	return compare(x->record.calls, y->record.calls);
}

static void sort(void *items, size_t count, size_t size, int (*order)(const void *a, const void *b))
{
	if (count > 1)
		qsort(items, count, size, order);
}

#define SORT(items, count, order) sort(items, count, sizeof(*(items)), order)

static void sort_profile(struct profile *profile)
{
	SORT(profile->functions, profile->function_count, by_time);
	SORT(profile->sizes, profile->size_count, by_size);
	SORT(profile->repeats, profile->repeat_count, by_repeat);
	SORT(profile->mapped, profile->mapped_count, by_bytes);
	SORT(profile->ignored, profile->ignored_count, by_calls);
}

void differ__sort(struct process *process)
{
	SORT(process->kernels, process->kernel_count, by_launches);
	SORT(process->graph_runs, process->graph_run_count, by_runs);
	SORT(process->failures, process->failure_count, by_failures);
	SORT(process->sites, process->site_count, by_site);
	if (process->sites)
		SORT(process->sites + process->site_count, process->object_call_count, by_site);
	if (process->profile)
		sort_profile(process->profile);
}
