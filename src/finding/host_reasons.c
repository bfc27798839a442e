// SPDX-License-Identifier: BSD-2-Clause
// What threads that submit work did besides, see host_reasons.h.
#include "finding/host_reasons.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/steady.h"

/* --- the program's own line --- */

static bool is_library_file(const char *file)
{
	static const char *const parts[] = {"/site-packages/", "/dist-packages/", "/lib/python", "/lib64/python"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(file, parts[i]))
			return true;
	return *file == '<'; /* "<frozen importlib._bootstrap>", "<string>" */
}

bool host_reasons__is_own(const struct stack_frame *frame)
{
	if (frame->kind == FRAME_PYTHON)
		return frame->file && !is_library_file(frame->file);
	return frame->kind == FRAME_NATIVE && frame->object && *frame->object != '[' && !strstr(frame->object, ".so") &&
	       strncmp(frame->object, "python", 6) && frame->function;
}

/* Python's lines before others: what is native in a Python program is the interpreter's or a library's. */
const struct stack_frame *host_reasons__line(const struct stack *stack)
{
	const struct stack_frame *native = NULL;

	for (uint32_t i = 0; stack && i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (!host_reasons__is_own(frame))
			continue;
		if (frame->kind == FRAME_PYTHON)
			return frame;
		if (!native)
			native = frame;
	}
	return native;
}

const char *host_reasons__doing(enum host_kind kind)
{
	static const char *const words[HOST_KINDS] = {
		[HOST_CPU] = "on the CPU",
		[HOST_IN_LAUNCH] = "in launches",
		[HOST_IN_MEMORY] = "allocating and freeing",
		[HOST_IN_COPY] = "copying",
		[HOST_IN_WAIT] = "waiting for the GPU",
		[HOST_IN_MODULE] = "loading modules",
		[HOST_IN_GRAPH] = "making graphs",
		[HOST_IN_OTHER] = "in other CUDA calls",
		[HOST_LOCK] = "waiting for a lock",
		[HOST_GIL] = "waiting for Python's GIL",
		[HOST_QUEUE] = "waiting for a queue",
		[HOST_DISK] = "waiting for a disk",
		[HOST_FAULT] = "in page faults",
		[HOST_SLEEP] = "sleeping",
		[HOST_READY] = "waiting for a CPU",
		[HOST_THROTTLED] = "throttled by its cgroup",
		[HOST_OFF] = "waiting for something else",
	};

	return kind < HOST_KINDS && words[kind] ? words[kind] : "doing something else";
}

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

/* A limit of the control group strikes anywhere: it is one reason. */
static bool is_anywhere(uint8_t kind)
{
	return kind == HOST_THROTTLED || kind == HOST_READY;
}

static int by_place(const void *a, const void *b)
{
	const struct host_reason *x = a, *y = b;

	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	return is_anywhere(x->kind) ? 0 : compare_lines(x->line, y->line);
}

/* A thread of a library that waits for work says less than a line of the program. */
static int by_time(const void *a, const void *b)
{
	const struct host_reason *x = a, *y = b;

	if (!x->line != !y->line)
		return x->line ? -1 : 1;

	if (x->kind_ns != y->kind_ns)
		return x->kind_ns < y->kind_ns ? 1 : -1;
	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : by_place(a, b);
}

/* Waits for a lock at several lines are one matter, and so are all allocations; what runs on the CPU is told by its line. */
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

static void merge(struct host_reason *into, const struct host_reason *other)
{
	into->ns += other->ns;
	into->times += other->times;
	into->calls += other->calls;
	/* The line of most of it; one without a line says nothing. */
	if (into->line && (!other->line || other->stack_ns <= into->stack_ns))
		return;
	if (!into->line && !other->line && other->stack_ns <= into->stack_ns)
		return;
	into->stack = other->stack;
	into->stack_ns = other->stack_ns;
	into->line = other->line;
}

static void merge_all(struct host_reasons *reasons)
{
	size_t kept = 0;

	if (!reasons->count)
		return;
	qsort(reasons->items, reasons->count, sizeof(*reasons->items), by_place);
	for (size_t i = 1; i < reasons->count; i++) {
		if (!by_place(&reasons->items[kept], &reasons->items[i]))
			merge(&reasons->items[kept], &reasons->items[i]);
		else
			reasons->items[++kept] = reasons->items[i];
	}
	reasons->count = kept + 1;
	sum_kinds(reasons);
	qsort(reasons->items, reasons->count, sizeof(*reasons->items), by_time);
}

/* Most of the times in which threads could run and did not are the control group's doing. */
static bool is_throttled(const struct process *process, uint64_t now_ns)
{
	uint64_t ready_ns = 0;

	for (size_t i = 0; i < process->site_count; i++)
		if (process->sites[i].kind == SITE_HOST && process->sites[i].row == HOST_READY)
			ready_ns += process->sites[i].amount - process->sites[i].early_amount;
	return process->throttled_known && steady__throttled_ns(process, now_ns) > ready_ns / 2;
}

/* Python's queues between threads are locks: who waits in one waits for whoever fills or empties it. */
static bool is_in_queue(const struct stack *stack)
{
	for (uint32_t i = 0; stack && i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		const char *base = frame->kind == FRAME_PYTHON && frame->file ? strrchr(frame->file, '/') : NULL;

		if (base && (!strcmp(base, "/queue.py") || !strcmp(base, "/queues.py")))
			return true;
	}
	return false;
}

static uint8_t kind_of(const struct call_site *site, bool throttled)
{
	if (site->row == HOST_READY && throttled)
		return HOST_THROTTLED;
	return site->row == HOST_LOCK && is_in_queue(site->stack) ? HOST_QUEUE : (uint8_t)site->row;
}

/* Off the CPU each time is one block. Samples and preemptions say nothing of how often something is done. */
static bool counts_blocks(uint8_t kind)
{
	return kind >= HOST_LOCK && kind != HOST_READY && kind != HOST_THROTTLED;
}

static void add(struct host_reasons *reasons, const struct call_site *site, bool throttled)
{
	uint64_t ns = site->amount - site->early_amount, times = site->calls - site->early_calls;
	uint8_t kind = kind_of(site, throttled);

	reasons->items[reasons->count++] = (struct host_reason){
		.kind = kind,
		.ns = ns,
		.times = times,
		.calls = counts_blocks(kind) ? times : 0,
		.stack = site->stack,
		.stack_ns = site->stack ? ns : 0,
		.line = host_reasons__line(site->stack),
	};
	reasons->ns += ns;
	reasons->known_ns += site->stack ? ns : 0;
}

static bool is_of_submitters(const struct call_site *site)
{
	return site->kind == SITE_HOST && site->row != HOST_TEAM && site->row != HOST_HOLDER &&
	       site->calls > site->early_calls;
}

static uint64_t later_ns(const struct call_site *site)
{
	return site->amount - site->early_amount;
}

/* Where whoever has the GIL most spends its time. */
static const struct stack *find_holder(const struct process *process)
{
	const struct call_site *most = NULL;

	for (size_t i = 0; i < process->site_count; i++) {
		const struct call_site *site = &process->sites[i];

		if (site->kind == SITE_HOST && site->row == HOST_HOLDER && host_reasons__line(site->stack) &&
		    site->calls > site->early_calls && (!most || later_ns(site) > later_ns(most)))
			most = site;
	}
	return most ? most->stack : NULL;
}

static void name_holder(struct host_reasons *reasons, const struct process *process)
{
	const struct stack *holder = find_holder(process);

	for (size_t i = 0; i < reasons->count; i++)
		if (reasons->items[i].kind == HOST_GIL)
			reasons->items[i].holder = holder;
}

/* Of waits and copies the calls are counted by themselves, where their stacks are taken. */
static void count_calls(struct host_reason *reason, const struct process *process)
{
	enum site_kind kind = reason->kind == HOST_IN_WAIT ? SITE_WAIT : SITE_COPY;

	if (!reason->line || (reason->kind != HOST_IN_WAIT && reason->kind != HOST_IN_COPY))
		return;
	for (size_t i = 0; i < process->site_count; i++) {
		const struct call_site *site = &process->sites[i];

		if (site->kind == kind && !compare_lines(host_reasons__line(site->stack), reason->line))
			reason->calls += site->calls - site->early_calls;
	}
}

int host_reasons__of(const struct process *process, uint64_t now_ns, struct host_reasons *out)
{
	bool throttled = is_throttled(process, now_ns);

	*out = (struct host_reasons){.cost = step_cost__of(process, now_ns)};
	out->items = calloc(process->site_count + 1, sizeof(*out->items));
	if (!out->items)
		return -ENOMEM;
	for (size_t i = 0; i < process->site_count; i++)
		if (is_of_submitters(&process->sites[i]))
			add(out, &process->sites[i], throttled);
	merge_all(out);
	name_holder(out, process);
	for (size_t i = 0; i < out->count; i++)
		count_calls(&out->items[i], process);
	return 0;
}

void host_reasons__clear(struct host_reasons *reasons)
{
	free(reasons->items);
	*reasons = (struct host_reasons){0};
}
