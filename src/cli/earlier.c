// SPDX-License-Identifier: BSD-2-Clause
// Calls that began before gpuprobe came, see earlier.h.
#include "cli/earlier.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dump/choice.h"
#include "model/api.h"
#include "model/dump_before.h"

#define REST_NS NS_PER_S

/* One of them, as long as it is in progress. */
struct earlier_call {
	pid_t pid, tid;
	char comm[16];
	int row;   /* under which it would have been counted */
	int other; /* of the other layer; -1: none */
};

struct earlier_calls {
	struct looker *looker;
	struct dump *first; /* NULL: nothing was in progress */
	struct earlier_call *list;
	size_t count;
	uint64_t began_ns, looked_ns;
};

struct earlier_calls *earlier_calls__new(struct looker *looker)
{
	struct earlier_calls *calls = calloc(1, sizeof(*calls));

	if (calls)
		calls->looker = looker;
	return calls;
}

void earlier_calls__free(struct earlier_calls *calls)
{
	if (!calls)
		return;
	dump__free(calls->first);
	free(calls->list);
	free(calls);
}

/* --- when the probes are in --- */

static int row_of(const char *function)
{
	return function ? api__find(function, API_NEWEST) : -1;
}

static bool counts_at_runtime(int row)
{
	enum operation operation = api_functions[row].desc.operation;

	return operation == OP_ALLOC || operation == OP_FREE;
}

static void add(struct earlier_calls *calls, const struct dump_process *process, const struct dump_thread *thread)
{
	int outer = row_of(thread->call), inner = row_of(thread->inner);
	struct earlier_call *call = &calls->list[calls->count];

	if (outer < 0)
		return;
	*call = (struct earlier_call){.pid = process->process->pid, .tid = thread->tid, .row = outer, .other = inner};
	if (inner >= 0 && !counts_at_runtime(outer)) {
		call->row = inner;
		call->other = outer;
	}
	memcpy(call->comm, thread->comm, sizeof(call->comm));
	calls->count++;
}

static size_t count_in_cuda(const struct dump *dump)
{
	size_t count = 0;

	for (size_t i = 0; i < dump->count; i++)
		count += dump->processes[i].in_cuda;
	return count;
}

static void take_calls(struct earlier_calls *calls, const struct dump *dump)
{
	for (size_t i = 0; i < dump->count; i++)
		for (size_t k = 0; k < dump->processes[i].thread_count; k++)
			if (dump->processes[i].threads[k].call)
				add(calls, &dump->processes[i], &dump->processes[i].threads[k]);
}

void earlier_calls__begin(struct earlier_calls *calls, const pid_t *pids, size_t count)
{
	struct pid_list chosen = {0};

	if (!calls || !count)
		return;
	calls->began_ns = clock__boot_ns();
	if (!dump_choice__make(pids, count, &chosen))
		calls->first = looker__look(calls->looker, chosen.pids, chosen.count);
	pid_list__clear(&chosen);
	if (!calls->first)
		return;
	calls->list = calloc(count_in_cuda(calls->first) + 1, sizeof(*calls->list));
	if (calls->list)
		take_calls(calls, calls->first);
}

/* --- at a reading --- */

static bool is_launch(int row)
{
	enum operation operation = api_functions[row].desc.operation;

	return operation == OP_LAUNCH || operation == OP_GRAPH_LAUNCH;
}

/* Whether such a call of the process has been counted: it may have been this one's successor. */
static bool was_counted(const struct earlier_call *call, const struct process *process)
{
	if (is_launch(call->row) && (process->launches || process->graph_launches))
		return true;
	for (size_t i = 0; i < process->function_count; i++) {
		const struct function_totals *function = &process->functions[i];

		if ((function->row == call->row || function->row == call->other) && function->calls + function->failures)
			return true;
	}
	return false;
}

/* Whether its thread is in a call that was seen to begin. */
static bool is_in_another(const struct earlier_call *call, const struct process *process)
{
	for (size_t i = 0; i < process->open_listed; i++)
		if (process->open[i].tid == call->tid && !process->open[i].earlier && !process->open[i].ended_ns)
			return true;
	return false;
}

static struct process *find_process(const struct model *model, pid_t pid)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].pid == pid && !model->processes[i].ended)
			return &model->processes[i];
	return NULL;
}

static const struct dump_thread *find_thread(const struct dump *dump, const struct earlier_call *call,
					     const struct dump_process **process)
{
	for (size_t i = 0; i < dump->count; i++)
		for (size_t k = 0; k < dump->processes[i].thread_count; k++)
			if (dump->processes[i].threads[k].tid == call->tid && dump->processes[i].process->pid == call->pid) {
				*process = &dump->processes[i];
				return &dump->processes[i].threads[k];
			}
	return NULL;
}

static bool stands(const struct earlier_calls *calls, const struct earlier_call *call, const struct dump *now)
{
	const struct dump_process *process;
	const struct dump_thread *thread = find_thread(now, call, &process);

	return thread && dump_before__motion(dump_before__process(calls->first, process), thread) == DUMP_STANDS;
}

/* Leaves out those that are over. A process that has made no call at all has none that could have followed. */
static void sift(struct earlier_calls *calls, const struct model *model, const struct dump *now)
{
	size_t kept = 0;

	for (size_t i = 0; i < calls->count; i++) {
		const struct earlier_call *call = &calls->list[i];
		const struct process *process = find_process(model, call->pid);

		if (process && (was_counted(call, process) || is_in_another(call, process)))
			continue;
		if (!now || stands(calls, call, now))
			calls->list[kept++] = *call;
	}
	calls->count = kept;
}

static struct dump *look(const struct earlier_calls *calls)
{
	pid_t *pids = calloc(calls->count, sizeof(*pids));
	struct dump *dump;
	size_t count = 0;

	for (size_t i = 0; pids && i < calls->count; i++)
		if (!count || pids[count - 1] != calls->list[i].pid)
			pids[count++] = calls->list[i].pid;
	dump = looker__look(calls->looker, pids, count);
	free(pids);
	return dump;
}

/* By a reading before: this one was broken off before it came to calls in progress. */
static bool is_listed(const struct process *process, const struct earlier_call *earlier)
{
	for (size_t i = 0; i < process->open_listed; i++)
		if (process->open[i].earlier && process->open[i].tid == earlier->tid)
			return true;
	return false;
}

/* In front: nothing began earlier. */
static void list(struct process *process, const struct earlier_call *earlier, uint64_t began_ns)
{
	struct open_call *call;

	if (is_listed(process, earlier))
		return;
	process->open_count++;
	if (!process->open)
		process->open = malloc(OPEN_CALLS_LISTED * sizeof(*process->open));
	if (!process->open || process->open_listed == OPEN_CALLS_LISTED)
		return;
	memmove(process->open + 1, process->open, process->open_listed++ * sizeof(*process->open));
	call = process->open;
	*call = (struct open_call){
		.row = (uint16_t)earlier->row,
		.device = DEVICE_UNKNOWN,
		.earlier = true,
		.tid = earlier->tid,
		.start_ns = began_ns,
		.others = process__calls(process),
	};
	memcpy(call->comm, earlier->comm, sizeof(call->comm));
}

void earlier_calls__tell(struct earlier_calls *calls, struct model *model, bool final)
{
	uint64_t now = clock__boot_ns();
	struct dump *dump;

	if (!calls || !calls->count)
		return;
	sift(calls, model, NULL);
	if (calls->count && (final || now >= calls->looked_ns + REST_NS)) {
		calls->looked_ns = now;
		dump = look(calls);
		sift(calls, model, dump);
		dump__free(dump);
	}
	for (size_t i = 0; i < calls->count; i++) {
		struct process *process = find_process(model, calls->list[i].pid);

		if (process)
			list(process, &calls->list[i], calls->began_ns);
	}
}
