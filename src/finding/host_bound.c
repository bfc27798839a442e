// SPDX-License-Identifier: BSD-2-Clause
/*
 * The GPU waits for the program, according to the verdict (verdict.h). The cost is the proven idle
 * time or, if waits prove none, the time for which NVML does not show the GPU busy. The main reason
 * supplies the call site.
 */
#include <errno.h>
#include <stdio.h>

#include "base/quantity.h"
#include "finding/host_reasons.h"
#include "finding/repair.h"
#include "finding/rules.h"
#include "finding/verdict.h"
#include "stack/stack.h"

enum {
	LEAST_SHARE,
	LEAST_WINDOW,
};

#define CRITICAL_SHARE 0.5
#define REASONS_SIZE 160
#define IDLE_SIZE 160
#define SHOWN_SHARE 0.001 /* less than this rounds to 0.0 % and proves nothing worth saying */

/*
 * The share of the window in which the GPU waited, exact, proven or approximate; SHARE_UNKNOWN:
 * none of these is known.
 */
static double waiting_share(const struct verdict *verdict)
{
	double share = verdict->unfed > 0 ? verdict->unfed : SHARE_UNKNOWN, waiting;

	if (verdict->exact_ns)
		return 1 - verdict->exact;
	if (verdict->busy == SHARE_UNKNOWN)
		return share;
	/* NVML's utilization is coarse: while the GPU delays a thread, it is not idle. */
	waiting = 1 - verdict->busy < 1 - verdict->thread_held ? 1 - verdict->busy :
								 1 - verdict->thread_held;
	return waiting > share ? waiting : share;
}

/* The first reason of another kind; NULL: none. */
static const struct host_reason *second_of(const struct host_reasons *reasons)
{
	for (size_t i = 1; i < reasons->count; i++)
		if (reasons->items[i].kind != reasons->items[0].kind)
			return &reasons->items[i];
	return NULL;
}

/* "; its threads' time: 52.0 % on the CPU, 12.1 % waiting for a queue" */
static const char *report_reasons(const struct host_reasons *reasons, char text[REASONS_SIZE])
{
	const struct host_reason *first = reasons->items, *second = second_of(reasons);
	int length;

	*text = 0;
	if (!reasons->count || !reasons->ns)
		return text;
	length = snprintf(text, REASONS_SIZE, "; its threads' time: %s %s",
			  quantity__share((double)first->kind_ns / (double)reasons->ns).text,
			  host_kind__doing(first->kind));
	if (second)
		snprintf(text + length, REASONS_SIZE - (size_t)length, ", %s %s",
			 quantity__share((double)second->kind_ns / (double)reasons->ns).text,
			 host_kind__doing(second->kind));
	return text;
}

/* How long the GPU waits; what is not proved is not called idle time. */
static void say_idle(const struct verdict *verdict, char text[IDLE_SIZE])
{
	const char *proved = verdict->beside.pid ? "has nothing to do for the program" : "is idle";
	struct quantity busy = quantity__share(verdict->busy);

	if (verdict->exact_ns)
		snprintf(text, IDLE_SIZE, "%s %s (exact, by GPU times)", proved,
			 quantity__share(1 - verdict->exact).text);
	else if (verdict->unfed >= SHOWN_SHARE)
		snprintf(text, IDLE_SIZE, "%s at least %s (proved)%s%s,", proved,
			 quantity__share(verdict->unfed).text,
			 verdict->busy == SHARE_UNKNOWN ? "" : ", busy about ",
			 verdict->busy == SHARE_UNKNOWN ? "" : busy.text);
	else if (verdict->busy != SHARE_UNKNOWN)
		snprintf(text, IDLE_SIZE, "is busy about %s (NVML; no idle time is proved),",
			 busy.text);
	else
		snprintf(text, IDLE_SIZE, "has nothing to do for a time that is not known,");
}

static int report(const struct verdict *verdict, const struct host_reasons *reasons,
		  struct finding *finding)
{
	char text[REASONS_SIZE], idle[IDLE_SIZE];

	finding__number(finding, "window_ns", (double)verdict->window_ns, UNIT_NS);
	finding__number(finding, "launches", (double)verdict->launches, UNIT_COUNT);
	finding__number(finding, "held_by_gpu", verdict->held, UNIT_SHARE);
	if (verdict->idle != SHARE_UNKNOWN)
		finding__number(finding, "idle_proved", verdict->idle, UNIT_SHARE);
	if (verdict->unfed != SHARE_UNKNOWN)
		finding__number(finding, "unfed_proved", verdict->unfed, UNIT_SHARE);
	if (verdict->exact_ns)
		finding__number(finding, "busy_exact", verdict->exact, UNIT_SHARE);
	if (verdict->busy != SHARE_UNKNOWN)
		finding__number(finding, "busy_nvml", verdict->busy, UNIT_SHARE);
	say_idle(verdict, idle);
	return finding__evidence(finding, "over %s the GPU %s and holds the program up %s%s",
				 quantity__time((double)verdict->window_ns).text, idle,
				 quantity__share(verdict->held).text,
				 report_reasons(reasons, text));
}

/* The thread's name in the program: the kernel knows the names of few Python threads. */
static const char *name_of(const struct host_thread *thread, const struct stack *stack)
{
	return thread->tid == thread->pid && stack__has_python(stack) ? "MainThread" : thread->comm;
}

/*
 * The share of the window that the program can save: at most the time in which the GPU waits. Less
 * if the program's other work keeps the GPU waiting even after the main reason is repaired.
 */
static double predict(const struct host_reasons *reasons, double waiting, const char **assumption)
{
	struct repair repair;

	*assumption = "the GPU never has to wait, the best case";
	if (!repair__of_main_reason(reasons, &repair) || repair.share >= waiting)
		return waiting;
	*assumption =
		repair.everywhere ?
			"the first reason takes no time anywhere, and the rest as long as now" :
			"the first reason's statement in the loop takes no time, and the rest "
			"as long as now";
	return repair.share;
}

/* Critical if the repair makes the program twice as fast. */
static void report_cost(const struct verdict *verdict, const struct host_reasons *reasons,
			double waiting, struct finding *finding)
{
	const char *assumption;
	double saved = predict(reasons, waiting, &assumption);

	if (saved >= CRITICAL_SHARE)
		finding->severity = SEVERITY_CRITICAL;
	finding__cost(finding, (uint64_t)(waiting * (double)verdict->window_ns),
		      verdict->window_ns);
	finding__saving(finding, (uint64_t)(saved * (double)verdict->window_ns), assumption);
}

/* Names the thread of the main reason. */
static int name_thread(const struct verdict *verdict, const struct host_reasons *reasons,
		       struct finding *finding)
{
	const struct host_thread *thread = reasons->count ? reasons->items[0].thread : NULL;

	if (!thread)
		return 0;
	finding->has_reasons = true;
	finding->stack = reasons->items[0].stack;
	return finding__title(finding, "%s thread %d (%.*s)",
			      verdict->beside.pid ? "the GPU gets too little from" :
						    "the GPU waits for",
			      thread->tid, HOST_COMM_SIZE, name_of(thread, finding->stack));
}

static int add(const struct finding_input *input, const struct process *process,
	       const struct verdict *verdict, double share, struct finding_list *out)
{
	struct finding *finding = finding_list__add(out, input, process);
	struct host_reasons reasons;
	int ret;

	if (!finding)
		return -ENOMEM;
	ret = host_reasons__of(process, input->model->now_ns, &reasons);
	if (ret)
		return ret;
	if (share != SHARE_UNKNOWN)
		report_cost(verdict, &reasons, share, finding);
	ret = name_thread(verdict, &reasons, finding);
	if (!ret)
		ret = report(verdict, &reasons, finding);
	host_reasons__clear(&reasons);
	return ret;
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	struct verdict verdict;
	double share;

	verdict__judge(input->model, process, &verdict);
	share = waiting_share(&verdict);
	if (verdict.kind != VERDICT_HOST_BOUND ||
	    (double)verdict.window_ns < input->thresholds[LEAST_WINDOW] ||
	    (share != SHARE_UNKNOWN && share < input->thresholds[LEAST_SHARE]))
		return 0;
	return add(input, process, &verdict, share, out);
}

const struct finding_kind host_bound_kind = {
	.id = "host-bound",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.steady = true,
	.whole = true,
	.every = EVERY_COPY | EVERY_WAIT,
	.title = "the GPU waits for the program",
	.advice = "The program gives the GPU less work than it could do: the program has to "
		  "become faster, not the GPU. The reasons show where its threads spend their "
		  "time. On the CPU: prepare the next batch beside the loop (workers of a data "
		  "loader, a thread), or on the GPU. A queue: the threads that fill it do not "
		  "keep up; add workers, or look at what they do. A lock or Python's GIL: shorten "
		  "what its holder does, or move that to another process. Launches and the "
		  "framework between them: CUDA graphs, torch.compile, larger batches. Copies: "
		  "pinned memory and asynchronous copies. Allocation: a caching allocator. Waits "
		  "in each step (loss.item(), printing): wait only now and then. Preempted: more "
		  "CPUs, or a higher limit of the cgroup.",
	.cost = "times in which the GPU had, or must have had, nothing to do",
	.thresholds =
		{
			{"share", 0.3, UNIT_SHARE,
			 "minimum share of the steady time that the GPU waits"},
			{"window", 5e9, UNIT_NS, "minimum steady time to judge"},
		},
	.detect = detect,
};
