// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads or streams that meet on the legacy default stream. It waits for all the others, and they
 * wait for it, so work that could run concurrently is serialized.
 */
#include <errno.h>

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

/* Sums over the threads that meet there. */
struct meeting {
	uint64_t threads, at_once, launches, legacy_launches;
	uint64_t behind, crossings;
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
	meeting->launches += thread->launches;
	meeting->legacy_launches += thread->legacy_launches;
	meeting->behind += thread->legacy_behind;
	meeting->crossings += thread->legacy_crossings;
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
	uint64_t met = meeting->behind + meeting->crossings;
	double ways = (double)side_by_side(meeting);

	finding__number(finding, "launches", (double)meeting->launches, UNIT_COUNT);
	finding__number(finding, "legacy_launches", (double)meeting->legacy_launches, UNIT_COUNT);
	finding__number(finding, "behind_other_threads", (double)meeting->behind, UNIT_COUNT);
	finding__number(finding, "between_streams", (double)meeting->crossings, UNIT_COUNT);
	finding__number(finding, "met_share", (double)met / (double)meeting->launches, UNIT_SHARE);
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
		quantity__amount((double)meeting->launches).text,
		quantity__amount((double)meeting->threads).text, meeting->threads == 1 ? "" : "s",
		quantity__amount((double)meeting->behind).text,
		quantity__amount((double)meeting->crossings).text,
		quantity__time((double)meeting->waits.ns).text);
}

int default_stream__detect(const struct finding_input *input, const struct process *process,
			   struct finding_list *out)
{
	const struct profile *profile = process->profile;
	struct meeting meeting = {0};
	struct finding *finding;
	double met;

	for (size_t i = 0; profile && i < profile->thread_count; i++)
		add(&meeting, profile, &profile->threads[i]);
	met = (double)(meeting.behind + meeting.crossings);
	if (!meeting.launches || met < input->thresholds[LEAST_CALLS] ||
	    met < input->thresholds[LEAST_SHARE] * (double)meeting.launches)
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding__cost(finding, meeting.waits.ns, site_lookup__watched_ns(input, process));
	return fill_in(finding, &meeting);
}
