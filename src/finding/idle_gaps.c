// SPDX-License-Identifier: BSD-2-Clause
/*
 * Times in which the GPU is known to have been idle: a wait had emptied its queue, and the next
 * launch came much later. Meanwhile the thread was outside CUDA: mostly reading and preparing data.
 */
#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/thread_sums.h"
#include "finding/verdict.h"

enum {
	LEAST_SHARE,
	LEAST_GAPS,
};

/*
 * At most the watched time: the first idle time may have begun before it, and those of several
 * devices overlap.
 */
static uint64_t idle_of(const struct watched_thread *watched)
{
	uint64_t ns = watched->thread->idle_ns;

	return ns < watched->ns ? ns : watched->ns;
}

static uint64_t cost_of(const struct watched_thread *watched)
{
	const double *thresholds = watched->input->thresholds;
	uint64_t idle_ns = idle_of(watched);

	if ((double)watched->thread->idle_gaps < thresholds[LEAST_GAPS] ||
	    thread_sums__share(watched, idle_ns) < thresholds[LEAST_SHARE])
		return 0;
	return idle_ns;
}

static int detect(const struct watched_thread *watched, struct finding *finding)
{
	const struct thread_profile *thread = watched->thread;
	uint64_t inside =
		thread->idle_inside_ns < thread->idle_ns ? thread->idle_inside_ns : thread->idle_ns;
	double host = (double)(thread->idle_ns - inside);

	finding__number(finding, "gaps", (double)thread->idle_gaps, UNIT_COUNT);
	finding__number(finding, "idle_ns", (double)thread->idle_ns, UNIT_NS);
	finding__number(finding, "mean", (double)thread->idle_ns / (double)thread->idle_gaps,
			UNIT_NS);
	finding__number(finding, "longest", (double)thread->idle_max_ns, UNIT_NS);
	finding__number(finding, "host_ns", host, UNIT_NS);
	finding__number(finding, "calls_ns", (double)inside, UNIT_NS);
	finding->stack = profile__stack(watched->process->profile, thread->idle_stack);
	return finding__evidence(
		finding,
		"%s times nothing was queued for more than 100 ms, %s on average and %s at most, "
		"%s of the thread's time; the thread spent %s of it outside CUDA calls%s",
		quantity__amount((double)thread->idle_gaps).text,
		quantity__time((double)thread->idle_ns / (double)thread->idle_gaps).text,
		quantity__time((double)thread->idle_max_ns).text,
		quantity__share(thread_sums__share(watched, idle_of(watched))).text,
		quantity__time(host).text,
		host > (double)thread->idle_ns / 2 ?
			": a data loader that cannot keep up looks like this" :
			"");
}

/* `process` may be a view of its steady time. */
static bool has_work(const struct model *model, const struct process *process)
{
	const struct process *whole = model__process_of(model, process->pid, process->start_ns);
	struct verdict verdict = {.kind = VERDICT_UNKNOWN};

	if (whole)
		verdict__judge(model, whole, &verdict);
	return verdict.kind != VERDICT_NO_WORK;
}

static int detect_idle_gaps(const struct finding_input *input, const struct process *process,
			    struct finding_list *out)
{
	if (!has_work(input->model, process))
		return 0;
	return thread_sums__make(input, process, cost_of, detect, out);
}

const struct finding_kind idle_gaps_kind = {
	.id = "idle-gaps",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.steady = true,
	.every = EVERY_CALL,
	.title = "the GPU has nothing to do",
	.advice = "The GPU had nothing to do: the thread submitted work only long after it had "
		  "waited for the last. If that time is spent outside CUDA calls, the input does "
		  "not keep up: load and prepare the next batch in other threads or processes "
		  "while the GPU works (more workers and prefetching in a data loader), move "
		  "preparation to the GPU, write checkpoints and logs outside the loop. Idle time "
		  "is counted only if a wait shows that the queue was empty, so there may be more.",
	.cost = "gaps of more than 100 ms in which nothing was queued",
	.thresholds =
		{
			{"share", 0.1, UNIT_SHARE, "minimum share of the thread's time"},
			{"gaps", 3, UNIT_COUNT, "minimum gaps"},
		},
	.detect = detect_idle_gaps,
};
