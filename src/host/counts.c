// SPDX-License-Identifier: BSD-2-Clause
// Profiles of followed threads; see counts.h.
#include "host/counts.h"

#include <string.h>

#define READ_TRIES 1000

/*
 * The profile is inconsistent while BPF switches the thread: less than a microsecond, or 50 us if
 * it takes a stack.
 */
static void copy(struct host_profile *to, const volatile struct host_profile *profile)
{
	for (int i = 0; i < READ_TRIES; i++) {
		uint32_t version = __atomic_load_n(&profile->version, __ATOMIC_ACQUIRE);

		memcpy(to, (const void *)profile, sizeof(*to));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(version & 1) &&
		    version == __atomic_load_n(&profile->version, __ATOMIC_RELAXED))
			return;
	}
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool lacks_a_cpu(int activity)
{
	return activity == ACTIVITY_READY || activity == ACTIVITY_THROTTLED;
}

/*
 * Adds the activity that is still open. After its end a sleep counts as ready until the thread
 * runs.
 */
static void add_open(struct host_counts *counts, const struct host_profile *profile)
{
	bool ready = lacks_a_cpu(profile->kind);
	uint64_t since_ns = profile->since_ns, end_ns = later(counts->at_ns, since_ns),
		 until_ns = end_ns;

	if (profile->kind >= HOST_ACTIVITIES || profile->class >= HOST_CLASSES)
		return;
	if (profile->woken_ns && profile->kind != ACTIVITY_CPU && !ready)
		until_ns = later(since_ns, profile->woken_ns < end_ns ? profile->woken_ns : end_ns);
	counts->ns[profile->kind][profile->class] += until_ns - since_ns;
	counts->ns[ACTIVITY_READY][profile->class] += end_ns - until_ns;
}

void host_counts__read(struct host_counts *counts, const volatile struct host_profile *profile,
		       uint64_t now_ns)
{
	struct host_profile own;

	copy(&own, profile);
	memset(counts, 0, sizeof(*counts));
	counts->began = own.began_ns;
	counts->ended = own.ended_ns;
	counts->at_ns = own.ended_ns ? own.ended_ns : now_ns;
	if (!counts->began)
		return;
	memcpy(counts->ns, own.ns, sizeof(counts->ns));
	memcpy(counts->times, own.times, sizeof(counts->times));
	memcpy(counts->samples, own.samples, sizeof(counts->samples));
	add_open(counts, &own);
}

static void subtract(uint64_t *from, const uint64_t *less, size_t count)
{
	for (size_t i = 0; i < count; i++)
		from[i] = from[i] > less[i] ? from[i] - less[i] : 0;
}

void host_counts__since(struct host_counts *counts, const struct host_counts *before)
{
	subtract(&counts->ns[0][0], &before->ns[0][0], (size_t)HOST_ACTIVITIES * HOST_CLASSES);
	subtract(counts->times, before->times, HOST_ACTIVITIES);
	subtract(counts->samples, before->samples, HOST_CLASSES);
}

void host_counts__share_cpu(struct host_counts *counts)
{
	uint64_t all_ns = counts->ns[ACTIVITY_CPU][HOST_OUTSIDE], samples = 0;

	for (int class = 0; class < HOST_CLASSES; class ++)
		samples += counts->samples[class];
	for (int class = 0; class < HOST_CLASSES && samples; class ++)
		counts->ns[ACTIVITY_CPU][class] =
			(uint64_t)((double)all_ns *
				   ((double)counts->samples[class] / (double)samples));
}

struct host_split host_counts__split(const struct host_counts *counts)
{
	struct host_split split = {0};

	for (int activity = 0; activity < HOST_ACTIVITIES; activity++) {
		uint64_t *ns = activity == ACTIVITY_CPU ? &split.running_ns :
			       lacks_a_cpu(activity)	? &split.ready_ns :
							  &split.asleep_ns;

		for (int class = 0; class < HOST_CLASSES; class ++)
			*ns += counts->ns[activity][class];
	}
	return split;
}
