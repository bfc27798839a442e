// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread that waits often but never long: each time the GPU runs empty and the thread must feed
 * it again. Long waits mean a busy GPU and are not a finding; nor are waits that come once in many
 * launches, which hardly let it run empty.
 */
#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/thread_sums.h"
#include "finding/site_lookup.h"
#include "api/api.h"

enum {
	LEAST_SHARE,
	LEAST_CALLS,
	MOST_MEAN,
	MOST_LAUNCHES, /* sync-stall only */
};

/* one in this many would be enough; the text of the assumption repeats this number */
#define WAITS_NEEDED 10
static const char assumption[] =
	"one wait in 10 is enough; the thread's other work then overlaps with the GPU's";

/* --- common part --- */

static double mean(const struct time_totals *waits)
{
	return waits->calls ? (double)waits->ns / (double)waits->calls : 0;
}

static uint64_t cost_of(const struct watched_thread *watched, const struct time_totals *waits)
{
	const double *thresholds = watched->input->thresholds;

	if ((double)waits->calls < thresholds[LEAST_CALLS] || mean(waits) > thresholds[MOST_MEAN] ||
	    thread_sums__share(watched, waits->ns) < thresholds[LEAST_SHARE])
		return 0;
	return waits->ns;
}

/* Short explicit waits: the sites of other threads' long waits come before them in the list. */
static bool is_short_wait(const struct call_site *site, const void *arg)
{
	const double *most = arg;

	return site->row < api_function_count &&
	       api_functions[site->row].desc.operation == OP_WAIT &&
	       (double)site->amount <= *most * (double)site->calls;
}

static void point_at(const struct watched_thread *watched, struct finding *finding)
{
	const struct call_site *site = site_lookup__most(watched->process, SITE_WAIT, is_short_wait,
							 &watched->input->thresholds[MOST_MEAN]);

	finding->stack = site ? site->stack : NULL;
}

static void estimate(const struct watched_thread *watched, const struct time_totals *waits,
		     struct finding *finding)
{
	uint64_t all_but_needed = waits->ns / WAITS_NEEDED * (WAITS_NEEDED - 1);
	uint64_t overlap = thread_sums__overlap(watched, waits->ns, waits->calls);

	finding__saving(finding, all_but_needed < overlap ? all_but_needed : overlap, assumption);
}

/* --- after each launch --- */

static uint64_t single_cost(const struct watched_thread *watched)
{
	const struct time_totals waits =
		thread_sums__waits(watched, &watched->thread->single_waits);

	return cost_of(watched, &waits);
}

static int single_detect(const struct watched_thread *watched, struct finding *finding)
{
	const struct time_totals waits =
		thread_sums__waits(watched, &watched->thread->single_waits);
	uint64_t launches = thread_sums__launches(watched);

	finding__number(finding, "waits", (double)waits.calls, UNIT_COUNT);
	finding__number(finding, "wait_ns", (double)waits.ns, UNIT_NS);
	finding__number(finding, "mean", mean(&waits), UNIT_NS);
	finding__number(finding, "launches", (double)launches, UNIT_COUNT);
	estimate(watched, &waits, finding);
	point_at(watched, finding);
	return finding__evidence(
		finding,
		"%s of %s launches were waited for one by one, %s each: %s, %s of the thread's "
		"time",
		quantity__amount((double)waits.calls).text, quantity__amount((double)launches).text,
		quantity__time(mean(&waits)).text, quantity__time((double)waits.ns).text,
		quantity__share(thread_sums__share(watched, waits.ns)).text);
}

static int detect_sync_after_every_launch(const struct finding_input *input,
					  const struct process *process, struct finding_list *out)
{
	return thread_sums__make(input, process, single_cost, single_detect, out);
}

const struct finding_kind sync_after_every_launch_kind = {
	.id = "sync-after-every-launch",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.steady = true,
	.every = EVERY_COPY | EVERY_WAIT,
	.title = "the program waits after each launch",
	.advice = "After each launch the thread waits until the GPU is done, and the GPU then "
		  "idles until the next launch arrives. Work in one stream runs in order without "
		  "any wait. Wait only where the host reads a result (and then for an event or "
		  "the stream, not the device), or once in many launches. In PyTorch look for "
		  ".item(), .cpu(), print of a tensor, or torch.cuda.synchronize() in the loop.",
	.cost = "waits that followed exactly one launch",
	.thresholds =
		{
			{"share", 0.1, UNIT_SHARE, "minimum share of the thread's time"},
			{"calls", 100, UNIT_COUNT, "minimum such waits"},
			{"mean", 1e6, UNIT_NS,
			 "maximum mean time of one; above it the GPU is busy"},
		},
	.detect = detect_sync_after_every_launch,
};

/* --- other waits --- */

static struct time_totals other_waits(const struct watched_thread *watched)
{
	const struct thread_profile *thread = watched->thread;
	const struct time_totals waits = {
		.calls = thread->bare_waits.calls + thread->batch_waits.calls,
		.ns = thread->bare_waits.ns + thread->batch_waits.ns,
	};

	return thread_sums__waits(watched, &waits);
}

/* Average launches per wait, without the launches that were waited for one by one. */
static double launches_each(const struct watched_thread *watched, const struct time_totals *waits)
{
	uint64_t single = thread_sums__waits(watched, &watched->thread->single_waits).calls;
	uint64_t all = thread_sums__launches(watched), launches = all > single ? all - single : 0;

	return waits->calls ? (double)launches / (double)waits->calls : 0;
}

static uint64_t stall_cost(const struct watched_thread *watched)
{
	const struct time_totals waits = other_waits(watched);

	if (launches_each(watched, &waits) > watched->input->thresholds[MOST_LAUNCHES])
		return 0;
	return cost_of(watched, &waits);
}

static int stall_detect(const struct watched_thread *watched, struct finding *finding)
{
	const struct thread_profile *thread = watched->thread;
	const struct time_totals waits = other_waits(watched);

	finding__number(finding, "waits", (double)waits.calls, UNIT_COUNT);
	finding__number(finding, "wait_ns", (double)waits.ns, UNIT_NS);
	finding__number(finding, "mean", mean(&waits), UNIT_NS);
	finding__number(finding, "without_launch", (double)thread->bare_waits.calls, UNIT_COUNT);
	finding__number(finding, "without_launch_ns", (double)thread->bare_waits.ns, UNIT_NS);
	finding__number(finding, "after_several", (double)thread->batch_waits.calls, UNIT_COUNT);
	finding__number(finding, "after_several_ns", (double)thread->batch_waits.ns, UNIT_NS);
	finding__number(finding, "launches", (double)thread_sums__launches(watched), UNIT_COUNT);
	finding__number(finding, "launches_each", launches_each(watched, &waits), UNIT_RATIO);
	estimate(watched, &waits, finding);
	point_at(watched, finding);
	return finding__evidence(
		finding,
		"%s waits of %s each: %s, %s of the thread's time; %s of them came after several "
		"launches, %s after none",
		quantity__amount((double)waits.calls).text, quantity__time(mean(&waits)).text,
		quantity__time((double)waits.ns).text,
		quantity__share(thread_sums__share(watched, waits.ns)).text,
		quantity__amount((double)thread->batch_waits.calls).text,
		quantity__amount((double)thread->bare_waits.calls).text);
}

static int detect_sync_stall(const struct finding_input *input, const struct process *process,
			     struct finding_list *out)
{
	return thread_sums__make(input, process, stall_cost, stall_detect, out);
}

const struct finding_kind sync_stall_kind = {
	.id = "sync-stall",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.steady = true,
	.every = EVERY_COPY | EVERY_WAIT,
	.title = "the program spends its time in many short waits",
	.advice = "Each wait lets the GPU's queue run empty, and the GPU idles until the thread "
		  "launches again. Wait less often; let the thread prepare and launch the next "
		  "work first and then wait for the earlier work by an event (two or more buffers "
		  "in turn); leave out waits when nothing was launched. A few long waits are no "
		  "fault: the GPU is busy then.",
	.cost = "waits that did not follow exactly one launch",
	.thresholds =
		{
			{"share", 0.2, UNIT_SHARE, "minimum share of the thread's time"},
			{"calls", 100, UNIT_COUNT, "minimum such waits"},
			{"mean", 1e6, UNIT_NS,
			 "maximum mean time of one; above it the GPU is busy"},
			{"launches", 16, UNIT_RATIO,
			 "maximum mean launches per wait; above it waits are few"},
		},
	.detect = detect_sync_stall,
};
