// SPDX-License-Identifier: BSD-2-Clause
/*
 * A call that has been in progress for long, or was when its process ended. A long kernel looks the
 * same as a hang, so the finding only states facts: which call, since when, and whether the process
 * makes other calls.
 */
#include <errno.h>

#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"

enum {
	LEAST_TIME,
	LEAST_SILENCE,
};

static uint64_t lasted_ns(const struct finding_input *input, const struct open_call *call)
{
	uint64_t until_ns = call->ended_ns ? call->ended_ns : input->model->now_ns;

	return until_ns > call->start_ns ? until_ns - call->start_ns : 0;
}

static bool is_stuck(const struct finding_input *input, const struct open_call *call)
{
	return (double)lasted_ns(input, call) >= input->thresholds[LEAST_TIME];
}

/* The longest one, and the number of such calls. */
static const struct open_call *longest(const struct finding_input *input,
				       const struct process *process, uint64_t *count)
{
	const struct open_call *found = NULL;

	*count = 0;
	for (size_t i = 0; i < process->open_listed; i++) {
		const struct open_call *call = &process->open[i];

		if (!is_stuck(input, call))
			continue;
		++*count;
		if (!found || lasted_ns(input, call) > lasted_ns(input, found))
			found = call;
	}
	return found;
}

/* If calls are not all seen, silence cannot be claimed. */
static bool is_silent(const struct process *process, const struct open_call *call)
{
	for (enum rate_family family = 0; family < RATE_FAMILIES; family++)
		if (process__is_estimated(process, family))
			return false;
	return !call->others;
}

/* What the rest of the process does. */
static const char *rest_of(const struct process *process, const struct open_call *call)
{
	if (call->ended_ns)
		return "";
	return is_silent(process, call) ? "; no other call of the process has been seen meanwhile" :
					  "; the process's other threads still make calls";
}

static const char *state_of(const struct process *process, const struct open_call *call)
{
	if (!call->ended_ns)
		return call->earlier ? "in progress since before attach, for more than" :
				       "in progress for";
	return process->ended ? "had not returned when the process ended, after" :
				"had not returned when its thread ended, after";
}

static int report(const struct finding_input *input, const struct process *process,
		  const struct open_call *call, uint64_t count, struct finding *finding)
{
	struct quantity lasted = quantity__time((double)lasted_ns(input, call));

	if (count < 2)
		return finding__evidence(finding, "%s %s%s", state_of(process, call), lasted.text,
					 rest_of(process, call));
	return finding__evidence(finding, "%s %s%s; %s more thread%s in such a call",
				 state_of(process, call), lasted.text, rest_of(process, call),
				 quantity__amount((double)(count - 1)).text,
				 count == 2 ? " is" : "s are");
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	const struct open_call *call;
	struct finding *finding;
	uint64_t count;
	int ret;

	call = longest(input, process, &count);
	if (!call)
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding->tid = call->tid;
	finding->stack = call->stack;
	finding->weight = (double)lasted_ns(input, call);
	if (!call->ended_ns && is_silent(process, call) &&
	    finding->weight >= input->thresholds[LEAST_SILENCE])
		finding->severity = SEVERITY_WARNING;
	finding__number(finding, "lasted", finding->weight, UNIT_NS);
	finding__number(finding, "threads", (double)count, UNIT_COUNT);
	if (!call->ended_ns)
		finding__number(finding, "calls_meanwhile", (double)call->others, UNIT_COUNT);
	ret = finding__subject(finding, "%s", site_lookup__function(call->row));
	return ret ? ret : report(input, process, call, count, finding);
}

const struct finding_kind stuck_kind = {
	.id = "stuck",
	.severity = SEVERITY_INFO,
	.title = "a call does not return: a hang, or long work on the GPU",
	.advice = "Calls do not show whether the GPU still works: nvidia-smi shows its use and "
		  "power, cuda-gdb -p PID the running kernels. A wait that lasts as long as the "
		  "work queued before it is fine. A wait that does not end waits for a kernel "
		  "that loops (often one block that waits for another that has no room to start), "
		  "for a stream that waits for an event or for a memory word that nothing writes, "
		  "or in a collective for a rank that has failed or has called a different one: "
		  "compare the ranks, and set NCCL_DEBUG=INFO. Other calls wait for locks: of the "
		  "driver, held by a thread in a long call, or of the loader. gdb -p PID and "
		  "`thread apply all bt` show what waits for what.",
	.thresholds =
		{
			{"time", 60e9, UNIT_NS, "minimum time that a call has been in progress"},
			{"silence", 600e9, UNIT_NS,
			 "when it is a warning, if the process makes no other call"},
		},
	.detect = detect,
};
