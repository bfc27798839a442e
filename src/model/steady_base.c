// SPDX-License-Identifier: BSD-2-Clause
// What a process had counted up to a reading, see steady_base.h.
#include "model/steady_base.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"

/* --- keys --- */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_thread(const void *a, const void *b)
{
	const struct thread_profile *x = a, *y = b;
	int order = compare((uint64_t)x->tid, (uint64_t)y->tid);

	return order ? order : compare(x->first_ns, y->first_ns);
}

static int by_row(const void *a, const void *b)
{
	return compare(((const struct profile_function *)a)->row,
		       ((const struct profile_function *)b)->row);
}

static int by_size(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct size_key));
}

static int by_copies(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct copy_size_key));
}

static int by_repeat(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct repeat_key));
}

static int by_function(const void *a, const void *b)
{
	const struct function_totals *x = a, *y = b;
	int order = compare(x->row, y->row);

	order = order ? order : compare(x->flags, y->flags);
	order = order ? order : compare(x->kind, y->kind);
	return order ? order : compare(x->device, y->device);
}

/* --- keeping --- */

static bool keep(struct kept_list *list, const void *items, size_t count, size_t size,
		 int (*order)(const void *a, const void *b))
{
	list->items = malloc(count * size + 1);
	if (!list->items)
		return false;
	list->count = count;
	if (!count)
		return true;
	memcpy(list->items, items, count * size);
	qsort(list->items, count, size, order);
	return true;
}

static void sort_kept(struct kept_list *list, size_t size,
		      int (*order)(const void *a, const void *b))
{
	if (list->count)
		qsort(list->items, list->count, size, order);
}

void steady_base__sort(struct steady_base *base)
{
	sort_kept(&base->threads, sizeof(struct thread_profile), by_thread);
	sort_kept(&base->functions, sizeof(struct profile_function), by_row);
	sort_kept(&base->sizes, sizeof(struct profile_size), by_size);
	sort_kept(&base->copies, sizeof(struct profile_copies), by_copies);
	sort_kept(&base->repeats, sizeof(struct profile_repeat), by_repeat);
	sort_kept(&base->totals, sizeof(struct function_totals), by_function);
}

static const void *find(const struct kept_list *list, const void *item, size_t size,
			int (*order)(const void *a, const void *b))
{
	return list->count ? bsearch(item, list->items, list->count, size, order) : NULL;
}

void steady_base__free(struct steady_base *base)
{
	if (!base)
		return;
	free(base->threads.items);
	free(base->functions.items);
	free(base->sizes.items);
	free(base->copies.items);
	free(base->repeats.items);
	free(base->totals.items);
	free(base);
}

size_t steady_base__bytes(const struct steady_base *base)
{
	return sizeof(*base) + base->threads.count * sizeof(struct thread_profile) +
	       base->functions.count * sizeof(struct profile_function) +
	       base->sizes.count * sizeof(struct profile_size) +
	       base->copies.count * sizeof(struct profile_copies) +
	       base->repeats.count * sizeof(struct profile_repeat) +
	       base->totals.count * sizeof(struct function_totals);
}

static bool keep_all(struct steady_base *base, const struct process *process)
{
	const struct profile *profile = process->profile;

	base->shared = profile->totals;
	memcpy(base->covered, process->covered, sizeof(base->covered));
	return keep(&base->threads, profile->threads, profile->thread_count,
		    sizeof(*profile->threads), by_thread) &&
	       keep(&base->functions, profile->functions, profile->function_count,
		    sizeof(*profile->functions), by_row) &&
	       keep(&base->sizes, profile->sizes, profile->size_count, sizeof(*profile->sizes),
		    by_size) &&
	       keep(&base->copies, profile->copies, profile->copy_count, sizeof(*profile->copies),
		    by_copies) &&
	       keep(&base->repeats, profile->repeats, profile->repeat_count,
		    sizeof(*profile->repeats), by_repeat) &&
	       keep(&base->totals, process->functions, process->function_count,
		    sizeof(*process->functions), by_function);
}

struct steady_base *steady_base__new(const struct process *process, const struct load *load)
{
	struct steady_base *base = calloc(1, sizeof(*base));

	if (!base)
		return NULL;
	base->ns = load->ns;
	base->load = *load;
	if (keep_all(base, process))
		return base;
	steady_base__free(base);
	return NULL;
}

/* --- differences since then --- */

static void subtract(uint64_t *from, uint64_t less)
{
	*from = *from > less ? *from - less : 0;
}

static void subtract_all(uint64_t *from, const uint64_t *less, size_t count)
{
	for (size_t i = 0; i < count; i++)
		subtract(&from[i], less[i]);
}

static void subtract_totals(struct time_totals *from, const struct time_totals *less, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		subtract((uint64_t *)&from[i].calls, less[i].calls);
		subtract((uint64_t *)&from[i].ns, less[i].ns);
	}
}

#define SUBTRACT(from, less, member) subtract((uint64_t *)&(from)->member, (less)->member)
#define SUBTRACT_TIME(from, less, member) subtract_totals(&(from)->member, &(less)->member, 1)
#define SUBTRACT_TIMES(from, less, member, count) \
	subtract_totals((from)->member, (less)->member, count)

static void subtract_waits(struct thread_profile *thread, const struct thread_profile *before)
{
	SUBTRACT_TIME(thread, before, single_waits);
	SUBTRACT_TIME(thread, before, bare_waits);
	SUBTRACT_TIME(thread, before, batch_waits);
	SUBTRACT_TIMES(thread, before, implicit, IMPLICIT_WAITS);
	SUBTRACT_TIME(thread, before, legacy_waits);
	SUBTRACT(thread, before, idle_gaps);
	SUBTRACT(thread, before, idle_ns);
	SUBTRACT(thread, before, idle_inside_ns);
}

static void subtract_launches(struct thread_profile *thread, const struct thread_profile *before)
{
	SUBTRACT(thread, before, launches);
	SUBTRACT(thread, before, gap_count);
	SUBTRACT(thread, before, gap_ns);
	SUBTRACT_TIME(thread, before, chained);
	SUBTRACT(thread, before, chained_gap_ns);
	SUBTRACT(thread, before, legacy_launches);
	SUBTRACT(thread, before, legacy_behind);
	SUBTRACT(thread, before, legacy_crossings);
	subtract_all((uint64_t *)thread->gaps, (const uint64_t *)before->gaps, TIME_BUCKETS);
}

static void take_thread(struct thread_profile *thread, const struct steady_base *base)
{
	const struct thread_profile *before =
		find(&base->threads, thread, sizeof(*thread), by_thread);

	if (!before)
		return;
	SUBTRACT_TIMES(thread, before, time, TIME_CLASSES);
	subtract_launches(thread, before);
	subtract_waits(thread, before);
	/* The longest gap may have been earlier. */
	if (!thread->idle_gaps)
		thread->idle_max_ns = thread->idle_stack = 0;
	thread->first_ns = base->ns;
}

static void take_function(struct profile_function *function, const struct steady_base *base)
{
	const struct profile_function *before =
		find(&base->functions, function, sizeof(*function), by_row);

	if (!before)
		return;
	SUBTRACT(function, before, time.calls);
	SUBTRACT(function, before, time.ns);
	SUBTRACT(function, before, time.unfinished_ns);
	subtract_all((uint64_t *)function->time.buckets, (const uint64_t *)before->time.buckets,
		     TIME_BUCKETS);
	SUBTRACT(function, before, missed);
	SUBTRACT(function, before, missed_ns);
}

static void take_size(struct profile_size *size, const struct steady_base *base)
{
	const struct profile_size *before = find(&base->sizes, size, sizeof(*size), by_size);
	struct size_record *record = &size->record;

	if (!before)
		return;
	SUBTRACT(record, &before->record, allocations);
	SUBTRACT(record, &before->record, allocation_ns);
	SUBTRACT(record, &before->record, frees);
	SUBTRACT(record, &before->record, free_ns);
	/* The process's first allocation is not included, so none stands out: use the mean. */
	record->first_took_ns =
		record->allocations ? record->allocation_ns / record->allocations : 0;
}

static void take_copies(struct profile_copies *copies, const struct steady_base *base)
{
	const struct profile_copies *before =
		find(&base->copies, copies, sizeof(*copies), by_copies);

	if (!before)
		return;
	subtract_all((uint64_t *)copies->record.calls, (const uint64_t *)before->record.calls,
		     COPY_SIZES);
	subtract_all((uint64_t *)copies->record.bytes, (const uint64_t *)before->record.bytes,
		     COPY_SIZES);
	subtract_all((uint64_t *)copies->record.ns, (const uint64_t *)before->record.ns,
		     COPY_SIZES);
}

static void take_repeat(struct profile_repeat *repeat, const struct steady_base *base)
{
	const struct profile_repeat *before =
		find(&base->repeats, repeat, sizeof(*repeat), by_repeat);

	if (!before)
		return;
	SUBTRACT(&repeat->record, &before->record, copies);
	SUBTRACT(&repeat->record, &before->record, repeats);
	SUBTRACT(&repeat->record, &before->record, repeat_ns);
}

static void take_totals(struct function_totals *totals, const struct steady_base *base)
{
	const struct function_totals *before =
		find(&base->totals, totals, sizeof(*totals), by_function);

	if (!before)
		return;
	SUBTRACT(totals, before, calls);
	SUBTRACT(totals, before, failures);
	SUBTRACT(totals, before, bytes);
	SUBTRACT(totals, before, ns);
	SUBTRACT(totals, before, other_ns);
}

static void take_process(struct process *view, const struct steady_base *base)
{
	struct process_profile *shared = &view->profile->totals;

	subtract_totals(shared->repeats, base->shared.repeats, 2);
	subtract_all((uint64_t *)shared->repeat_bytes, (const uint64_t *)base->shared.repeat_bytes,
		     2);
	SUBTRACT_TIME(shared, &base->shared, asks);
	for (int kind = 0; kind < COPY_KINDS; kind++) {
		SUBTRACT(&view->covered[kind], &base->covered[kind], calls);
		SUBTRACT(&view->covered[kind], &base->covered[kind], bytes);
		SUBTRACT(&view->covered[kind], &base->covered[kind], ns);
	}
}

static int by_function_time(const void *a, const void *b)
{
	return compare(profile_function__ns(b), profile_function__ns(a));
}

static int by_size_time(const void *a, const void *b)
{
	const struct size_record *x = &((const struct profile_size *)a)->record,
				 *y = &((const struct profile_size *)b)->record;

	return compare(y->allocation_ns + y->free_ns, x->allocation_ns + x->free_ns);
}

static int by_repeat_time(const void *a, const void *b)
{
	return compare(((const struct profile_repeat *)b)->record.repeat_ns,
		       ((const struct profile_repeat *)a)->record.repeat_ns);
}

static void sort(void *items, size_t count, size_t size, int (*order)(const void *a, const void *b))
{
	if (count)
		qsort(items, count, size, order);
}

static void take_lists(struct process *view, const struct steady_base *base)
{
	struct profile *profile = view->profile;

	for (size_t i = 0; i < profile->thread_count; i++)
		take_thread(&profile->threads[i], base);
	for (size_t i = 0; i < profile->function_count; i++)
		take_function(&profile->functions[i], base);
	for (size_t i = 0; i < profile->size_count; i++)
		take_size(&profile->sizes[i], base);
	for (size_t i = 0; i < profile->copy_count; i++)
		take_copies(&profile->copies[i], base);
	for (size_t i = 0; i < profile->repeat_count; i++)
		take_repeat(&profile->repeats[i], base);
	for (size_t i = 0; i < view->function_count; i++)
		take_totals(&view->functions[i], base);
	sort(profile->functions, profile->function_count, sizeof(*profile->functions),
	     by_function_time);
	sort(profile->sizes, profile->size_count, sizeof(*profile->sizes), by_size_time);
	sort(profile->repeats, profile->repeat_count, sizeof(*profile->repeats), by_repeat_time);
}

void steady_base__subtract(const struct steady_base *base, struct process *view)
{
	take_lists(view, base);
	take_process(view, base);
}
