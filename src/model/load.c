// SPDX-License-Identifier: BSD-2-Clause
// The work that a process has given its GPUs, see load.h.
#include "model/load.h"

#include <string.h>

#include "model/profile.h"
#include "api/api.h"

#define HELD_RATIO 4
#define LAUNCH_HELD_NS 20000
#define FASTEST 0.1
/*
 * a launch that finds room takes less, except on a busy machine; the limit is needed because a
 * process attached late may show no such launch
 */
#define UNHELD_NS 10000
/*
 * The slowest plausible link for copies to the host, and the fixed cost of a copy: anything longer
 * was waiting for other work.
 */
#define COPY_BYTES_PER_US 4000
#define COPY_NS 20000

/* --- delayed by the GPU --- */

/*
 * Time of launches beyond that of an undelayed launch, from one function's histogram. An undelayed
 * launch takes as long as the fastest tenth, or 10 us if that is less. A launch was delayed if it
 * took more than four times as long and more than LAUNCH_HELD_NS.
 */
static uint64_t held_in_calls(const struct duration_record *time)
{
	uint64_t usual = profile__percentile(time->buckets, FASTEST, time->max_ns), held = 0;

	usual = usual < UNHELD_NS ? usual : UNHELD_NS;
	for (uint32_t i = 0; i < TIME_BUCKETS; i++) {
		uint64_t middle = (time_bucket_start(i) + time_bucket_start(i + 1)) / 2;

		if (time->buckets[i] && middle > HELD_RATIO * usual && middle > LAUNCH_HELD_NS)
			held += time->buckets[i] * (middle - usual);
	}
	return held < time->ns ? held : time->ns;
}

/* Missed calls are assumed to have been delayed like the others. */
static uint64_t held_in(const struct profile_function *function)
{
	uint64_t held = held_in_calls(&function->time);

	if (!function->missed || !function->time.calls)
		return held;
	return (uint64_t)((double)held * (double)(function->time.calls + function->missed) /
			  (double)function->time.calls);
}

static uint64_t held_in_launches(const struct profile *profile)
{
	uint64_t held = 0;

	for (size_t i = 0; i < profile->function_count; i++)
		if (profile__is_launch(profile->functions[i].row))
			held += held_in(&profile->functions[i]);
	return held;
}

/*
 * Copies to the host wait for work queued before them and return when they are done, except
 * asynchronous ones to pinned memory.
 */
static uint64_t held_in_copies(const struct profile *profile)
{
	uint64_t held = 0;

	for (size_t i = 0; i < profile->copy_count; i++) {
		const struct profile_copies *copies = &profile->copies[i];

		if (copies->key.kind != COPY_D2H ||
		    (copies->key.async && copies->key.host == COPY_HOST_PINNED))
			continue;
		for (int size = 0; size < COPY_SIZES; size++) {
			const struct copy_size_record *record = &copies->record;
			uint64_t own = record->calls[size] * COPY_NS +
				       record->bytes[size] * 1000 / COPY_BYTES_PER_US;

			if (record->ns[size] > own)
				held += record->ns[size] - own;
		}
	}
	return held;
}

/* --- queues --- */

/* Whether no thread is in a call that may already have ended the idle time. */
static bool nobody_submits(const struct profile *profile)
{
	for (size_t i = profile->ended_count; i < profile->thread_count; i++)
		if (profile->threads[i].submitting_ns)
			return false;
	return true;
}

static void take_queues(const struct profile *profile, uint64_t now_ns, struct load *load)
{
	bool goes_on = nobody_submits(profile);

	load->proves = !profile->totals.unproven;
	for (int i = 0; i < PROFILE_DEVICES; i++) {
		const struct device_queue *queue = &profile->totals.queues[i];
		struct load_queue *taken = &load->queues[i];

		taken->used = queue->launched_epoch;
		taken->idle_ns = queue->idle_ns;
		taken->idle_times = queue->idle_times;
		if (goes_on && queue->idle_since_ns && queue->idle_since_ns < now_ns)
			taken->idle_ns += now_ns - queue->idle_since_ns;
	}
}

/* --- totals --- */

static bool submits(const struct thread_profile *thread)
{
	return thread->time[TIME_LAUNCH].calls || thread->time[TIME_COPY].calls;
}

static void take_threads(const struct profile *profile, struct load *load)
{
	load->thread_ns = profile->unlisted_wall_ns;
	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct thread_profile *thread = &profile->threads[i];

		if (submits(thread))
			load->thread_ns += profile__wall_ns(thread, thread->first_ns, load->ns);
		for (int class = 0; class < TIME_CLASSES; class ++) {
			load->time[class].calls += thread->time[class].calls;
			load->time[class].ns += thread->time[class].ns;
		}
	}
	for (int class = 0; class < TIME_CLASSES; class ++) {
		load->time[class].calls +=
			profile->unlisted_time[class].calls + profile->all_missed.time[class].calls;
		load->time[class].ns +=
			profile->unlisted_time[class].ns + profile->all_missed.time[class].ns;
	}
	load->launches = load->time[TIME_LAUNCH].calls;
	load->copies = load->time[TIME_COPY].calls;
}

static void take_profile(const struct profile *profile, struct load *load)
{
	load->profile = true;
	take_queues(profile, load->ns, load);
	take_threads(profile, load);
	load->held_launch_ns = held_in_launches(profile);
	load->held_copy_ns = held_in_copies(profile);
	load->held_ns = load->time[TIME_WAIT].ns + load->held_launch_ns + load->held_copy_ns;
}

/* Totals that are known without a profile. */
static void take_totals(const struct process *process, struct load *load)
{
	load->launches = process->launches + process->graph_launches;
	for (int kind = 0; kind < COPY_KINDS; kind++)
		load->copies += process->copies[kind][0].calls + process->copies[kind][1].calls;
	for (int scope = 0; scope < WAIT_SCOPES; scope++)
		load->held_ns += process->waits[scope].ns;
	load->blocked_ns = process->copy_waits.ns + process->free_waits.ns;
	load->estimated = process->unfollowed.calls;
}

void load__add_use(const struct model *model, const struct process *process, struct load *load)
{
	uint32_t most = 0;
	bool known = false;

	if (process->ended_ns)
		return;
	for (size_t i = 0; i < process->gpu_count; i++) {
		int gpu = process->gpus[i].gpu;
		uint32_t percent = gpu >= 0 && (size_t)gpu < model->gpu_count ?
					   model->gpus[gpu].busy_percent :
					   GPU_UNKNOWN_PERCENT;

		if (percent == GPU_UNKNOWN_PERCENT)
			continue;
		known = true;
		most = percent > most ? percent : most;
	}
	load->busy_percent += most;
	load->busy_readings += known;
}

void load__of(const struct process *process, uint64_t now_ns, struct load *load)
{
	memset(load, 0, sizeof(*load));
	load->ns = process->ended_ns && process->ended_ns < now_ns ? process->ended_ns : now_ns;
	if (process->profile)
		take_profile(process->profile, load);
	else
		take_totals(process, load);
	for (int family = 0; family < RATE_FAMILIES; family++)
		load->estimated = load->estimated || process__is_estimated(process, family);
}

static uint64_t more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void load__since(const struct load *load, const struct load *before, struct load *difference)
{
	*difference = *load;
	difference->ns = more(load->ns, before->ns);
	for (int i = 0; i < PROFILE_DEVICES; i++) {
		difference->queues[i].idle_ns =
			more(load->queues[i].idle_ns, before->queues[i].idle_ns);
		difference->queues[i].idle_times =
			more(load->queues[i].idle_times, before->queues[i].idle_times);
	}
	difference->launches = more(load->launches, before->launches);
	difference->copies = more(load->copies, before->copies);
	for (int class = 0; class < TIME_CLASSES; class ++) {
		difference->time[class].calls =
			more(load->time[class].calls, before->time[class].calls);
		difference->time[class].ns = more(load->time[class].ns, before->time[class].ns);
	}
	difference->held_ns = more(load->held_ns, before->held_ns);
	difference->held_launch_ns = more(load->held_launch_ns, before->held_launch_ns);
	difference->held_copy_ns = more(load->held_copy_ns, before->held_copy_ns);
	difference->thread_ns = more(load->thread_ns, before->thread_ns);
	difference->blocked_ns = more(load->blocked_ns, before->blocked_ns);
	difference->busy_percent = more(load->busy_percent, before->busy_percent);
	difference->busy_readings = more(load->busy_readings, before->busy_readings);
}
