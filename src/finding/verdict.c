// SPDX-License-Identifier: BSD-2-Clause
// Who waits for whom, see verdict.h. The figures behind the thresholds are in docs/diagnosis.md.
#include "finding/verdict.h"

#include "finding/history.h"
#include "model/steady.h"

#define LEAST_WINDOW_NS 1000000000ull /* less says nothing of how it goes on */

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

/* By waits and NVML alone: how long launches were held up is not known, nor whether synchronous copies were. */
static enum verdict_kind kind_without_account(const struct load *window, const struct verdict *verdict)
{
	bool not_held = share_of(window->held_ns + window->blocked_ns, window->ns) <= MOST_HELD;

	if (verdict->busy >= LEAST_BUSY)
		return VERDICT_GPU_BOUND;
	if (window->estimated)
		return VERDICT_UNKNOWN;
	if (verdict->held >= LEAST_HELD)
		return VERDICT_GPU_BOUND;
	return not_held && verdict->busy != SHARE_UNKNOWN && verdict->busy <= MOST_BUSY ? VERDICT_HOST_BOUND : VERDICT_UNKNOWN;
}

static enum verdict_kind kind_of(const struct load *window, const struct verdict *verdict)
{
	if (!window->launches && !window->copies)
		return window->estimated ? VERDICT_UNKNOWN : VERDICT_NO_WORK;
	if (!window->account)
		return kind_without_account(window, verdict);
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

static uint64_t less(uint64_t ns, uint64_t part)
{
	return ns > part ? ns - part : 0;
}

/* All calls are counted, those of threads that submit nothing too: these make few. */
static void find_doings(const struct load *window, struct verdict *verdict)
{
	uint64_t ns[HOST_DOINGS] = {
		[DOING_LAUNCH] = less(window->time[TIME_LAUNCH].ns, window->held_launch_ns),
		[DOING_MEMORY] = window->time[TIME_MEMORY].ns,
		[DOING_COPY] = less(window->time[TIME_COPY].ns, window->held_copy_ns),
		[DOING_OTHER] = window->time[TIME_OTHER].ns,
	};
	uint64_t inside = window->held_ns, all;

	for (int doing = 0; doing < HOST_DOINGS; doing++)
		inside += ns[doing];
	ns[DOING_OUTSIDE] = less(window->thread_ns, inside);
	all = inside + ns[DOING_OUTSIDE];
	for (int doing = 0; doing < HOST_DOINGS; doing++)
		verdict->doing[doing] = all ? (double)ns[doing] / (double)all : 0;
}

/* By the load of a window that began at `from_ns`. */
static void judge_load(const struct load *window, uint64_t from_ns, struct verdict *verdict)
{
	verdict->window_ns = window->ns;
	verdict->from_ns = from_ns;
	verdict->launches = window->launches;
	verdict->held = share_of(window->held_ns, window->ns);
	if (window->busy_readings)
		verdict->busy = (double)window->busy_percent / (double)window->busy_readings / 100;
	verdict->account = window->account;
	find_idle(window, verdict);
	find_doings(window, verdict);
	if (window->ns >= LEAST_WINDOW_NS)
		verdict->kind = kind_of(window, verdict);
}

static const struct verdict nothing_known = {.device = -1, .idle = SHARE_UNKNOWN, .busy = SHARE_UNKNOWN};

void verdict__judge(const struct process *process, uint64_t now_ns, struct verdict *verdict)
{
	struct load window;

	*verdict = nothing_known;
	if (steady__load(process, now_ns, &window))
		judge_load(&window, steady__since_ns(process, now_ns), verdict);
}

/* Without the start: of a process that was seen from there the second half of what it has had since its first work. */
static uint64_t without_start(const struct load_history *history, const struct process *process, uint64_t end_ns)
{
	uint64_t first_ns = load_history__first_ns(history, process);

	if (!first_ns || process->since_attach || end_ns < first_ns)
		return first_ns;
	return first_ns + (end_ns - first_ns) / 2;
}

void verdict__judge_latest(const struct findings *state, const struct model *model, const struct process *process,
			   struct verdict *verdict)
{
	const struct load_history *history = findings__history(state)->loads;
	uint64_t end_ns = process->ended_ns ? process->ended_ns : model->now_ns;
	uint64_t from_ns = without_start(history, process, end_ns);
	struct load window;

	*verdict = nothing_known;
	if (from_ns && end_ns > VERDICT_SPAN_NS && end_ns - VERDICT_SPAN_NS > from_ns)
		from_ns = end_ns - VERDICT_SPAN_NS;
	if (from_ns && load_history__window(history, model, process, from_ns, &window))
		judge_load(&window, end_ns - window.ns, verdict);
}

const char *verdict__doing(enum host_doing doing)
{
	static const char *const words[HOST_DOINGS] = {
		[DOING_OUTSIDE] = "outside",
		[DOING_LAUNCH] = "launches",
		[DOING_MEMORY] = "memory",
		[DOING_COPY] = "copies",
		[DOING_OTHER] = "other",
	};

	return words[doing];
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
