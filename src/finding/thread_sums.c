// SPDX-License-Identifier: BSD-2-Clause
// Findings about threads, see thread_sums.h.
#include "finding/thread_sums.h"

#include <errno.h>

#include "finding/site_lookup.h"
#include "model/profile.h"

struct candidate {
	struct watched_thread watched;
	uint64_t cost_ns;
};

/* Keeps the costliest first. */
static void put_in(struct candidate *worst, size_t used, const struct candidate *candidate)
{
	size_t at = used < THREADS_SHOWN ? used : THREADS_SHOWN - 1;

	if (used >= THREADS_SHOWN && worst[at].cost_ns >= candidate->cost_ns)
		return;
	for (; at && worst[at - 1].cost_ns < candidate->cost_ns; at--)
		worst[at] = worst[at - 1];
	worst[at] = *candidate;
}

static int add(const struct candidate *candidate, size_t threads, thread_detect_fn detect,
	       struct finding_list *out)
{
	const struct watched_thread *watched = &candidate->watched;
	struct finding *finding = finding_list__add(out, watched->input, watched->process);
	int ret;

	if (!finding)
		return -ENOMEM;
	finding->tid = watched->thread->tid;
	finding__cost(finding, candidate->cost_ns, watched->ns);
	ret = detect(watched, finding);
	if (!ret && threads > 1)
		finding__number(finding, "threads", (double)threads, UNIT_COUNT);
	return ret;
}

int thread_sums__make(const struct finding_input *input, const struct process *process,
		      thread_cost_fn cost, thread_detect_fn detect, struct finding_list *out)
{
	const struct profile *profile = process->profile;
	struct candidate worst[THREADS_SHOWN];
	size_t count = 0;
	int ret = 0;

	for (size_t i = 0; profile && i < profile->thread_count; i++) {
		struct candidate candidate = {.watched = {input, process, &profile->threads[i], 0}};

		candidate.watched.ns =
			site_lookup__thread_ns(input, process, candidate.watched.thread);
		if (candidate.watched.ns >= THREAD_LEAST_NS)
			candidate.cost_ns = cost(&candidate.watched);
		if (candidate.cost_ns)
			put_in(worst, count++, &candidate);
	}
	for (size_t i = 0; i < count && i < THREADS_SHOWN && !ret; i++)
		ret = add(&worst[i], count, detect, out);
	return ret;
}

double thread_sums__share(const struct watched_thread *watched, uint64_t ns)
{
	return (double)ns / (double)watched->ns;
}

uint64_t thread_sums__overlap(const struct watched_thread *watched, uint64_t ns, uint64_t calls)
{
	const struct thread_profile *thread = watched->thread;
	uint64_t began = thread->first_ns > watched->input->began_ns ? thread->first_ns :
								       watched->input->began_ns;
	uint64_t active = thread->latest_ns > began ? thread->latest_ns - began : 0;
	uint64_t most = (active > ns ? active - ns : 0) + calls * EMPTY_WAIT_NS;

	return ns < most ? ns : most;
}

uint64_t thread_sums__launches(const struct watched_thread *watched)
{
	return watched->thread->launches +
	       profile__missed_launches(watched->process->profile, watched->thread);
}

double thread_sums__launch_scale(const struct watched_thread *watched)
{
	uint64_t seen = watched->thread->launches;

	return seen ? (double)thread_sums__launches(watched) / (double)seen : 1;
}

struct time_totals thread_sums__waits(const struct watched_thread *watched,
				      const struct time_totals *waits)
{
	const struct thread_profile *thread = watched->thread;
	double known = (double)(thread->single_waits.calls + thread->bare_waits.calls +
				thread->batch_waits.calls);
	double scale = known > 0 ? (known + (double)thread->blind_waits.calls) / known : 1;

	return (struct time_totals){
		.calls = (uint64_t)(scale * (double)waits->calls),
		.ns = (uint64_t)(scale * (double)waits->ns),
	};
}
