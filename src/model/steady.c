// SPDX-License-Identifier: BSD-2-Clause
// What was counted in the steady time of a process, see steady.h.
#include "model/steady.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"
#include "model/sites.h"
#include "model/steps.h"

#define UNPROVEN_NS 1000000000ull

/* A list at that time, ordered by key. */
struct kept_list {
	void *items;
	size_t count;
};

/* Everything counted up to a reading. */
struct steady_base {
	uint64_t ns;
	int mark;	  /* mark of the call sites */
	struct load load; /* NVML's part covers all readings up to then */
	struct kept_list threads, functions, sizes, copies, repeats, totals;
	struct process_profile shared;
	struct covered_totals covered[COPY_KINDS];
};

/*
 * bases[0] is from the process's first work. The others are the latest ones; each covers half as
 * much time again as the one before.
 */
struct steady {
	struct steady_base *bases[STEADY_BASES];
	size_t count;
	uint64_t worked_ns; /* the first reading with work */
	struct load use;    /* only NVML's utilization, over all readings */
};

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

/* --- the base --- */

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

static const void *find(const struct kept_list *list, const void *item, size_t size,
			int (*order)(const void *a, const void *b))
{
	return list->count ? bsearch(item, list->items, list->count, size, order) : NULL;
}

static void free_base(struct steady_base *base)
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

void steady__free(struct steady *steady)
{
	for (size_t i = 0; steady && i < steady->count; i++)
		free_base(steady->bases[i]);
	free(steady);
}

size_t steady__bytes(const struct steady *steady)
{
	size_t bytes = steady ? sizeof(*steady) : 0;

	for (size_t i = 0; steady && i < steady->count; i++) {
		const struct steady_base *base = steady->bases[i];

		bytes += sizeof(*base) + base->threads.count * sizeof(struct thread_profile) +
			 base->functions.count * sizeof(struct profile_function) +
			 base->sizes.count * sizeof(struct profile_size) +
			 base->copies.count * sizeof(struct profile_copies) +
			 base->repeats.count * sizeof(struct profile_repeat) +
			 base->totals.count * sizeof(struct function_totals);
	}
	return bytes;
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

static struct steady_base *new_base(const struct process *process, const struct load *load)
{
	struct steady_base *base = calloc(1, sizeof(*base));

	if (!base)
		return NULL;
	base->ns = load->ns;
	base->load = *load;
	if (keep_all(base, process))
		return base;
	free_base(base);
	return NULL;
}

/* --- which readings are kept --- */

/* The start of the steady time, if every reading were kept. */
static uint64_t moment_of(const struct process *process, uint64_t end_ns)
{
	uint64_t first_ns = process->profile->steady->bases[0]->ns,
		 start_ns = end_ns > first_ns ? (end_ns - first_ns) / 2 : 0;
	struct step_summary steps;

	step_summary__make(process, &steps);
	if (steps.phase)
		return step_phase__steady_ns(steps.phase);
	if (process->since_attach)
		return first_ns;
	return first_ns + (start_ns < START_MOST_NS ? start_ns : START_MOST_NS);
}

static const struct steady_base *base_from(const struct steady *steady, uint64_t from_ns)
{
	for (size_t i = 0; i < steady->count; i++)
		if (steady->bases[i]->ns >= from_ns)
			return steady->bases[i];
	return NULL;
}

/*
 * Whether there is a reading after the first steps of each phase: any phase may turn out to be the
 * main one.
 */
static bool has_all_phases(const struct steady *steady, const struct step_thread *thread)
{
	for (size_t i = 0; i < thread->phase_count; i++)
		if (thread->phases[i].steps &&
		    !base_from(steady, step_phase__steady_ns(&thread->phases[i])))
			return false;
	return true;
}

/* If the steps are known, one reading after the first of them is enough. */
static bool is_worth_keeping(const struct process *process, const struct steady *steady,
			     uint64_t now_ns)
{
	struct step_summary steps;
	uint64_t first_ns, latest_ns;

	if (!steady->count)
		return true;
	step_summary__make(process, &steps);
	if (steps.thread)
		return !has_all_phases(steady, steps.thread);
	first_ns = steady->bases[0]->ns;
	latest_ns = steady->bases[steady->count - 1]->ns - first_ns;
	return latest_ns < START_MOST_NS && now_ns > first_ns &&
	       2 * (now_ns - first_ns) >= 3 * latest_ns;
}

/* Makes room for a reading; the first one is kept. Returns the mark that is free now. */
static int make_room(struct steady *steady)
{
	int mark = (int)steady->count;

	if (steady->count < STEADY_BASES)
		return mark;
	mark = steady->bases[1]->mark;
	free_base(steady->bases[1]);
	steady->count--;
	for (size_t i = 1; i < steady->count; i++)
		steady->bases[i] = steady->bases[i + 1];
	return mark;
}

/*
 * A process that was running before gpuprobe has unknown work in its queues: no idle time is proven
 * for two seconds (EARLIER_WORK_NS of bpf/profile/queue.bpf.h). One of these has usually passed by
 * the first reading with work.
 */
static bool proves_nothing(const struct process *process, uint64_t now_ns)
{
	return process->since_attach && now_ns < process->profile->steady->worked_ns + UNPROVEN_NS;
}

static int keep_reading(struct process *process, const struct load *load)
{
	struct steady *steady = process->profile->steady;
	struct steady_base *base = new_base(process, load);

	if (!base)
		return -ENOMEM;
	base->mark = make_room(steady);
	steady->bases[steady->count++] = base;
	if (process->site_table)
		site_table__mark(process->site_table, base->mark);
	return 0;
}

int steady__follow(const struct model *model, struct process *process)
{
	struct profile *profile = process->profile;
	struct load load;

	if (process->ended)
		return 0;
	load__of(process, model->now_ns, &load);
	if (!load.launches && !load.copies)
		return 0;
	if (!profile->steady)
		profile->steady = calloc(1, sizeof(*profile->steady));
	if (!profile->steady)
		return -ENOMEM;
	load__add_use(model, process, &profile->steady->use);
	load.busy_percent = profile->steady->use.busy_percent;
	load.busy_readings = profile->steady->use.busy_readings;
	if (!profile->steady->worked_ns)
		profile->steady->worked_ns = load.ns;
	if (proves_nothing(process, load.ns))
		return 0;
	return is_worth_keeping(process, profile->steady, load.ns) ? keep_reading(process, &load) :
								     0;
}

/* --- which reading the steady time begins with --- */

/* NULL: not known to be steady. */
static const struct steady_base *base_of(const struct process *process, uint64_t now_ns)
{
	uint64_t end_ns = process->ended ? process->ended_ns : now_ns;
	const struct steady_base *base;

	if (!process->profile || !process->profile->steady || !process->profile->steady->count)
		return NULL;
	base = base_from(process->profile->steady, moment_of(process, end_ns));
	return base && end_ns >= base->ns + STEADY_LEAST_NS ? base : NULL;
}

uint64_t steady__since_ns(const struct process *process, uint64_t now_ns)
{
	const struct steady_base *base = base_of(process, now_ns);

	return base ? base->ns : 0;
}

int steady__mark(const struct process *process, uint64_t now_ns)
{
	const struct steady_base *base = base_of(process, now_ns);

	return base ? base->mark : -1;
}

bool steady__load(const struct process *process, uint64_t now_ns, struct load *load)
{
	const struct steady_base *base = base_of(process, now_ns);
	struct load now;

	if (!base)
		return false;
	load__of(process, now_ns, &now);
	now.busy_percent = process->profile->steady->use.busy_percent;
	now.busy_readings = process->profile->steady->use.busy_readings;
	load__since(&now, &base->load, load);
	return true;
}

void steady__marks(const struct process *process, uint64_t now_ns, struct steady_marks *marks)
{
	const struct steady *steady = process->profile ? process->profile->steady : NULL;

	*marks = (struct steady_marks){.mark = steady__mark(process, now_ns)};
	for (size_t i = 0; steady && i < steady->count; i++)
		marks->ns[steady->bases[i]->mark] = steady->bases[i]->ns;
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

/* --- the view --- */

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

static bool copy(void *items, size_t count, size_t size, void **out)
{
	*out = malloc(count * size + 1);
	if (*out && count)
		memcpy(*out, items, count * size);
	return *out;
}

/* Copies the lists that the view changes; it shares the rest with the process. */
static bool copy_lists(const struct process *process, struct process *view)
{
	const struct profile *from = process->profile;
	struct profile *to = view->profile;

	return copy(from->threads, from->thread_count, sizeof(*from->threads),
		    (void **)&to->threads) &&
	       copy(from->functions, from->function_count, sizeof(*from->functions),
		    (void **)&to->functions) &&
	       copy(from->sizes, from->size_count, sizeof(*from->sizes), (void **)&to->sizes) &&
	       copy(from->copies, from->copy_count, sizeof(*from->copies), (void **)&to->copies) &&
	       copy(from->repeats, from->repeat_count, sizeof(*from->repeats),
		    (void **)&to->repeats) &&
	       copy(process->functions, process->function_count, sizeof(*process->functions),
		    (void **)&view->functions);
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

int steady__view(const struct process *process, uint64_t now_ns, struct process *view)
{
	const struct steady_base *base = base_of(process, now_ns);

	if (!base)
		return -EINVAL;
	*view = *process;
	view->functions = NULL;
	view->profile = malloc(sizeof(*view->profile));
	if (!view->profile)
		return -ENOMEM;
	*view->profile = *process->profile;
	view->profile->threads = NULL;
	view->profile->functions = NULL;
	view->profile->sizes = NULL;
	view->profile->copies = NULL;
	view->profile->repeats = NULL;
	if (!copy_lists(process, view)) {
		steady__clear_view(view);
		return -ENOMEM;
	}
	take_lists(view, base);
	take_process(view, base);
	return 0;
}

void steady__clear_view(struct process *view)
{
	free(view->functions);
	if (!view->profile)
		return;
	free(view->profile->threads);
	free(view->profile->functions);
	free(view->profile->sizes);
	free(view->profile->copies);
	free(view->profile->repeats);
	free(view->profile);
}
