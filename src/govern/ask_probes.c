// SPDX-License-Identifier: BSD-2-Clause
// When the probes of error queries are attached, see ask_probes.h.
#include "govern/ask_probes.h"

#include "base/clock.h"
#include "model/profile.h"

static uint64_t latest_failure(const struct model *model)
{
	uint64_t latest_ns = 0;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		for (size_t j = 0; j < process->failure_count; j++)
			if (process->failures[j].last_ns > latest_ns)
				latest_ns = process->failures[j].last_ns;
	}
	return latest_ns;
}

/* 0: no call is known. */
static uint64_t first_call(const struct process *process)
{
	uint64_t first_ns = 0;

	for (size_t i = 0; process->profile && i < process->profile->thread_count; i++) {
		uint64_t ns = process->profile->threads[i].first_ns;

		if (ns && (!first_ns || ns < first_ns))
			first_ns = ns;
	}
	return first_ns;
}

/* Whether a running process has only just started. */
static bool is_any_new(const struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];
		uint64_t first_ns = first_call(process);

		if (first_ns && !process->ended && !process->since_attach &&
		    model->now_ns < first_ns + ASK_START_NS)
			return true;
	}
	return false;
}

/* Before any call, nothing is known about what will come. */
static bool has_any_called(const struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (first_call(&model->processes[i]))
			return true;
	return false;
}

/* Whether the probes may be detached: no process is likely to query an error soon. */
static bool can_go(const struct ask_probes *probes, const struct model *model)
{
	return has_any_called(model) && !is_any_new(model) &&
	       (!probes->failed_ns || model->now_ns >= probes->failed_ns + ASK_START_NS);
}

void ask_probes__look(struct ask_probes *probes, const struct model *model,
		      int (*watch)(void *arg, bool in), void *arg)
{
	uint64_t failed_ns = latest_failure(model);
	bool fails = failed_ns > probes->failed_ns;

	if (probes->stay)
		return;
	if (probes->out) {
		if ((!fails && !is_any_new(model)) || watch(arg, true))
			return;
		probes->out = false;
		probes->stay = fails;
	}
	if (fails)
		probes->failed_ns = failed_ns;
	if (!probes->stay && can_go(probes, model) && !watch(arg, false))
		probes->out = true;
}
