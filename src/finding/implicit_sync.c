// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls that make a thread wait for the GPU without being waits, with launches before and after
 * them: synchronous copies and sets, frees, module loads, slow first launches.
 */
#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/thread_sums.h"
#include "finding/site_lookup.h"
#include "api/api.h"
#include "model/load.h"

enum {
	LEAST_SHARE,
	LEAST_CALLS,
};

static const char assumption[] =
	"copies, sets and frees are replaced by their stream-ordered forms; the thread's "
	"other work then overlaps with the GPU's";

static struct time_totals all_of(const struct thread_profile *thread)
{
	struct time_totals sum = {0};

	for (int cause = 0; cause < IMPLICIT_WAITS; cause++) {
		sum.calls += thread->implicit[cause].calls;
		sum.ns += thread->implicit[cause].ns;
	}
	return sum;
}

static enum implicit_wait worst_of(const struct thread_profile *thread)
{
	int worst = 0;

	for (int cause = 1; cause < IMPLICIT_WAITS; cause++)
		if (thread->implicit[cause].ns > thread->implicit[worst].ns)
			worst = cause;
	return (enum implicit_wait)worst;
}

/* --- the function --- */

static bool causes(size_t row, enum implicit_wait cause)
{
	const struct function_desc *function;

	if (row >= api_function_count)
		return false;
	function = &api_functions[row].desc;
	if (function->flags & FUNCTION_ASYNC)
		return false;
	switch (cause) {
	case IMPLICIT_COPY: return function->operation == OP_COPY;
	case IMPLICIT_SET: return function->operation == OP_SET;
	case IMPLICIT_FREE: return function->operation == OP_FREE;
	case IMPLICIT_LOAD:
		return function->operation == OP_CREATE &&
		       (function->kind == OBJECT_MODULE || function->kind == OBJECT_LIBRARY);
	default: return false;
	}
}

/*
 * The one that took the process most time; -1: none, as for first launches, which are slow because
 * of what they launch.
 */
static int function_of(const struct profile *profile, enum implicit_wait cause)
{
	/* The profile lists functions with the most time first. */
	for (size_t i = 0; i < profile->function_count; i++)
		if (causes(profile->functions[i].row, cause))
			return profile->functions[i].row;
	return -1;
}

static const char *words_of(enum implicit_wait cause)
{
	static const char *const words[IMPLICIT_WAITS] = {
		[IMPLICIT_COPY] = "synchronous copies",
		[IMPLICIT_SET] = "synchronous sets",
		[IMPLICIT_FREE] = "frees",
		[IMPLICIT_LOAD] = "loads of modules",
		[IMPLICIT_FIRST_LAUNCH] = "slow first launches of kernels",
	};

	return words[cause];
}

static int name_worst(const struct watched_thread *watched, struct finding *finding)
{
	enum implicit_wait worst = worst_of(watched->thread);
	int row = function_of(watched->process->profile, worst);

	if (row < 0)
		return finding__subject(finding, "%s", words_of(worst));
	finding->stack = site_lookup__of_row(watched->process, SITE_WAIT, (size_t)row);
	return finding__subject(finding, "%s, mostly %s", words_of(worst),
				site_lookup__function((size_t)row));
}

/* --- the finding --- */

/*
 * The part of the thread's time in which the GPU does not delay it: launches that found the queue
 * full left no time to overlap.
 */
static uint64_t free_ns(const struct watched_thread *watched)
{
	struct load load;

	load__of(watched->process, watched->input->model->now_ns, &load);
	if (!load.thread_ns)
		return watched->ns;
	return load.held_ns < load.thread_ns ?
		       (uint64_t)((1 - (double)load.held_ns / (double)load.thread_ns) *
				  (double)watched->ns) :
		       0;
}

/*
 * Waits for the GPU that are needed anyway save nothing: a program as slow as its GPU has little
 * else to do meanwhile.
 */
static uint64_t saving_of(const struct watched_thread *watched, const struct time_totals *all)
{
	const struct time_totals *loads = &watched->thread->implicit[IMPLICIT_LOAD];
	const struct time_totals *first = &watched->thread->implicit[IMPLICIT_FIRST_LAUNCH];
	uint64_t calls = all->calls - loads->calls - first->calls, overlap_ns;

	if (!calls)
		return 0;
	overlap_ns = thread_sums__overlap(watched, all->ns - loads->ns - first->ns, calls);
	return overlap_ns < free_ns(watched) ? overlap_ns : free_ns(watched);
}

/* Loads and first launches would take as long before the loop, but inside it they delay it. */
static uint64_t loads_of(const struct thread_profile *thread)
{
	return thread->implicit[IMPLICIT_LOAD].ns + thread->implicit[IMPLICIT_FIRST_LAUNCH].ns;
}

static uint64_t cost_of(const struct watched_thread *watched)
{
	const struct time_totals all = all_of(watched->thread);
	const double *thresholds = watched->input->thresholds;

	if ((double)all.calls < thresholds[LEAST_CALLS] ||
	    thread_sums__share(watched, all.ns) < thresholds[LEAST_SHARE] ||
	    thread_sums__share(watched, saving_of(watched, &all) + loads_of(watched->thread)) <
		    thresholds[LEAST_SHARE])
		return 0;
	return all.ns;
}

static void number(struct finding *finding, const char *calls, const char *ns,
		   const struct time_totals *totals)
{
	finding__number(finding, calls, (double)totals->calls, UNIT_COUNT);
	finding__number(finding, ns, (double)totals->ns, UNIT_NS);
}

static void estimate(const struct watched_thread *watched, const struct time_totals *all,
		     struct finding *finding)
{
	uint64_t saving_ns = saving_of(watched, all);

	if (saving_ns)
		finding__saving(finding, saving_ns, assumption);
}

static int detect(const struct watched_thread *watched, struct finding *finding)
{
	const struct thread_profile *thread = watched->thread;
	const struct time_totals *by_cause = thread->implicit, *worst = &by_cause[worst_of(thread)];
	const struct time_totals all = all_of(thread);
	int ret;

	number(finding, "calls", "ns", &all);
	number(finding, "copies", "copy_ns", &by_cause[IMPLICIT_COPY]);
	number(finding, "sets", "set_ns", &by_cause[IMPLICIT_SET]);
	number(finding, "frees", "free_ns", &by_cause[IMPLICIT_FREE]);
	number(finding, "loads", "load_ns", &by_cause[IMPLICIT_LOAD]);
	number(finding, "first_launches", "first_launch_ns", &by_cause[IMPLICIT_FIRST_LAUNCH]);
	estimate(watched, &all, finding);
	ret = name_worst(watched, finding);
	if (ret)
		return ret;
	return finding__evidence(finding,
				 "%s calls blocked between launches for %s, %s of the thread's "
				 "time: %s %s in %s calls, %s each",
				 quantity__amount((double)all.calls).text,
				 quantity__time((double)all.ns).text,
				 quantity__share(thread_sums__share(watched, all.ns)).text,
				 words_of(worst_of(thread)), quantity__time((double)worst->ns).text,
				 quantity__amount((double)worst->calls).text,
				 quantity__time((double)worst->ns / (double)worst->calls).text);
}

static int detect_implicit_sync(const struct finding_input *input, const struct process *process,
				struct finding_list *out)
{
	return thread_sums__make(input, process, cost_of, detect, out);
}

const struct finding_kind implicit_sync_kind = {
	.id = "implicit-sync",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.steady = true,
	.every = EVERY_COPY | EVERY_WAIT,
	.title = "calls that block in the middle of launches",
	.advice = "Some calls wait for the GPU without being asked to: synchronous copies (use "
		  "cudaMemcpyAsync with pinned memory), cudaMemset of pinned or managed memory "
		  "(cudaMemsetAsync), cudaFree and cudaFreeHost (allocate once and keep it, or "
		  "use cudaMallocAsync and cudaFreeAsync), and loads of modules. A kernel's first "
		  "launch is slow if it loads the kernel's module, by a visible call or inside "
		  "the driver: launch each kernel once before the loop, or set "
		  "CUDA_MODULE_LOADING=EAGER.",
	.cost = "calls that blocked between launches",
	.thresholds =
		{
			{"share", 0.05, UNIT_SHARE, "minimum share of the thread's time"},
			{"calls", 10, UNIT_COUNT, "minimum such calls"},
		},
	.detect = detect_implicit_sync,
};
