// SPDX-License-Identifier: BSD-2-Clause
// Finds calls that began before gpuprobe attached, see earlier.h.
#include "cli/session/earlier.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/collector.h"
#include "dump/dump.h"
#include "api/api.h"
#include "model/dump_before.h"

#define REST_NS NS_PER_S /* minimum time between two looks */
#define REST_TIMES 20	 /* pause between two looks, as a multiple of the duration of a look */

struct earlier_looks {
	struct looker *looker;
	enum api_mode api;
	struct dump *first;   /* NULL: no call was in progress */
	struct stack *stacks; /* stacks of the calls, parts of those in `first` */
	uint64_t next_ns;     /* earliest time of the next look */
};

struct earlier_looks *earlier_looks__new(struct looker *looker)
{
	struct earlier_looks *looks = calloc(1, sizeof(*looks));

	if (looks)
		looks->looker = looker;
	return looks;
}

void earlier_looks__free(struct earlier_looks *looks)
{
	if (!looks)
		return;
	dump__free(looks->first);
	free(looks->stacks);
	free(looks);
}

/* --- after the probes are attached --- */

static int row_of(const char *function)
{
	return function ? api__find(function, API_NEWEST) : -1;
}

static bool counts_at_runtime(enum api_mode api, int row)
{
	enum operation operation = api_functions[row].desc.operation;

	if (api != API_AUTO)
		return api != API_DRIVER;
	return operation == OP_ALLOC || operation == OP_FREE;
}

static bool is_of_layer(int row, enum layer layer)
{
	return row >= 0 && api_functions[row].desc.layer == layer;
}

/* Reduces the outer and the inner function to the watched ones; others become -1. */
static void leave_unwatched(enum api_mode api, int *outer, int *inner)
{
	if (api == API_DRIVER && is_of_layer(*outer, LAYER_RUNTIME))
		*outer = is_of_layer(*inner, LAYER_DRIVER) ? *inner : -1;
	if (api == API_RUNTIME)
		*inner = -1;
	if (api == API_RUNTIME && is_of_layer(*outer, LAYER_DRIVER))
		*outer = -1;
}

/* The stack from the innermost CUDA function outwards. */
static struct stack stack_of(const struct dump_thread *thread)
{
	struct stack stack = thread->stack;

	for (uint32_t i = 0; i < thread->stack.count; i++) {
		if (stack.frames->function && !strcmp(stack.frames->function, thread->inner))
			return stack;
		stack.frames++;
		stack.count--;
	}
	return thread->stack;
}

static void add(const struct earlier_looks *looks, struct earlier_calls *calls,
		const struct dump_process *process, const struct dump_thread *thread)
{
	int outer = row_of(thread->call), inner = row_of(thread->inner);
	struct stack *stack = &looks->stacks[calls->count];
	struct earlier_call *call = &calls->list[calls->count];

	leave_unwatched(looks->api, &outer, &inner);
	if (outer < 0)
		return;
	*call = (struct earlier_call){
		.pid = process->process->pid,
		.tid = thread->tid,
		.thread_start_ns = thread->start_ns,
		.stack = stack,
		.row = (uint16_t)outer,
		.other = inner,
		.stood_ns = calls->began_ns,
	};
	if (inner >= 0 && !counts_at_runtime(looks->api, outer)) {
		call->row = (uint16_t)inner;
		call->other = outer;
	}
	*stack = stack_of(thread);
	memcpy(call->comm, thread->comm, sizeof(call->comm));
	calls->count++;
}

static void take_calls(const struct earlier_looks *looks, struct earlier_calls *calls,
		       struct collector *collector)
{
	const struct dump *dump = looks->first;

	for (size_t i = 0; i < dump->count; i++) {
		const struct dump_process *process = &dump->processes[i];
		size_t before = calls->count;

		for (size_t k = 0; k < process->thread_count; k++)
			if (process->threads[k].call)
				add(looks, calls, process, &process->threads[k]);
		if (calls->count > before)
			collector__adopt(collector, process->process->pid);
	}
}

static size_t count_in_cuda(const struct dump *dump)
{
	size_t count = 0;

	for (size_t i = 0; i < dump->count; i++)
		count += dump->processes[i].in_cuda;
	return count;
}

void earlier_looks__begin(struct earlier_looks *looks, const pid_t *pids, size_t count,
			  enum api_mode api, struct collector *collector)
{
	struct earlier_calls *calls = collector__earlier(collector);
	struct pid_list chosen = {0};
	size_t room;

	if (!looks || !count)
		return;
	looks->api = api;
	calls->began_ns = clock__boot_ns();
	if (!dump_choice__make(pids, count, &chosen))
		looks->first = looker__look(looks->looker, chosen.pids, chosen.count);
	pid_list__clear(&chosen);
	if (!looks->first)
		return;
	room = count_in_cuda(looks->first) + 1;
	calls->list = calloc(room, sizeof(*calls->list));
	looks->stacks = calloc(room, sizeof(*looks->stacks));
	if (calls->list && looks->stacks)
		take_calls(looks, calls, collector);
}

/* --- before a reading --- */

static const struct dump_thread *find_thread(const struct dump *dump,
					     const struct earlier_call *call,
					     const struct dump_process **process)
{
	for (size_t i = 0; i < dump->count; i++)
		for (size_t k = 0; k < dump->processes[i].thread_count; k++)
			if (dump->processes[i].threads[k].tid == call->tid &&
			    dump->processes[i].process->pid == call->pid) {
				*process = &dump->processes[i];
				return &dump->processes[i].threads[k];
			}
	return NULL;
}

static bool stands(const struct earlier_looks *looks, const struct earlier_call *call,
		   const struct dump *now)
{
	const struct dump_process *process;
	const struct dump_thread *thread = find_thread(now, call, &process);

	return thread && dump_before__motion(dump_before__process(looks->first, process), thread) ==
				 DUMP_STANDS;
}

/*
 * Looks at the processes that have such calls in progress. NULL if there are none, or without
 * memory.
 */
static struct dump *look(const struct earlier_looks *looks, const struct earlier_calls *calls)
{
	pid_t *pids = calloc(calls->count + 1, sizeof(*pids));
	struct dump *dump = NULL;
	size_t count = 0;

	for (size_t i = 0; pids && i < calls->count; i++)
		if (!calls->list[i].over && (!count || pids[count - 1] != calls->list[i].pid))
			pids[count++] = calls->list[i].pid;
	if (count)
		dump = looker__look(looks->looker, pids, count);
	free(pids);
	return dump;
}

void earlier_looks__look(struct earlier_looks *looks, struct earlier_calls *calls, bool final)
{
	uint64_t now = clock__boot_ns();
	uint64_t took_ns;
	struct dump *dump;

	if (!looks || !looks->first || (!final && now < looks->next_ns))
		return;
	dump = look(looks, calls);
	took_ns = clock__boot_ns() - now;
	looks->next_ns =
		now + took_ns + (took_ns * REST_TIMES > REST_NS ? took_ns * REST_TIMES : REST_NS);
	if (!dump)
		return;
	for (size_t i = 0; i < calls->count; i++) {
		struct earlier_call *call = &calls->list[i];

		call->over = call->over || !stands(looks, call, dump);
		if (!call->over)
			call->stood_ns = dump->boot_ns;
	}
	dump__free(dump);
}
