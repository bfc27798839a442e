// SPDX-License-Identifier: BSD-2-Clause
/*
 * Launches and copies that take long because another thread is inside the driver:
 * bpf/profile/contention.bpf.h records which of them ended together with the other thread's call.
 * If more of them ended at another time, something else delayed them, such as a full queue.
 */
#include <errno.h>

#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"

enum {
	LEAST_SHARE,
	LEAST_CALLS,
};

/*
 * A pair of call sites with the sums over all of the profile's entries for it: one stack has
 * several ids if more code was mapped meanwhile.
 */
struct site_pair {
	const struct stack *stack, *holder_stack;
	struct contention sum;
};

static bool is_same_pair(const struct site_pair *pair, const struct site_pair *other)
{
	return pair->sum.row == other->sum.row && pair->sum.holder_row == other->sum.holder_row &&
	       pair->stack == other->stack && pair->holder_stack == other->holder_stack;
}

static void add_up(struct contention *sum, const struct contention *more)
{
	sum->held.calls += more->held.calls;
	sum->held.ns += more->held.ns;
	sum->beside.calls += more->beside.calls;
	sum->beside.ns += more->beside.ns;
	if (more->max_ns > sum->max_ns)
		sum->max_ns = more->max_ns;
	if (more->held.calls) {
		sum->tid = more->tid;
		sum->holder_tid = more->holder_tid;
	}
}

/* Returns the number of pairs. */
static size_t list_pairs(const struct profile *profile, struct site_pair pairs[CONTENTIONS])
{
	size_t count = 0;

	for (size_t i = 0; i < CONTENTIONS && profile->totals.contentions[i].used; i++) {
		const struct contention *reported = &profile->totals.contentions[i];
		struct site_pair pair = {profile__stack(profile, reported->stack),
					 profile__stack(profile, reported->holder_stack),
					 *reported};
		size_t known = 0;

		while (known < count && !is_same_pair(&pairs[known], &pair))
			known++;
		if (known < count)
			add_up(&pairs[known].sum, reported);
		else
			pairs[count++] = pair;
	}
	return count;
}

static bool is_contention(const struct finding_input *input, const struct process *process,
			  const struct contention *pair)
{
	uint64_t watched_ns = site_lookup__watched_ns(input, process);

	return (double)pair->held.calls >= input->thresholds[LEAST_CALLS] &&
	       pair->held.calls >= pair->beside.calls &&
	       (double)pair->held.ns >= input->thresholds[LEAST_SHARE] * (double)watched_ns;
}

static int fill_in(struct finding *finding, const struct profile *profile,
		   const struct site_pair *sites)
{
	const struct contention *pair = &sites->sum;
	const char *held = site_lookup__function(pair->row),
		   *holder = site_lookup__function(pair->holder_row);
	uint64_t mean_ns = pair->held.ns / pair->held.calls;
	int ret = finding__subject(finding, "%s, held up by %s", held, holder);

	if (!ret)
		ret = finding__evidence(
			finding,
			"%s calls of %s lasted %s on average, %s at most, while another thread was "
			"in %s, and "
			"ended when that did; the latest in thread %d, the other call in thread %d",
			quantity__amount((double)pair->held.calls).text, held,
			quantity__time((double)mean_ns).text,
			quantity__time((double)pair->max_ns).text, holder, pair->tid,
			pair->holder_tid);
	finding__number(finding, "calls", (double)pair->held.calls, UNIT_COUNT);
	finding__number(finding, "mean", (double)mean_ns, UNIT_NS);
	finding__number(finding, "max", (double)pair->max_ns, UNIT_NS);
	finding__number(finding, "ended_otherwise", (double)pair->beside.calls, UNIT_COUNT);
	finding__number(finding, "thread", pair->tid, UNIT_COUNT);
	finding__number(finding, "other_thread", pair->holder_tid, UNIT_COUNT);
	finding__number(finding, "not_compared", (double)profile->totals.contentions_left,
			UNIT_COUNT);
	finding->stack = sites->stack;
	finding->other_stack = sites->holder_stack;
	finding->other_title = "held up by";
	finding->weight = (double)pair->held.ns;
	return ret;
}

static int add(const struct finding_input *input, const struct process *process,
	       const struct site_pair *sites, struct finding_list *out)
{
	struct finding *finding = finding_list__add(out, input, process);

	if (!finding)
		return -ENOMEM;
	finding__cost(finding, sites->sum.held.ns, site_lookup__watched_ns(input, process));
	finding__saving(finding, sites->sum.held.ns, "the other call is made at another time");
	return fill_in(finding, process->profile, sites);
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	struct site_pair pairs[CONTENTIONS];
	size_t count = process->profile ? list_pairs(process->profile, pairs) : 0;
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		if (is_contention(input, process, &pairs[i].sum))
			ret = add(input, process, &pairs[i], out);
	return ret;
}

const struct finding_kind driver_contention_kind = {
	.id = "driver-contention",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.every = EVERY_CALL,
	.title = "threads hold one another up inside the driver",
	.advice = "The driver has locks. A launch waits while another thread loads a module, "
		  "allocates, frees or waits for the whole device. Load modules before the loop: "
		  "call each kernel once, set CUDA_MODULE_LOADING=EAGER, or prepare plugins and "
		  "JIT-compiled code before work begins. Allocate once, or with a caching "
		  "allocator or cudaMallocAsync(). Wait for a stream or an event instead of the "
		  "device.",
	.cost = "launches and copies that another thread's call held up",
	.thresholds =
		{
			{"share", 0.02, UNIT_SHARE, "minimum share of the watched time"},
			{"calls", 3, UNIT_COUNT, "minimum calls that were held up"},
		},
	.detect = detect,
};
