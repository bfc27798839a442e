// SPDX-License-Identifier: BSD-2-Clause
// Whether the process or its GPU waits for the other, see verdict.h. docs/diagnosis.md has the
// measurements behind the thresholds.
#include "finding/verdict.h"

#include "finding/company.h"
#include "finding/history.h"
#include "finding/host_reasons.h"
#include "model/gpu_times.h"
#include "model/steady.h"

#define LEAST_WINDOW_NS 1000000000ull /* a shorter time does not show how the process goes on */

/*
 * The GPU waits for the process if it is idle for this share of the time, whatever the process
 * waits for.
 */
#define LEAST_IDLE 0.3
/* The process waits for the GPU if it is delayed for this share of the time. */
#define LEAST_HELD 0.3
/*
 * Without a profile the GPU may be idle whenever the process does not wait for it. With one, that
 * idle time would count first.
 */
#define LEAST_HELD_ALONE (1 - LEAST_IDLE)
/* The process does not wait for the GPU if it is delayed for at most this share. */
#define MOST_HELD 0.15
/* The process does nothing if it is stopped for this share of the time. */
#define MOST_STOPPED 0.5
/*
 * A queue holds some 1,000 launches: with this many, the GPU cannot have been behind the whole
 * time.
 */
#define LEAST_LAUNCHES 4096
/*
 * NVML's utilization is coarse: it only shows whether the GPU was busy most of the time. It covers
 * all users of the GPU.
 */
#define MOST_BUSY 0.5

static double share_of(uint64_t ns, uint64_t window_ns)
{
	return ns < window_ns ? (double)ns / (double)window_ns : 1;
}

/* Work on an unknown device may have been on any device. */
static bool counts(const struct load *window, int device)
{
	if (!window->queues[device].used)
		return false;
	for (int i = 0; device == PROFILE_DEVICES - 1 && i < device; i++)
		if (window->queues[i].used)
			return false;
	return true;
}

static void find_unfed(const struct load *window, struct verdict *verdict)
{
	verdict->device = -1;
	verdict->unfed = SHARE_UNKNOWN;
	for (int i = 0; i < PROFILE_DEVICES; i++) {
		double idle = share_of(window->queues[i].idle_ns, window->ns);

		if (!counts(window, i) || (verdict->device >= 0 && idle >= verdict->unfed))
			continue;
		verdict->device = i;
		verdict->unfed = idle;
	}
	if (!window->proves)
		verdict->unfed = SHARE_UNKNOWN;
	verdict->idle = verdict->unfed;
}

/*
 * From waits and NVML only: how long launches were delayed is unknown, and whether synchronous
 * copies were.
 */
static enum verdict_kind kind_without_profile(const struct load *window,
					      const struct verdict *verdict)
{
	bool not_held = share_of(window->held_ns + window->blocked_ns, window->ns) <= MOST_HELD;

	if (verdict->busy >= VERDICT_LEAST_BUSY)
		return VERDICT_GPU_BOUND;
	if (window->estimated)
		return VERDICT_UNKNOWN;
	if (verdict->held >= LEAST_HELD_ALONE)
		return VERDICT_GPU_BOUND;
	return not_held && verdict->busy != SHARE_UNKNOWN && verdict->busy <= MOST_BUSY ?
		       VERDICT_HOST_BOUND :
		       VERDICT_UNKNOWN;
}

static enum verdict_kind kind_of(const struct load *window, const struct verdict *verdict)
{
	if (!window->launches && !window->copies)
		return window->estimated ? VERDICT_UNKNOWN : VERDICT_NO_WORK;
	if (!window->profile)
		return kind_without_profile(window, verdict);
	if (verdict->unfed >= LEAST_IDLE)
		return VERDICT_HOST_BOUND;
	if (verdict->held >= LEAST_HELD)
		return VERDICT_GPU_BOUND;
	/*
	 * Several streams have several queues: the GPU can be busy the whole time although none is
	 * full.
	 */
	if (verdict->busy >= VERDICT_LEAST_BUSY)
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

/* Includes calls of threads that submit nothing, which make few. */
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

/* From the load of a window that began at `from_ns`. */
static void judge_load(const struct load *window, uint64_t from_ns, struct verdict *verdict)
{
	verdict->window_ns = window->ns;
	verdict->from_ns = from_ns;
	verdict->launches = window->launches;
	verdict->held = share_of(window->held_ns, window->ns);
	verdict->threads = window->ns ? (double)window->thread_ns / (double)window->ns : 0;
	verdict->thread_held = window->thread_ns ? share_of(window->held_ns, window->thread_ns) : 0;
	if (window->busy_readings)
		verdict->busy = (double)window->busy_percent / (double)window->busy_readings / 100;
	verdict->profile = window->profile;
	find_unfed(window, verdict);
	find_doings(window, verdict);
	if (window->ns >= LEAST_WINDOW_NS)
		verdict->kind = kind_of(window, verdict);
}

static const struct verdict nothing_known = {.device = -1,
					     .unfed = SHARE_UNKNOWN,
					     .idle = SHARE_UNKNOWN,
					     .busy = SHARE_UNKNOWN,
					     .stopped = SHARE_UNKNOWN};

/* As if the process were alone. */
static void judge(const struct company_times *times, const struct process *process,
		  struct verdict *verdict)
{
	struct load window;
	uint64_t from_ns;

	*verdict = nothing_known;
	if (times->find(times, process, &window, &from_ns))
		judge_load(&window, from_ns, verdict);
}

static bool find_steady(const struct company_times *times, const struct process *process,
			struct load *window, uint64_t *from_ns)
{
	*from_ns = steady__since_ns(process, times->model->now_ns);
	return steady__load(process, times->model->now_ns, window);
}

/*
 * NVML reports the GPU's utilization: if others use the GPU too, a busy GPU says nothing about a
 * process that it does not delay.
 */
static void look_at_shared(struct verdict *verdict)
{
	if (verdict->kind != VERDICT_GPU_BOUND || verdict->held > MOST_HELD)
		return;
	verdict->kind = verdict->profile && verdict->launches >= LEAST_LAUNCHES ?
				VERDICT_HOST_BOUND :
				VERDICT_UNKNOWN;
}

static double at_least_0(double share)
{
	return share > 0 ? share : 0;
}

/*
 * The GPU may be idle because the program was stopped between two waits, which is not the program's
 * fault.
 */
static enum verdict_kind kind_but_for_stops(const struct verdict *verdict, double outside_waits)
{
	if (verdict->kind != VERDICT_HOST_BOUND || verdict->unfed < LEAST_IDLE ||
	    verdict->unfed - outside_waits >= LEAST_IDLE)
		return verdict->kind;
	return verdict->held >= LEAST_HELD ? VERDICT_GPU_BOUND : VERDICT_UNKNOWN;
}

/* A thread that is stopped inside a wait does not wait for the GPU. */
static void take_stops(const struct host_reasons *reasons, struct verdict *verdict)
{
	double waiting = (double)reasons->stopped_waiting_ns / (double)reasons->ns;

	verdict->stopped = (double)reasons->stopped_ns / (double)reasons->ns;
	verdict->thread_held = at_least_0(verdict->thread_held - waiting);
	verdict->held = at_least_0(verdict->held - waiting * verdict->threads);
	verdict->kind = kind_but_for_stops(verdict, verdict->stopped - waiting);
	if (verdict->stopped >= MOST_STOPPED)
		verdict->kind = VERDICT_NO_WORK;
	else if (verdict->kind == VERDICT_GPU_BOUND && verdict->held < LEAST_HELD &&
		 verdict->busy < VERDICT_LEAST_BUSY)
		verdict->kind = VERDICT_UNKNOWN;
}

static bool was_stopped(const struct host_process *host)
{
	for (size_t i = 0; i < host->thread_count; i++)
		for (size_t n = 0; n < host->threads[i].location_count; n++)
			if (host->threads[i].locations[n].activity == ACTIVITY_STOPPED)
				return true;
	return false;
}

static void look_at_stops(const struct model *model, const struct process *process,
			  struct verdict *verdict)
{
	struct host_reasons reasons;

	if (!process->host || !verdict->window_ns)
		return;
	verdict->stopped = 0;
	if (!was_stopped(process->host) || host_reasons__of(process, model->now_ns, &reasons))
		return;
	if (reasons.stopped_ns)
		take_stops(&reasons, verdict);
	host_reasons__clear(&reasons);
}

/* What the process does not get done because it is stopped is not its fault. */
static double idle_by_itself(const struct verdict *verdict)
{
	return 1 - verdict->exact - at_least_0(verdict->stopped);
}

/* The GPU's own clock has the truth. If others use the GPU, it may be busy for them meanwhile. */
static void look_at_gpu_times(const struct model *model, const struct process *process,
			      struct verdict *verdict)
{
	const struct gpu_times *times = model->gpu_times;
	struct gpu_busy busy;

	if (!times || !verdict->window_ns ||
	    !gpu_times__busiest(times, gpu_times__find(times, process->pid, process->start_ns),
				verdict->from_ns, &busy))
		return;
	verdict->exact = share_of(busy.ns, busy.window_ns);
	verdict->exact_ns = busy.window_ns;
	verdict->exact_device = busy.device;
	if (verdict->kind == VERDICT_NO_WORK || verdict->beside.pid ||
	    busy.window_ns < LEAST_WINDOW_NS)
		return;
	verdict->kind =
		idle_by_itself(verdict) >= LEAST_IDLE ? VERDICT_HOST_BOUND : VERDICT_GPU_BOUND;
}

static void judge_in_company(const struct company_times *times, const struct process *process,
			     struct verdict *verdict)
{
	judge(times, process, verdict);
	look_at_stops(times->model, process, verdict);
	company__find_sharing(times, process, verdict);
	if (verdict->beside.pid)
		look_at_shared(verdict);
	look_at_gpu_times(times->model, process, verdict);
	company__find_awaited(times, process, verdict);
}

void verdict__judge(const struct model *model, const struct process *process,
		    struct verdict *verdict)
{
	const struct company_times times = {.model = model, .find = find_steady, .judge = judge};

	judge_in_company(&times, process, verdict);
}

/*
 * Skips startup: for a process that was seen from its start, takes the second half of the time
 * since its first work; for another one, skips the time in which no idle time can be proved, if
 * enough is left.
 */
static uint64_t without_start(const struct load_history *history, const struct process *process,
			      uint64_t end_ns)
{
	uint64_t first_ns = load_history__first_ns(history, process), settled_ns;

	if (!first_ns || end_ns < first_ns)
		return first_ns;
	if (!process->since_attach)
		return first_ns + (end_ns - first_ns) / 2;
	settled_ns = process->profile ? load_history__settled_ns(history, process) : 0;
	return settled_ns && end_ns >= settled_ns + LEAST_WINDOW_NS ? settled_ns : first_ns;
}

/*
 * Work from before the process was watched may still run, and no idle time was proved yet: that
 * says nothing, and is no idle time of 0.
 */
static bool is_unsettled(const struct load_history *history, const struct process *process,
			 uint64_t end_ns, const struct load *window)
{
	if (!process->since_attach ||
	    end_ns >= load_history__first_ns(history, process) + LOAD_EARLIER_NS)
		return false;
	for (int i = 0; i < PROFILE_DEVICES; i++)
		if (window->queues[i].idle_ns)
			return false;
	return true;
}

static bool find_latest(const struct company_times *times, const struct process *process,
			struct load *window, uint64_t *from_ns)
{
	const struct load_history *history = times->arg;
	uint64_t end_ns = process->ended_ns ? process->ended_ns : times->model->now_ns;

	*from_ns = without_start(history, process, end_ns);
	if (*from_ns && end_ns > VERDICT_SPAN_NS && end_ns - VERDICT_SPAN_NS > *from_ns)
		*from_ns = end_ns - VERDICT_SPAN_NS;
	if (!*from_ns || !load_history__window(history, times->model, process, *from_ns, window))
		return false;
	window->proves &= !is_unsettled(history, process, end_ns, window);
	*from_ns = end_ns - window->ns;
	return true;
}

void verdict__judge_latest(const struct findings *state, const struct model *model,
			   const struct process *process, struct verdict *verdict)
{
	const struct company_times times = {.model = model,
					    .find = find_latest,
					    .judge = judge,
					    .arg = findings__history(state)->loads};

	judge_in_company(&times, process, verdict);
}

const char *verdict__doing(enum host_doing doing)
{
	static const char *const words[HOST_DOINGS] = {
		[DOING_OUTSIDE] = "outside", [DOING_LAUNCH] = "launches", [DOING_MEMORY] = "memory",
		[DOING_COPY] = "copies",     [DOING_OTHER] = "other",
	};

	return words[doing];
}

const char *verdict__word(enum verdict_kind kind)
{
	static const char *const words[VERDICTS] = {
		[VERDICT_UNKNOWN] = "not known",	 [VERDICT_GPU_BOUND] = "GPU-bound",
		[VERDICT_HOST_BOUND] = "host-bound",	 [VERDICT_NO_WORK] = "no work",
		[VERDICT_OTHERS] = "waiting for others",
	};

	return words[kind];
}
