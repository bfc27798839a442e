// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads or streams that meet on the legacy default stream. It waits for all the others, and they
 * wait for it, so work that could run concurrently is serialized.
 *
 * If launches are sampled, the watched ones decide, and each stands for others of its thread. Waits
 * are all watched.
 */
#include <errno.h>
#include <math.h>

#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"

enum {
	LEAST_SHARE,
	LEAST_CALLS,
};

static const char assumption[] =
	"the threads or streams that meet have equal work, and the GPU has room to do it in "
	"parallel";

/* Launches of one or several threads, as counted or with the estimated ones. */
struct launch_sums {
	double all, legacy;
	double behind, crossings;
};

/* Sums over the threads that meet there. */
struct meeting {
	uint64_t threads, at_once;
	struct launch_sums seen, estimated;
	struct time_totals waits;
};

static bool meets(const struct thread_profile *thread)
{
	return thread->legacy_behind || thread->legacy_crossings;
}

/* Threads that meet there and were active when this one began, including itself. */
static uint64_t count_beside(const struct profile *profile, const struct thread_profile *thread)
{
	uint64_t count = 0;

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct thread_profile *other = &profile->threads[i];

		count += meets(other) && other->first_ns <= thread->first_ns &&
			 other->latest_ns > thread->first_ns;
	}
	return count;
}

static void add_launches(struct launch_sums *sums, const struct thread_profile *thread,
			 double scale)
{
	sums->all += round(scale * (double)thread->launches);
	sums->legacy += round(scale * (double)thread->legacy_launches);
	sums->behind += round(scale * (double)thread->legacy_behind);
	sums->crossings += round(scale * (double)thread->legacy_crossings);
}

/* Launches that each watched one stands for. */
static double scale_of(const struct profile *profile, const struct thread_profile *thread)
{
	double seen = (double)thread->launches;

	return seen > 0 ? (seen + (double)profile__missed_launches(profile, thread)) / seen : 1;
}

static void add(struct meeting *meeting, const struct profile *profile,
		const struct thread_profile *thread)
{
	uint64_t beside;

	if (!meets(thread))
		return;
	beside = count_beside(profile, thread);
	if (beside > meeting->at_once)
		meeting->at_once = beside;
	meeting->threads++;
	add_launches(&meeting->seen, thread, 1);
	add_launches(&meeting->estimated, thread, scale_of(profile, thread));
	meeting->waits.calls += thread->legacy_waits.calls;
	meeting->waits.ns += thread->legacy_waits.ns;
}

/* Two streams, if only one thread crosses between them. */
static uint64_t side_by_side(const struct meeting *meeting)
{
	return meeting->at_once > 1 ? meeting->at_once : 2;
}

static int fill_in(struct finding *finding, const struct meeting *meeting)
{
	const struct launch_sums *launches = &meeting->estimated;
	double ways = (double)side_by_side(meeting);

	finding__number(finding, "launches", launches->all, UNIT_COUNT);
	finding__number(finding, "legacy_launches", launches->legacy, UNIT_COUNT);
	finding__number(finding, "behind_other_threads", launches->behind, UNIT_COUNT);
	finding__number(finding, "between_streams", launches->crossings, UNIT_COUNT);
	finding__number(finding, "met_share",
			(launches->behind + launches->crossings) / launches->all, UNIT_SHARE);
	finding__number(finding, "waits", (double)meeting->waits.calls, UNIT_COUNT);
	finding__number(finding, "wait_ns", (double)meeting->waits.ns, UNIT_NS);
	finding__number(finding, "threads", (double)meeting->threads, UNIT_COUNT);
	finding__number(finding, "at_once", (double)meeting->at_once, UNIT_COUNT);
	finding__saving(finding, (uint64_t)((double)meeting->waits.ns * (1 - 1 / ways)),
			assumption);
	return finding__evidence(
		finding,
		"of %s launches by %s thread%s, %s went to the legacy default stream while another "
		"thread waited for it, and %s switched between it and a stream that waits for it; "
		"waits that cover it took %s",
		quantity__amount(launches->all).text,
		quantity__amount((double)meeting->threads).text, meeting->threads == 1 ? "" : "s",
		quantity__amount(launches->behind).text, quantity__amount(launches->crossings).text,
		quantity__time((double)meeting->waits.ns).text);
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	const struct profile *profile = process->profile;
	struct meeting meeting = {0};
	struct finding *finding;
	double met;

	for (size_t i = 0; profile && i < profile->thread_count; i++)
		add(&meeting, profile, &profile->threads[i]);
	met = meeting.seen.behind + meeting.seen.crossings;
	if (meeting.seen.all <= 0 || met < input->thresholds[LEAST_CALLS] ||
	    met < input->thresholds[LEAST_SHARE] * meeting.seen.all)
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__cost(finding, meeting.waits.ns, site_lookup__watched_ns(input, process));
	return fill_in(finding, &meeting);
}

const struct finding_kind default_stream_kind = {
	.id = "default-stream",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.steady = true,
	.every = EVERY_COPY | EVERY_WAIT,
	.title = "the legacy default stream makes work wait that could run in parallel",
	.advice = "The legacy default stream waits for all other streams and they for it, even "
		  "across threads, so that work that could run in parallel runs in turn. Give "
		  "each thread or task its own stream, created with cudaStreamNonBlocking, or "
		  "compile with --default-stream per-thread (CUDA_API_PER_THREAD_DEFAULT_STREAM), "
		  "and order dependent work by events.",
	.cost = "waits for the legacy default stream",
	.thresholds =
		{
			{"share", 0.1, UNIT_SHARE,
			 "minimum share of launches that met others there"},
			{"calls", 100, UNIT_COUNT, "minimum such launches"},
		},
	.detect = detect,
};
