// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread that spends its time launching, one short launch after another, and hardly ever waits:
 * the GPU finishes each one before the next arrives.
 *
 * This does not apply if the GPU's queue is full. Then a launch blocks until there is room, about
 * as long as a kernel runs, and the GPU has enough work. Such launches take long
 * (LAUNCH_BLOCKED_NS), or many times as long as the fastest, which include the first ones that
 * found the queue empty.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/sequence.h"
#include "finding/thread_sums.h"
#include "finding/site_lookup.h"
#include "api/api.h"

enum {
	LEAST_SHARE,
	LEAST_RATE,
	MOST_WAITS,
};

/* launches that find room take a few microseconds, tens of them on a busy machine */
#define LAUNCH_BLOCKED_NS 50000
#define BLOCKED_RATIO 4
#define FIRST_LAUNCHES 512 /* half of a queue's capacity: at least this many launches found room */

/*
 * Cost of a CUDA graph in place of the launches, in microseconds: twice the measured cost on an
 * H200 (0.97 per kernel, 2.3 to 5.0 per launch, docs/case-studies.md), so that the estimated saving
 * is not too high.
 */
#define GRAPH_KERNEL_US 2.0
#define GRAPH_LAUNCH_US 10
#define GRAPH_LEAST 32

#define AS_TEXT(number) #number
#define TEXT(number) AS_TEXT(number)
/* clang-format off */
static const char assumption[] =
	"the repeating launches become CUDA graphs of " TEXT(GRAPH_LEAST) " kernels or more; a kernel inside one "
	"costs the CPU nothing and the GPU at least " TEXT(GRAPH_KERNEL_US) " us, the launch of a graph "
	TEXT(GRAPH_LAUNCH_US) " us";
/* clang-format on */

/* --- full queues --- */

static bool is_blocked(const struct duration_record *time)
{
	double first =
		time->calls > 2 * FIRST_LAUNCHES ? FIRST_LAUNCHES / (double)time->calls : 0.5;
	uint64_t median = profile__percentile(time->buckets, 0.5, time->max_ns);

	return median > LAUNCH_BLOCKED_NS ||
	       median > BLOCKED_RATIO * profile__percentile(time->buckets, first, time->max_ns);
}

static bool queue_is_full(const struct watched_thread *watched)
{
	const struct profile *profile = watched->process->profile;
	const struct time_totals *chained = &watched->thread->chained;
	uint64_t blocked_ns = 0, all_ns = 0;

	/*
	 * Checks this thread, in case others of the process launch faster. The factor of 2 allows
	 * for outliers in the mean.
	 */
	if (chained->ns > 2 * chained->calls * LAUNCH_BLOCKED_NS)
		return true;
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];

		if (!profile__is_launch(function->row))
			continue;
		all_ns += function->time.ns;
		if (is_blocked(&function->time))
			blocked_ns += function->time.ns;
	}
	return blocked_ns > all_ns / 2;
}

/* --- the finding --- */

static double rate_of(const struct watched_thread *watched)
{
	return (double)thread_sums__launches(watched) * 1e9 / (double)watched->ns;
}

/* Explicit waits, and calls that block. */
static uint64_t waited_ns(const struct thread_profile *thread)
{
	uint64_t ns = thread->time[TIME_WAIT].ns;

	for (int cause = 0; cause < IMPLICIT_WAITS; cause++)
		ns += thread->implicit[cause].ns + thread->pending[cause].ns;
	return ns;
}

/* Launches back to back, extrapolated to the unwatched ones. */
struct chain {
	double launches, ns, gap_ns;
};

/*
 * Watched launches took longer because of their probes, so the extrapolated time is limited to the
 * thread's time.
 */
static struct chain chain_of(const struct watched_thread *watched)
{
	const struct thread_profile *thread = watched->thread;
	double counted_ns = (double)(thread->chained.ns + thread->chained_gap_ns);
	double scale = thread_sums__launch_scale(watched),
	       of_time = fmin(scale, fmax(1, (double)watched->ns / counted_ns));

	return (struct chain){
		.launches = scale * (double)thread->chained.calls,
		.ns = of_time * (double)thread->chained.ns,
		.gap_ns = of_time * (double)thread->chained_gap_ns,
	};
}

static uint64_t cost_of(const struct watched_thread *watched)
{
	const struct thread_profile *thread = watched->thread;
	const double *thresholds = watched->input->thresholds;
	const struct chain chain = chain_of(watched);

	if (!thread->chained.calls || rate_of(watched) < thresholds[LEAST_RATE] ||
	    thread_sums__share(watched, (uint64_t)(chain.ns + chain.gap_ns)) <
		    thresholds[LEAST_SHARE] ||
	    thread_sums__share(watched, waited_ns(thread)) >= thresholds[MOST_WAITS] ||
	    queue_is_full(watched))
		return 0;
	return (uint64_t)chain.ns;
}

/*
 * The names of a sequence's kernels, sorted: a process may have tens of thousands of call sites to
 * look up.
 */
struct names {
	const char **list;
	size_t count;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int gather_names(const struct process *process, const struct sequence *sequence,
			struct names *names)
{
	names->count = 0;
	names->list = malloc((sequence->period + 1) * sizeof(*names->list));
	if (!names->list)
		return -ENOMEM;
	for (size_t i = 0; i < sequence->period; i++) {
		const char *name = sequence__kernel(process, sequence->handles[i]);

		if (name)
			names->list[names->count++] = name;
	}
	qsort(names->list, names->count, sizeof(*names->list), compare_names);
	return 0;
}

/* Restricts to the thread's own kernels, since other threads launch others. */
static bool is_in_sequence(const struct call_site *site, const void *arg)
{
	const struct names *names = arg;

	return site->kernel_label && bsearch(&site->kernel_label, names->list, names->count,
					     sizeof(*names->list), compare_names);
}

/* No estimate if the launches are graphs already. */
static void estimate(const struct watched_thread *watched, const struct sequence *sequence,
		     struct finding *finding)
{
	const struct chain chain = chain_of(watched);
	double launches = chain.launches * sequence->share;
	double now = (chain.ns + chain.gap_ns) * sequence->share;
	double graph = sequence->period > GRAPH_LEAST ? (double)sequence->period : GRAPH_LEAST;
	double then = launches * GRAPH_KERNEL_US * 1e3 + launches / graph * GRAPH_LAUNCH_US * 1e3;

	for (size_t i = 0; i < sequence->period; i++)
		if (!sequence__kernel(watched->process, sequence->handles[i]))
			return;
	if (sequence->period && now > then)
		finding__saving(finding, (uint64_t)(now - then), assumption);
}

static int report(const struct watched_thread *watched, const struct sequence *sequence,
		  struct finding *finding)
{
	const struct thread_profile *thread = watched->thread;
	const struct chain chain = chain_of(watched);
	double share = thread_sums__share(watched, (uint64_t)(chain.ns + chain.gap_ns));
	uint64_t gap = profile__percentile(thread->gaps, 0.5, UINT64_MAX);

	finding__number(finding, "launches", (double)thread_sums__launches(watched), UNIT_COUNT);
	finding__number(finding, "launch_rate", rate_of(watched), UNIT_PER_SECOND);
	finding__number(finding, "back_to_back", chain.launches, UNIT_COUNT);
	finding__number(finding, "back_to_back_ns", chain.ns, UNIT_NS);
	finding__number(finding, "back_to_back_gap_ns", chain.gap_ns, UNIT_NS);
	finding__number(finding, "median_gap", (double)gap, UNIT_NS);
	finding__number(finding, "wait_share", thread_sums__share(watched, waited_ns(thread)),
			UNIT_SHARE);
	finding__number(finding, "sequence_launches", (double)sequence->period, UNIT_COUNT);
	finding__number(finding, "sequence_share", sequence->share, UNIT_SHARE);
	return finding__evidence(
		finding,
		"%s; those back to back take %s each with %s before each (median %s), "
		"together %s of the thread's time, and waits %s%s",
		quantity__rate_of(rate_of(watched), "launches").text,
		quantity__time(chain.ns / chain.launches).text,
		quantity__time(chain.gap_ns / chain.launches).text,
		quantity__time((double)gap).text, quantity__share(share).text,
		quantity__share(thread_sums__share(watched, waited_ns(thread))).text,
		sequence->period ? "" : "; no sequence of them repeats");
}

/* The call site that launches most of the sequence's kernels. 0 or -ENOMEM. */
static int find_site(const struct process *process, const struct sequence *sequence,
		     struct finding *finding)
{
	const struct call_site *site;
	struct names names;

	if (gather_names(process, sequence, &names))
		return -ENOMEM;
	site = site_lookup__most(process, SITE_LAUNCH, is_in_sequence, &names);
	finding->stack = site ? site->stack : NULL;
	free(names.list);
	return 0;
}

static int name_sequence(const struct watched_thread *watched, const struct sequence *sequence,
			 struct finding *finding)
{
	char *text = sequence__text(sequence, watched->process,
				    findings__has_full_names(watched->input->state));
	int ret = text ? finding__subject(finding, "%s", text) : -ENOMEM;

	free(text);
	return ret;
}

static int detect(const struct watched_thread *watched, struct finding *finding)
{
	struct sequence sequence;
	int ret;

	sequence__find(watched->process, watched->thread, &sequence);
	ret = sequence.period ? name_sequence(watched, &sequence, finding) : 0;
	if (!ret)
		ret = find_site(watched->process, &sequence, finding);
	estimate(watched, &sequence, finding);
	return ret ? ret : report(watched, &sequence, finding);
}

static int detect_launch_bound(const struct finding_input *input, const struct process *process,
			       struct finding_list *out)
{
	return thread_sums__make(input, process, cost_of, detect, out);
}

const struct finding_kind launch_bound_kind = {
	.id = "launch-bound",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.steady = true,
	.host_limits = true,
	.every = EVERY_COPY | EVERY_WAIT,
	.title = "many short launches back to back: the CPU cannot feed the GPU",
	.advice = "A launch costs the CPU a few microseconds, whatever the kernel does. If "
		  "kernels take no longer than that, the GPU is done before the next one arrives. "
		  "Record the repeating sequence once as a CUDA graph and launch that "
		  "(cudaStreamBeginCapture and cudaGraphLaunch; in PyTorch torch.cuda.graph or "
		  "torch.compile(mode=\"reduce-overhead\")), or fuse kernels, or give each more "
		  "work (a larger batch). Calls do not show how long kernels run: use a GPU "
		  "profiler for that.",
	.cost = "launches back to back",
	.thresholds =
		{
			{"share", 0.5, UNIT_SHARE,
			 "minimum share of the thread's time spent launching, gaps included"},
			{"rate", 10000, UNIT_PER_SECOND, "minimum launches"},
			{"wait", 0.2, UNIT_SHARE,
			 "maximum share of the thread's time in waits; above it the GPU has enough "
			 "work"},
		},
	.detect = detect_launch_bound,
};
