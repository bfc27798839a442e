// SPDX-License-Identifier: BSD-2-Clause
// Who waits for whom, see verdict.h. The figures behind the thresholds are in docs/diagnosis.md.
#include "finding/verdict.h"

#include "model/steady.h"

/* Idle for so much of the time, the GPU waits for the process, whatever the process waits for. */
#define LEAST_IDLE 0.3
/* Held up for so much of the time, the process waits for the GPU. */
#define LEAST_HELD 0.3
/* Held up for no more, it does not. */
#define MOST_HELD 0.15
/* A queue holds some 1,000 launches: with so many the GPU cannot have been behind all the time. */
#define LEAST_LAUNCHES 4096
/* NVML's use is too coarse to tell more than that most of the time was busy, or was not. It is the GPU's, whoever uses it. */
#define MOST_BUSY 0.5
#define LEAST_BUSY 0.8

static double share_of(uint64_t ns, uint64_t window_ns)
{
	return ns < window_ns ? (double)ns / (double)window_ns : 1;
}

/* What was of no known device may have been on any. */
static bool counts(const struct load *window, int device)
{
	if (!window->queues[device].used)
		return false;
	for (int i = 0; device == ACCOUNT_DEVICES - 1 && i < device; i++)
		if (window->queues[i].used)
			return false;
	return true;
}

static void find_idle(const struct load *window, struct verdict *verdict)
{
	verdict->device = -1;
	verdict->idle = SHARE_UNKNOWN;
	for (int i = 0; i < ACCOUNT_DEVICES; i++) {
		double idle = share_of(window->queues[i].idle_ns, window->ns);

		if (!counts(window, i) || (verdict->device >= 0 && idle >= verdict->idle))
			continue;
		verdict->device = i;
		verdict->idle = idle;
	}
	if (!window->proves)
		verdict->idle = SHARE_UNKNOWN;
}

static enum verdict_kind kind_of(const struct load *window, const struct verdict *verdict)
{
	if (!window->launches && !window->copies)
		return VERDICT_NO_WORK;
	if (verdict->idle >= LEAST_IDLE)
		return VERDICT_HOST_BOUND;
	if (verdict->held >= LEAST_HELD)
		return VERDICT_GPU_BOUND;
	/* Several streams have several queues: none of them need be full for the GPU to be busy all the time. */
	if (verdict->busy >= LEAST_BUSY)
		return VERDICT_GPU_BOUND;
	if (verdict->held > MOST_HELD)
		return VERDICT_UNKNOWN;
	if (window->launches >= LEAST_LAUNCHES)
		return VERDICT_HOST_BOUND;
	if (verdict->busy == SHARE_UNKNOWN)
		return VERDICT_UNKNOWN;
	return verdict->busy <= MOST_BUSY ? VERDICT_HOST_BOUND : VERDICT_UNKNOWN;
}

void verdict__judge(const struct process *process, uint64_t now_ns, struct verdict *verdict)
{
	struct load window;

	*verdict = (struct verdict){.device = -1, .idle = SHARE_UNKNOWN, .busy = SHARE_UNKNOWN};
	if (!steady__load(process, now_ns, &window))
		return;
	verdict->window_ns = window.ns;
	verdict->from_ns = steady__since_ns(process, now_ns);
	verdict->launches = window.launches;
	verdict->held = share_of(window.held_ns, window.ns);
	if (window.busy_readings)
		verdict->busy = (double)window.busy_percent / (double)window.busy_readings / 100;
	find_idle(&window, verdict);
	verdict->kind = kind_of(&window, verdict);
}

const char *verdict__word(enum verdict_kind kind)
{
	static const char *const words[VERDICTS] = {
		[VERDICT_UNKNOWN] = "not known",
		[VERDICT_GPU_BOUND] = "GPU-bound",
		[VERDICT_HOST_BOUND] = "host-bound",
		[VERDICT_NO_WORK] = "no work",
	};

	return words[kind];
}
