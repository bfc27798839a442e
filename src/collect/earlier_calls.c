// SPDX-License-Identifier: BSD-2-Clause
// Calls that began before gpuprobe started, see earlier_calls.h.
#include "collect/earlier_calls.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "collect/open_calls.h"
#include "collect/tally_waits.h"
#include "model/profile.h"
#include "api/api.h"
#include "model/sites.h"

/* --- their processes --- */

static struct process *find_living(const struct model *model, pid_t pid)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].pid == pid && model->processes[i].slot != NO_PROCESS &&
		    !model->processes[i].ended)
			return &model->processes[i];
	return NULL;
}

/* NULL if the process is not in the model, or no longer. */
static struct process *process_of(struct earlier_call *call, struct collector *collector)
{
	struct process *process;

	if (!call->found) {
		process = find_living(&collector->model, call->pid);
		if (!process)
			return NULL;
		call->found = true;
		call->slot = process->slot;
		call->process_start_ns = process->start_ns;
	}
	process = collector__process_at(collector, call->slot);
	return process && process->pid == call->pid && process->start_ns == call->process_start_ns ?
		       process :
		       NULL;
}

/* --- whether a call is over --- */

static bool is_launch(uint16_t row)
{
	enum operation operation = api_functions[row].desc.operation;

	return operation == OP_LAUNCH || operation == OP_GRAPH_LAUNCH;
}

/* Whether the process has counted a call of this function: it may have followed this one. */
static bool was_counted(const struct earlier_call *call, const struct process *process)
{
	if (is_launch(call->row) && (process->launches || process->graph_launches))
		return true;
	for (size_t i = 0; i < process->function_count; i++) {
		const struct function_totals *function = &process->functions[i];

		if ((function->row == call->row || function->row == call->other) &&
		    function->calls + function->failures)
			return true;
	}
	return false;
}

/* Whether the call's thread is in another call, whose beginning was seen. */
static bool is_in_another(const struct earlier_call *call, const struct process *process)
{
	for (size_t i = 0; i < process->open_listed; i++)
		if (process->open[i].tid == call->tid && process->open[i].seen &&
		    !process->open[i].earlier && !process->open[i].ended_ns)
			return true;
	return false;
}

static bool is_over(const struct earlier_call *call, const struct process *process)
{
	return call->over || process->ended || was_counted(call, process) ||
	       is_in_another(call, process);
}

/* --- counting a call --- */

/* A thread that has made no call since then has no profile yet: adds an empty one. */
static int add_thread(const struct process *process, const struct earlier_call *call,
		      uint64_t began_ns)
{
	struct profile *profile = process->profile;
	struct thread_profile thread = {
		.slot = call->slot,
		.tid = call->tid,
		.start_ns = call->thread_start_ns,
		.first_ns = began_ns,
		.ended_ns = process->ended ? process->ended_ns : 0,
	};

	for (size_t i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].tid == call->tid &&
		    profile->threads[i].start_ns == call->thread_start_ns)
			return 0;
	memcpy(thread.comm, call->comm, sizeof(thread.comm));
	return ARRAY_APPEND(profile->threads, profile->thread_count, thread);
}

static int count(const struct earlier_calls *calls, const struct earlier_call *call,
		 struct process *process, const struct model *model, struct open_time *time)
{
	struct open_call_record record = {
		.slot = call->slot,
		.tid = call->tid,
		.thread_start_ns = call->thread_start_ns,
		.start_ns = calls->began_ns,
		.row = call->row,
		.device = DEVICE_UNKNOWN,
		.outermost = 1,
	};
	uint64_t ns = call->stood_ns > calls->began_ns ? call->stood_ns - calls->began_ns : 0;
	int ret = 0;

	memcpy(record.comm, call->comm, sizeof(record.comm));
	if (!call->over)
		open_calls__list_earlier(process, &record, call->stack, model->now_ns);
	if (process->profile)
		ret = add_thread(process, call, calls->began_ns);
	if (!ret && process->site_table && call->stack && tally_waits__is_wait(call->row))
		ret = site_table__set_wait(process->site_table, call->stack, call->row, ns);
	return ret ? ret : open_time__add(time, process, &record, !call->over, ns);
}

int earlier_calls__count(struct earlier_calls *calls, const struct reading *reading,
			 struct open_time *time)
{
	struct collector *collector = reading->collector;
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < calls->count; i++) {
		struct earlier_call *call = &calls->list[i];
		struct process *process = process_of(call, collector);

		if (call->found && !process)
			continue;
		if (process && !ret) {
			call->over = is_over(call, process);
			ret = count(calls, call, process, &collector->model, time);
		}
		calls->list[kept++] = *call;
	}
	calls->count = kept;
	return ret;
}
