// SPDX-License-Identifier: BSD-2-Clause
// Follows what threads that submit work do besides, see host_side.h.
#include "cli/host_side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/account.h"
#include "probe/host_watch.h"
#include "target/cpu_limit.h"

/* A program's start, with its modules, first launches and tuning, is no part of how it goes on. */
#define START_NS (2 * NS_PER_S)

struct host_side {
	const struct log *log;
	struct host_watch *watch;
	bool warned;
};

struct host_side *host_side__new(struct gpuprobe_bpf *skeleton, const struct log *log)
{
	struct host_side *side = calloc(1, sizeof(*side));
	struct error err;

	if (!side) {
		log__warn(log, "no memory to follow what threads do besides CUDA calls: no reasons are given");
		return NULL;
	}
	side->log = log;
	if (!host_watch__new(skeleton, &side->watch, &err))
		return side;
	log__warn(log, "what threads do besides CUDA calls is not followed, and no reasons are given: %s", err.text);
	free(side);
	return NULL;
}

void host_side__free(struct host_side *side)
{
	if (!side)
		return;
	host_watch__free(side->watch);
	free(side);
}

static void warn_once(struct host_side *side, int ret, pid_t tid)
{
	if (!side->warned)
		log__warn(side->log, "cannot sample thread %d: %s; its time is missing from the reasons", tid,
			  ret == -ENOSPC ? "too many threads are sampled" : strerror(-ret));
	side->warned = true;
}

static void follow_thread(struct host_side *side, const struct thread_account *thread)
{
	int ret = host_watch__add(side->watch, thread->tid, thread->start_ns);

	if (ret && ret != -ESRCH)
		warn_once(side, ret, thread->tid);
}

static void follow_process(struct host_side *side, const struct model *model, const struct process *process)
{
	const struct account *account = process->account;

	for (size_t i = 0; i < account->thread_count; i++) {
		const struct thread_account *thread = &account->threads[i];
		bool begins = !process->since_attach && model->now_ns < thread->first_ns + START_NS;

		if (thread->ended_ns || process->ended)
			host_watch__remove(side->watch, thread->tid, thread->start_ns);
		else if (thread->submits && !begins)
			follow_thread(side, thread);
	}
}

/* Not preempted by others, but stopped by its control group. */
static void look_at_limit(struct process *process)
{
	uint64_t ns;

	if (process->ended || cpu_limit__throttled(process->pid, &ns))
		return;
	if (!process->throttled_known)
		process->throttled_before_ns = ns;
	process->throttled_known = true;
	process->throttled_ns = ns - process->throttled_before_ns;
}

void host_side__follow(struct host_side *side, struct model *model)
{
	for (size_t i = 0; side && i < model->process_count; i++) {
		if (!model->processes[i].account)
			continue;
		follow_process(side, model, &model->processes[i]);
		look_at_limit(&model->processes[i]);
	}
	if (side)
		host_watch__add_holders(side->watch);
}
