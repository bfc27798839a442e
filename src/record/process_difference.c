// SPDX-License-Identifier: BSD-2-Clause
// What is special in the difference of two readings: times, extremes, and what belongs together.
// See difference.h.
#include <errno.h>
#include <string.h>

#include "model/host.h"
#include "model/oom.h"
#include "model/profile.h"
#include "model/steady_base.h"
#include "model/steps.h"
#include "model/tensors.h"
#include "record/difference.h"
#include "record/gpu_reading.h"

/* Threads were followed since then if so much of the time is in the difference. */
#define FOLLOWED_SHARE 0.9

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void subtract(uint64_t *from, uint64_t less)
{
	*from = *from > less ? *from - less : 0;
}

/* --- extremes --- */

/* The longest one: it is of the difference if it is new. Otherwise its bucket bounds it. */
static uint64_t longest(uint64_t max_ns, uint64_t before_ns, const __u64 buckets[TIME_BUCKETS])
{
	if (max_ns > before_ns)
		return max_ns;
	for (uint32_t i = TIME_BUCKETS; i-- > 0;)
		if (buckets[i])
			return i + 1 < TIME_BUCKETS ? smaller(max_ns, time_bucket_start(i + 1)) :
						      max_ns;
	return 0;
}

static void finish_duration(struct duration_record *time, const struct duration_record *before)
{
	time->max_ns = smaller(longest(time->max_ns, before->max_ns, time->buckets), time->ns);
}

/* The process's first allocation is not among them, so none stands out. */
static void finish_size(struct size_record *size)
{
	size->first_took_ns = size->allocations ? size->allocation_ns / size->allocations : 0;
}

/* Gaps and ranges are only known for the whole time; a range of one value is the same in a part. */
static void finish_shape(struct shape_record *shape, const struct shape_record *before)
{
	bool is_one = shape->blocks_min == shape->blocks_max &&
		      shape->threads_min == shape->threads_max &&
		      shape->shared_min == shape->shared_max;

	if (!before->samples)
		return;
	shape->gaps = shape->gap_ns = 0;
	if (!is_one)
		shape->samples = 0;
}

/* `live`: now, which is a lower bound of the peak. */
static uint64_t peak(uint64_t now, uint64_t before, uint64_t live)
{
	return now > before ? now : live;
}

static void finish_tensor_device(struct tensor_device_record *counts,
				 const struct tensor_device_record *all,
				 const struct tensor_device_record *before)
{
	uint64_t live = all->made_bytes;

	subtract(&live, all->freed_bytes + all->replaced_bytes);
	counts->peak_bytes = peak(all->peak_bytes, before->peak_bytes, live);
}

static void finish_tensor_site(struct tensor_site_record *counts,
			       const struct tensor_site_record *all,
			       const struct tensor_site_record *before)
{
	uint64_t live = all->made_bytes;

	subtract(&live, all->freed_bytes);
	counts->peak_bytes = peak(all->peak_bytes, before->peak_bytes, live);
}

/* --- queues and pairs of calls --- */

/* An idle time that had begun before counts from the earlier reading on. */
static void finish_queue(const struct differ *differ, struct device_queue *queue,
			 const struct device_queue *before)
{
	if (before->idle_since_ns && before->idle_since_ns < differ->from_ns &&
	    queue->idle_since_ns != before->idle_since_ns) {
		uint64_t idle_ns = queue->idle_ns;

		subtract(&idle_ns, differ->from_ns - before->idle_since_ns);
		queue->idle_ns = idle_ns;
	}
	if (queue->idle_since_ns)
		queue->idle_since_ns = larger(queue->idle_since_ns, differ->from_ns);
}

/* Entries keep their places. Those without anything new are free again. */
static void finish_totals(struct process_profile *totals)
{
	for (size_t i = 0; i < MISSING_SITES; i++)
		if (!totals->missing_sites[i].calls)
			totals->missing_sites[i] = (struct missing_site){0};
	for (size_t i = 0; i < CONTENTIONS; i++) {
		struct contention *contention = &totals->contentions[i];

		if (!contention->held.calls && !contention->beside.calls)
			*contention = (struct contention){0};
		contention->max_ns = smaller(contention->max_ns, contention->held.ns);
	}
	/* There is no startup in it. */
	totals->launched_ns = 0;
	totals->launched_tid = 0;
	memset(&totals->launched, 0, sizeof(totals->launched));
}

/* --- threads --- */

static bool is_same_thread(const struct thread_profile *a, const struct thread_profile *b)
{
	return a->tid == b->tid && a->first_ns == b->first_ns;
}

/* Lists keep their order from one reading to the next, mostly. Returns the index, or the count. */
static size_t find_thread(const struct profile *profile, size_t expected,
			  const struct thread_profile *thread)
{
	if (expected < profile->thread_count && is_same_thread(&profile->threads[expected], thread))
		return expected;
	for (size_t i = 0; i < profile->thread_count; i++)
		if (is_same_thread(&profile->threads[i], thread))
			return i;
	return profile->thread_count;
}

static void subtract_thread(struct differ *differ, struct thread_profile *thread,
			    const struct thread_profile *before)
{
	uint64_t idle_max_ns = thread->idle_max_ns;

	differ__subtract(differ, &recorded_thread_profile, thread, before);
	thread->first_ns = larger(thread->first_ns, differ->from_ns);
	if (idle_max_ns == before->idle_max_ns)
		thread->idle_max_ns = smaller(idle_max_ns, thread->idle_ns);
	if (!thread->idle_gaps)
		thread->idle_max_ns = thread->idle_stack = 0;
}

/*
 * Ended threads move to the sums when there are many: what these had done by the earlier reading is
 * not of the difference.
 */
static void take_from_sums(const struct differ *differ, struct profile *profile,
			   const struct thread_profile *thread)
{
	uint64_t end_ns = thread->ended_ns ? thread->ended_ns : differ->from_ns;

	for (int class = 0; class < TIME_CLASSES; class ++) {
		uint64_t calls = profile->unlisted_time[class].calls,
			 ns = profile->unlisted_time[class].ns;

		subtract(&calls, thread->time[class].calls);
		subtract(&ns, thread->time[class].ns);
		profile->unlisted_time[class] = (struct time_totals){calls, ns};
	}
	if (end_ns > thread->first_ns)
		subtract(&profile->unlisted_wall_ns, end_ns - thread->first_ns);
	subtract(&profile->unlisted_threads, 1);
}

/* Which threads of the earlier reading are still listed: by index. */
static bool *look_for_threads(struct differ *differ, const struct profile *profile,
			      const struct profile *before)
{
	bool *listed = arena__take(differ->memory, before->thread_count, sizeof(*listed));

	for (size_t i = 0, expected = 0; listed && i < profile->thread_count; i++) {
		size_t found = find_thread(before, expected, &profile->threads[i]);

		if (found < before->thread_count)
			listed[found] = true;
		expected = found + 1;
	}
	return listed;
}

static void subtract_missed(struct differ *differ, struct thread_missed *missed,
			    const struct profile *before, size_t found)
{
	if (found < before->missed_count)
		differ__subtract(differ, &recorded_thread_missed, missed, &before->missed[found]);
}

/* Threads that had ended before are left out, with their estimates. */
static void subtract_threads(struct differ *differ, struct profile *profile,
			     const struct profile *before)
{
	size_t kept = 0, ended = 0, with_missed = 0;

	for (size_t i = 0, expected = 0; i < profile->thread_count; i++) {
		struct thread_profile thread = profile->threads[i];
		struct thread_missed missed = {0};
		size_t found = find_thread(before, expected, &thread);
		bool is_ended = i < profile->ended_count, has_missed = i < profile->missed_count;

		expected = found + 1;
		if (is_ended && thread.ended_ns && thread.ended_ns <= differ->from_ns)
			continue;
		if (has_missed)
			missed = profile->missed[i];
		if (found < before->thread_count) {
			subtract_thread(differ, &thread, &before->threads[found]);
			subtract_missed(differ, &missed, before, found);
		}
		profile->threads[kept] = thread;
		if (has_missed)
			profile->missed[kept] = missed;
		with_missed += has_missed;
		ended += is_ended;
		kept++;
	}
	profile->thread_count = kept;
	profile->ended_count = ended;
	profile->missed_count = with_missed;
}

/* --- the steady time --- */

/* What has been counted by a moment of which nothing is in the difference: nothing. */
static struct steady_base *empty_base(struct differ *differ, const struct profile *before)
{
	struct steady_base *base = arena__take(differ->memory, 1, sizeof(*base));

	if (!base) {
		differ->failure = -ENOMEM;
		return NULL;
	}
	base->ns = base->load.ns = differ->from_ns;
	base->load.busy_percent = before->steady->use.busy_percent;
	base->load.busy_readings = before->steady->use.busy_readings;
	return base;
}

/* The steady time begins with the earlier reading, if the process had worked by then. */
static void begin_steady(struct differ *differ, struct profile *profile,
			 const struct profile *before)
{
	struct steady *steady = profile->steady;

	if (!steady || !before->steady || !before->steady->count)
		return;
	steady->bases[0] = empty_base(differ, before);
	steady->count = steady->bases[0] ? 1 : 0;
	steady->worked_ns = larger(steady->worked_ns, differ->from_ns);
}

static void finish_profile(struct differ *differ, struct profile *profile,
			   const struct profile *before)
{
	const bool *listed = look_for_threads(differ, profile, before);

	if (!listed) {
		differ->failure = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < before->thread_count; i++)
		if (!listed[i])
			take_from_sums(differ, profile, &before->threads[i]);
	subtract_threads(differ, profile, before);
	begin_steady(differ, profile, before);
	profile->start = (struct start_record){0};
}

/* --- steps --- */

/* Those that began before are left out. */
static void drop_early_steps(const struct differ *differ, struct step_phase *phase)
{
	size_t kept = 0;

	for (size_t i = 0; i < STEP_SLOWEST; i++)
		if (phase->slowest[i].ns && phase->slowest[i].begin_ns >= differ->from_ns)
			phase->slowest[kept++] = phase->slowest[i];
	while (kept < STEP_SLOWEST)
		phase->slowest[kept++] = (struct slow_step){0};
	kept = 0;
	for (size_t i = 0; i < phase->first_count; i++)
		if (phase->first[i].begin_ns >= differ->from_ns)
			phase->first[kept++] = phase->first[i];
	phase->first_count = kept;
}

/* A phase with another anchor is a new one. */
static void finish_phase(const struct differ *differ, struct step_phase *phase,
			 const struct step_phase *all, const struct step_phase *before)
{
	if (memcmp(&all->anchor, &before->anchor, sizeof(all->anchor)) != 0) {
		*phase = *all;
		return;
	}
	phase->max_ns = smaller(longest(all->max_ns, before->max_ns, phase->buckets), phase->ns);
	phase->first_ns = larger(all->first_ns, before->latest_ns);
	drop_early_steps(differ, phase);
}

/* --- what threads do outside of CUDA --- */

/*
 * Their times may be counted anew from a later moment (model/host.h), or only from there. Then no
 * thread has all of the time.
 */
static bool is_followed(const struct host_process *process, uint64_t interval_ns)
{
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < process->thread_count; i++)
		longest_ns = larger(longest_ns, process->threads[i].watched_ns);
	return (double)longest_ns >= FOLLOWED_SHARE * (double)interval_ns;
}

static void finish_host(const struct differ *differ, struct model *model,
			const struct model *before)
{
	for (size_t i = 0; model->host && i < model->process_count; i++) {
		struct process *process = &model->processes[i];
		uint64_t end_ns = process->ended ? process->ended_ns : model->now_ns,
			 interval_ns = end_ns > differ->from_ns ? end_ns - differ->from_ns : 0;

		if (process->host && process->start_ns < differ->from_ns && before->host &&
		    !is_followed(process->host, interval_ns))
			process->host = NULL;
	}
}

/* --- processes --- */

/* Those of objects follow those of calls. */
static struct call_site *object_sites(const struct process *process)
{
	return process->sites ? process->sites + process->site_count : NULL;
}

static void subtract_sites(struct differ *differ, struct process *process,
			   const struct process *before)
{
	bool steady = before->profile && before->profile->steady && before->profile->steady->count;
	struct call_site *objects = object_sites(process);
	size_t count = differ__subtract_list(differ, &recorded_call_site, process->sites,
					     process->site_count, before->sites,
					     before->site_count),
	       object_count = differ__subtract_list(
		       differ, &recorded_call_site, objects, process->object_call_count,
		       object_sites(before), before->object_call_count);

	if (object_count)
		memmove(process->sites + count, objects, object_count * sizeof(*objects));
	process->site_count = count;
	process->object_call_count = object_count;
	for (size_t i = 0; steady && i < count + object_count; i++)
		process->sites[i].early_calls = process->sites[i].early_amount = 0;
}

static uint64_t live_bytes(const struct process *process)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < process->device_count; i++)
		bytes += process->devices[i].live_bytes;
	return bytes;
}

/* Calls of before are not in it, as in a process that ran before gpuprobe. */
static void finish_process(struct differ *differ, struct process *process,
			   const struct process *before)
{
	process->since_attach = true;
	subtract_sites(differ, process, before);
	differ__sort(process);
	if (process->profile && before->profile)
		process->profile->peak_bytes =
			peak(process->profile->peak_bytes, before->profile->peak_bytes,
			     larger(live_bytes(process), live_bytes(before)));
}

static const struct process *find_process(const struct model *model, uint64_t serial)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].serial == serial)
			return &model->processes[i];
	return NULL;
}

/* Processes and reports of before the earlier reading are left out. */
static void finish_model(struct differ *differ, struct model *model, const struct model *before)
{
	size_t kept = 0;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *earlier = find_process(before, model->processes[i].serial);

		if (!earlier || !earlier->ended)
			model->processes[kept++] = model->processes[i];
	}
	model->process_count = kept;
	while (model->oom_count && model->ooms->time_ns <= differ->from_ns) {
		model->ooms++;
		model->oom_count--;
	}
	finish_host(differ, model, before);
}

/* The GPU's time begins where the earlier reading's ends. */
static void finish_gpu_device(struct recorded_gpu_device *device,
			      const struct recorded_gpu_device *before)
{
	if (before->last_ns > device->first_ns)
		device->first_ns = before->last_ns;
}

void differ__finish(struct differ *differ, const struct recorded_type *type, void *object,
		    const void *earlier, const void *before)
{
	if (type == &recorded_duration_record)
		finish_duration(object, before);
	else if (type == &recorded_size_record)
		finish_size(object);
	else if (type == &recorded_shape_record)
		finish_shape(object, before);
	else if (type == &recorded_tensor_device_record)
		finish_tensor_device(object, earlier, before);
	else if (type == &recorded_tensor_site_record)
		finish_tensor_site(object, earlier, before);
	else if (type == &recorded_device_queue)
		finish_queue(differ, object, before);
	else if (type == &recorded_process_profile)
		finish_totals(object);
	else if (type == &recorded_profile)
		finish_profile(differ, object, before);
	else if (type == &recorded_step_phase)
		finish_phase(differ, object, earlier, before);
	else if (type == &recorded_process)
		finish_process(differ, object, before);
	else if (type == &recorded_recorded_gpu_device)
		finish_gpu_device(object, before);
	else if (type == &recorded_model)
		finish_model(differ, object, before);
}
