// SPDX-License-Identifier: BSD-2-Clause
// What submitting threads did otherwise, see host_reasons.h.
#include "finding/host_reasons.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/user_line.h"

/* share of the threads' time: a process waits for whatever takes at least this much */
#define MOSTLY 0.5

/* --- merging --- */

static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_lines(const struct stack_frame *a, const struct stack_frame *b)
{
	int order;

	if (!a || !b)
		return (a != NULL) - (b != NULL);
	order = compare_texts(a->file, b->file);
	if (!order)
		order = compare_texts(a->function, b->function);
	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	return order;
}

/* A cgroup limit or a busy CPU affects any line: it is one reason. */
static bool is_anywhere(uint8_t kind)
{
	return kind == HOST_THROTTLED || kind == HOST_READY;
}

static int by_location(const void *a, const void *b)
{
	const struct host_reason *x = a, *y = b;

	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	return is_anywhere(x->kind) ? 0 : compare_lines(x->line, y->line);
}

/* An idle library thread says less than a line of the program. */
static int by_time(const void *a, const void *b)
{
	const struct host_reason *x = a, *y = b;

	if (!x->line != !y->line)
		return x->line ? -1 : 1;

	if (x->rank_ns != y->rank_ns)
		return x->rank_ns < y->rank_ns ? 1 : -1;
	if (x->line_ns != y->line_ns)
		return x->line_ns < y->line_ns ? 1 : -1;
	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : by_location(a, b);
}

/*
 * Waits for locks at several lines are one problem, and so are allocations; time on the CPU is kept
 * by line.
 */
static void sum_kinds(struct host_reasons *reasons)
{
	uint64_t sums[HOST_KINDS] = {0};

	for (size_t i = 0; i < reasons->count; i++)
		sums[reasons->items[i].kind] += reasons->items[i].ns;
	for (size_t i = 0; i < reasons->count; i++) {
		struct host_reason *reason = &reasons->items[i];

		reason->kind_ns = reason->kind == HOST_CPU ? reason->ns : sums[reason->kind];
	}
}

/* Time on the CPU at a line, plus the launches there. The reasons are ordered by location. */
static uint64_t launching_ns(const struct host_reasons *reasons, const struct host_reason *cpu)
{
	const struct host_reason key = {.kind = HOST_IN_LAUNCH, .line = cpu->line}, *launches;

	launches =
		bsearch(&key, reasons->items, reasons->count, sizeof(*reasons->items), by_location);
	return cpu->ns + (launches ? launches->ns : 0);
}

/*
 * Kinds are ranked by their time. Waits for the GPU come last, because the GPU works meanwhile. The
 * first line on the CPU is the one that takes most together with its launches, because the
 * framework's work for a launch belongs to it. That line gets the rank of the line that takes most
 * without launches.
 */
static void rank(struct host_reasons *reasons)
{
	struct host_reason *first = NULL;
	uint64_t most_ns = 0;

	for (size_t i = 0; i < reasons->count; i++) {
		struct host_reason *reason = &reasons->items[i];

		reason->rank_ns = reason->kind == HOST_IN_WAIT ? 0 : reason->kind_ns;
		if (reason->kind != HOST_CPU || !reason->line)
			continue;
		reason->line_ns = launching_ns(reasons, reason);
		most_ns = reason->ns > most_ns ? reason->ns : most_ns;
		if (!first || reason->line_ns > first->line_ns)
			first = reason;
	}
	if (first)
		first->rank_ns = most_ns;
}

/* Whether the other location is the better one to show; one without a line has no information. */
static bool reports_more(const struct host_reason *other, const struct host_reason *reason)
{
	if (!other->line != !reason->line)
		return other->line;
	if (!other->stack != !reason->stack)
		return other->stack;
	return other->location_ns > reason->location_ns;
}

static void merge(struct host_reason *into, const struct host_reason *other)
{
	struct host_reason sum = reports_more(other, into) ? *other : *into;

	sum.ns = into->ns + other->ns;
	sum.times = into->times + other->times;
	sum.calls = into->calls + other->calls;
	*into = sum;
}

static void merge_all(struct host_reasons *reasons)
{
	size_t kept = 0;

	if (!reasons->count)
		return;
	qsort(reasons->items, reasons->count, sizeof(*reasons->items), by_location);
	for (size_t i = 1; i < reasons->count; i++) {
		if (!by_location(&reasons->items[kept], &reasons->items[i]))
			merge(&reasons->items[kept], &reasons->items[i]);
		else
			reasons->items[++kept] = reasons->items[i];
	}
	reasons->count = kept + 1;
	sum_kinds(reasons);
	rank(reasons);
	qsort(reasons->items, reasons->count, sizeof(*reasons->items), by_time);
}

/* --- reasons from locations --- */

/*
 * A thread woken while its cgroup has no quota left is also runnable. If the cgroup was throttled
 * for half of the runnable time or more, most of that time is due to the limit.
 */
static bool is_limited(const struct host_process *process)
{
	uint64_t ready_ns = 0;

	for (size_t i = 0; i < process->thread_count; i++)
		for (size_t n = 0;
		     process->threads[i].submits && n < process->threads[i].location_count; n++)
			if (process->threads[i].locations[n].activity == ACTIVITY_READY)
				ready_ns += process->threads[i].locations[n].ns;
	return process->limit_known && process->limited_ns > ready_ns / 2;
}

/*
 * Off the CPU each time is one block. Samples and preemptions do not show how often something is
 * done.
 */
static bool counts_blocks(enum host_kind kind)
{
	return kind >= HOST_LOCK && kind != HOST_READY && kind != HOST_THROTTLED;
}

static void add(struct host_reasons *reasons, const struct host_thread *thread,
		const struct host_location *location, bool limited)
{
	enum host_kind kind = host_kind__of(location, limited);

	reasons->items[reasons->count++] = (struct host_reason){
		.kind = (uint8_t)kind,
		.ns = location->ns,
		.times = location->times,
		.calls = counts_blocks(kind) ? location->times : 0,
		.line = user_line__find(location->stack),
		.stack = location->stack,
		.location_ns = location->ns,
		.activity = location->activity,
		.call_name = location->call_name,
		.thread = thread,
	};
	reasons->ns += location->ns;
	reasons->known_ns += location->stack ? location->ns : 0;
	reasons->stopped_ns += kind == HOST_STOPPED ? location->ns : 0;
	reasons->stopped_waiting_ns +=
		kind == HOST_STOPPED && location->class == HOST_WAITS ? location->ns : 0;
}

static size_t count_locations(const struct host_process *process)
{
	size_t count = 0;

	for (size_t i = 0; i < process->thread_count; i++)
		count += process->threads[i].submits ? process->threads[i].location_count : 0;
	return count;
}

/* A wait for another submitting thread is not counted: that thread's activity counts instead. */
static void add_thread(struct host_reasons *reasons, const struct host_thread *thread, bool limited)
{
	for (size_t i = 0; thread->submits && i < thread->location_count; i++)
		if (thread->locations[i].activity != ACTIVITY_TEAM)
			add(reasons, thread, &thread->locations[i], limited);
}

/*
 * If the steady time begins with the program, threads are followed for only part of it: costs per
 * step refer to that part.
 */
static double take_followed_part(const struct host_process *host, struct step_cost *cost)
{
	uint64_t longest_ns = 0;
	double part;

	for (size_t i = 0; i < host->thread_count; i++)
		if (host->threads[i].submits && host->threads[i].watched_ns > longest_ns)
			longest_ns = host->threads[i].watched_ns;
	if (longest_ns >= cost->window_ns)
		return 1;
	part = (double)longest_ns / (double)cost->window_ns;
	cost->window_ns = longest_ns;
	cost->steps *= part;
	return part;
}

/*
 * Waits and copies have call counts of their own if their stacks are taken. These cover the whole
 * steady time, of which the threads were followed for `part`.
 */
static void count_calls(struct host_reason *reason, const struct process *process, double part)
{
	enum site_kind kind = reason->kind == HOST_IN_WAIT ? SITE_WAIT : SITE_COPY;
	uint64_t calls = 0;

	if (!reason->line || (reason->kind != HOST_IN_WAIT && reason->kind != HOST_IN_COPY))
		return;
	for (size_t i = 0; i < process->site_count; i++) {
		const struct call_site *site = &process->sites[i];

		if (site->kind == kind &&
		    !compare_lines(user_line__find(site->stack), reason->line))
			calls += site->calls - site->early_calls;
	}
	reason->calls = (uint64_t)((double)calls * part + 0.5);
}

int host_reasons__of(const struct process *process, uint64_t now_ns, struct host_reasons *out)
{
	const struct host_process *host = process->host;
	double part;

	*out = (struct host_reasons){.process = host, .cost = step_cost__of(process, now_ns)};
	if (!host)
		return 0;
	out->items = calloc(count_locations(host) + 1, sizeof(*out->items));
	if (!out->items)
		return -ENOMEM;
	for (size_t i = 0; i < host->thread_count; i++)
		add_thread(out, &host->threads[i], is_limited(host));
	merge_all(out);
	part = take_followed_part(host, &out->cost);
	for (size_t i = 0; i < out->count; i++)
		count_calls(&out->items[i], process, part);
	return 0;
}

void host_reasons__clear(struct host_reasons *reasons)
{
	free(reasons->items);
	*reasons = (struct host_reasons){0};
}

const struct host_reason *host_reasons__main_wait(const struct host_reasons *reasons)
{
	for (size_t i = 0; i < reasons->count; i++) {
		const struct host_reason *reason = &reasons->items[i];

		if ((reason->kind == HOST_QUEUE || reason->kind == HOST_LOCK) &&
		    (double)reason->kind_ns > MOSTLY * (double)reasons->ns)
			return reason;
	}
	return NULL;
}

/* --- what a thread waits for --- */

static bool waits_for_a_thread(enum host_kind kind)
{
	return kind == HOST_LOCK || kind == HOST_GIL || kind == HOST_QUEUE || kind == HOST_OUTPUT;
}

static bool lacks_a_cpu(const struct host_location *location)
{
	return location->activity == ACTIVITY_READY || location->activity == ACTIVITY_THROTTLED;
}

/* Where the thread runs lines of the program; NULL: nowhere. */
static const struct host_location *running_location(const struct host_thread *thread)
{
	for (size_t i = 0; i < thread->location_count; i++)
		if (thread->locations[i].activity == ACTIVITY_CPU &&
		    user_line__find(thread->locations[i].stack))
			return &thread->locations[i];
	return NULL;
}

/* The first location that is not a library's code without a CPU; NULL: there is none. */
static const struct host_location *first_with_meaning(const struct host_thread *thread)
{
	for (size_t i = 0; i < thread->location_count; i++)
		if (!lacks_a_cpu(&thread->locations[i]) ||
		    user_line__find(thread->locations[i].stack))
			return &thread->locations[i];
	return NULL;
}

/*
 * The holder of the GIL runs, and releases it when it waits, so its location on the CPU says most.
 * A library's thread that mostly lacks a CPU and else waits for another thread, such as the one
 * that feeds a queue of Python's, has no work of its own: the other thread has.
 */
static const struct host_location *main_location(const struct host_thread *thread, bool has_gil)
{
	const struct host_location *running = has_gil ? running_location(thread) : NULL;
	const struct host_location *other = first_with_meaning(thread);

	if (running)
		return running;
	if (other && waits_for_a_thread(host_kind__of(other, false)))
		return other;
	return thread->location_count ? &thread->locations[0] : NULL;
}

static const char *file_of(const struct host_thread *thread)
{
	return *thread->files[0].name ? thread->files[0].name : NULL;
}

/* Fills *out. Returns the location it was taken from; NULL: the thread's activity is unknown. */
static const struct host_location *look_at_other(const struct host_process *process,
						 const struct host_partner *who, bool has_gil,
						 struct host_other *out)
{
	const struct host_location *location;

	*out = (struct host_other){.who = who};
	if (who->thread >= process->thread_count)
		return NULL;
	location = main_location(&process->threads[who->thread], has_gil);
	if (!location || !process->threads[who->thread].watched_ns)
		return NULL;
	out->thread = &process->threads[who->thread];
	out->kind = (uint8_t)host_kind__of(location, false);
	out->share = (double)location->ns / (double)out->thread->watched_ns;
	out->stack = location->stack;
	out->file = out->kind == HOST_DISK ? file_of(out->thread) : NULL;
	return location;
}

static bool is_among(const struct host_other *hops, size_t count, const struct host_thread *first,
		     const struct host_partner *who)
{
	for (size_t i = 0; i < count; i++)
		if (hops[i].who->tid == who->tid)
			return true;
	return first->tid == who->tid;
}

size_t host_reasons__hops(const struct host_reasons *reasons, const struct host_reason *reason,
			  struct host_other hops[HOST_HOPS])
{
	const struct host_thread *thread = reason->thread;
	enum host_activity activity = reason->activity;
	enum host_kind kind = (enum host_kind)reason->kind;
	size_t count = 0;

	while (count < HOST_HOPS && waits_for_a_thread(kind) && thread->wakers[activity][0].count) {
		const struct host_partner *who = &thread->wakers[activity][0];
		const struct host_location *location;

		if (is_among(hops, count, reason->thread, who))
			break;
		location = look_at_other(reasons->process, who, kind == HOST_GIL, &hops[count]);
		count++;
		if (!location)
			break;
		thread = hops[count - 1].thread;
		kind = (enum host_kind)hops[count - 1].kind;
		activity = location->activity;
	}
	return count;
}

/* If the socket is unknown, the function tells that it is one. */
static bool awaits_clients(const struct host_thread *thread, const struct stack *stack)
{
	return thread->serves || (!thread->asks && host_kind__is_at_a_socket(stack));
}

bool host_reasons__awaits_requests(const struct host_reasons *reasons)
{
	const struct host_reason *reason = host_reasons__main_wait(reasons);
	struct host_other hops[HOST_HOPS];
	size_t count;

	if (!reason || !reasons->process->serves)
		return false;
	if (awaits_clients(reason->thread, reason->stack))
		return true;
	count = host_reasons__hops(reasons, reason, hops);
	for (size_t i = 0; i < count && hops[i].who->pid == reasons->process->pid; i++)
		if (hops[i].kind == HOST_QUEUE && awaits_clients(hops[i].thread, hops[i].stack))
			return true;
	return false;
}

size_t host_reasons__rivals(const struct host_reason *reason, const struct host_partner **list)
{
	size_t count = 0;

	*list = reason->thread->rivals;
	while (reason->kind == HOST_READY && count < HOST_PARTNERS &&
	       reason->thread->rivals[count].count)
		count++;
	return count;
}

const char *host_reasons__file(const struct host_reason *reason)
{
	return reason->kind == HOST_DISK ? file_of(reason->thread) : NULL;
}
