// SPDX-License-Identifier: BSD-2-Clause
// What a process does, judged from its threads at one moment; see ps.h.
#include "model/ps.h"

#include <stdio.h>

#include "api/api.h"

static bool is_on_cpu(const struct dump_thread *thread)
{
	return thread->run == DUMP_RUNS || thread->run == DUMP_READY;
}

static bool is_stopped(const struct dump_thread *thread)
{
	return thread->run == DUMP_STOPPED || thread->run == DUMP_TRACED ||
	       thread->run == DUMP_FROZEN;
}

/* A wait may spin, so a thread that runs may wait, too. */
static bool is_blocking(const struct dump_thread *thread)
{
	int row = thread->call ? api__find(thread->call, API_NEWEST) : -1;

	return !is_on_cpu(thread) || (row >= 0 && api_functions[row].desc.operation == OP_WAIT);
}

static int importance(const struct dump_thread *thread)
{
	if (!thread->call && !thread->by)
		return 0;
	return is_blocking(thread) ? 2 : 1;
}

/* The thread in CUDA that says most: one that blocks there, the main thread first. NULL: none. */
static const struct dump_thread *most_important(const struct dump_process *look)
{
	const struct dump_thread *most = NULL;

	for (size_t i = 0; i < look->thread_count; i++)
		if (importance(&look->threads[i]) > (most ? importance(most) : 0))
			most = &look->threads[i];
	return most;
}

static enum ps_state state_of(const struct dump_process *look, const struct dump_thread *in_cuda)
{
	if (is_stopped(&look->threads[0]))
		return PS_STOPPED;
	if (in_cuda)
		return is_blocking(in_cuda) ? PS_WAITING : PS_RUNNING;
	for (size_t i = 0; i < look->thread_count; i++)
		if (is_on_cpu(&look->threads[i]))
			return PS_RUNNING;
	return look->unseen ? PS_UNKNOWN : PS_IDLE;
}

static bool is_blocked(const struct dump_process *look)
{
	for (size_t i = 0; i < look->thread_count; i++)
		if (look->threads[i].run == DUMP_SLEEPS_ON)
			return true;
	return false;
}

void ps_row__judge(struct ps_row *row, const struct dump_process *look)
{
	const struct dump_thread *thread = most_important(look);

	if (!look->thread_count)
		return;
	row->looked_at = true;
	row->threads = look->thread_count + look->unseen;
	row->in_cuda = look->in_cuda;
	row->state = state_of(look, thread);
	row->blocked = row->state == PS_IDLE && is_blocked(look);
	row->call_tid = thread ? thread->tid : 0;
	snprintf(row->call, sizeof(row->call), "%s", thread && thread->call ? thread->call : "");
	snprintf(row->by, sizeof(row->by), "%s", thread && thread->by ? thread->by : "");
}

const char *ps_row__call(const struct ps_row *row)
{
	if (row->by[0])
		return row->by;
	return row->call[0] ? row->call : NULL;
}

bool ps_row__seems_stuck(const struct ps *ps, const struct ps_row *row)
{
	size_t gpus = 0;

	if (row->state != PS_WAITING)
		return false;
	for (size_t i = 0; i < ps->model.gpu_count; i++) {
		if (!(row->on_gpus[i / 64] >> i % 64 & 1))
			continue;
		gpus++;
		if (ps->model.gpus[i].busy_percent != 0)
			return false;
	}
	return gpus > 0;
}
