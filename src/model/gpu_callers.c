// SPDX-License-Identifier: BSD-2-Clause
// Sums up GPU work by its calls, see gpu_callers.h.
#include "model/gpu_callers.h"

#include "base/saturate.h"

static struct gpu_time_sum *site_sum(struct gpu_callers *callers, const struct gpu_joined *joined,
				     size_t *all_sites)
{
	const struct gpu_work *work = joined->work;
	const struct gpu_site_key key = {.stack = joined->stack,
					 .name = work->kind == GPU_WORK_KERNEL ? work->name : 0,
					 .kind = work->kind,
					 .copy = work->kind == GPU_WORK_COPY ? work->copy : 0};
	struct gpu_site *site = TABLE_FIND(callers->sites, key, &key);

	if (!site && HASH_COUNT(callers->sites) < GPU_CALLERS_SITES &&
	    *all_sites < GPU_CALLERS_ALL) {
		site = TABLE_ADD_NEW(callers->sites, key, &key);
		*all_sites += site != NULL;
	}
	return site ? &site->sum : &callers->other_sites;
}

static struct gpu_thread *thread_of(struct gpu_callers *callers, uint32_t tid)
{
	struct gpu_thread *thread = TABLE_FIND(callers->threads, tid, &tid);

	if (!thread && HASH_COUNT(callers->threads) < GPU_CALLERS_THREADS)
		thread = TABLE_ADD_NEW(callers->threads, tid, &tid);
	return thread;
}

/* What the GPU did before this work: nothing since the end of its latest, perhaps. */
static void add_gap(struct gpu_gaps *gaps, const struct gpu_joined *joined)
{
	uint64_t start_ns = joined->work->start_ns, from_ns = gaps->end_ns, called_ns;

	if (joined->work->end_ns > gaps->end_ns)
		gaps->end_ns = joined->work->end_ns;
	if (!from_ns || start_ns <= from_ns)
		return;
	called_ns = joined->called_ns > from_ns ? joined->called_ns : from_ns;
	if (called_ns > start_ns)
		called_ns = start_ns;
	saturate__add(&gaps->before_call_ns, called_ns - from_ns);
	saturate__add(&gaps->after_call_ns, start_ns - called_ns);
	gaps->count++;
}

void gpu_callers__add(struct gpu_callers *callers, const struct gpu_joined *joined,
		      size_t *all_sites)
{
	const struct gpu_work *work = joined->work;
	struct gpu_thread *thread = thread_of(callers, joined->tid);

	gpu_time_sum__add(site_sum(callers, joined, all_sites), work);
	gpu_time_sum__add(thread ? &thread->sum : &callers->other_threads, work);
	gpu_time_sum__add(&callers->all, work);
	gpu_delay__add(&callers->delay, joined->called_ns, work->start_ns);
	if (thread)
		gpu_delay__add(&thread->delay, joined->called_ns, work->start_ns);
	if (work->device < GPU_CALLERS_DEVICES && gpu_work__has_time(work))
		add_gap(&callers->gaps[work->device], joined);
}

void gpu_callers__clear(struct gpu_callers *callers)
{
	TABLE_CLEAR(callers->sites, free);
	TABLE_CLEAR(callers->threads, free);
	*callers = (struct gpu_callers){0};
}
