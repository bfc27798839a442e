// SPDX-License-Identifier: BSD-2-Clause
/*
 * When records are on, see bursts.h. Programs do the same in each step, and wait at its end. Where
 * steps are shorter than a burst, it has whole ones. Where they are longer, it begins at a random
 * time within a step, so that each part of the step has the same chance. The time to the next burst
 * is random too: a program that does something every second is not always seen at it.
 */
#include "bursts.h"

/* xorshift; from 0 to below 1 */
static double next_random(struct bursts *bursts)
{
	uint64_t x = bursts->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	bursts->random = x;
	return (double)(x >> 11) / (double)(1ull << 53);
}

void bursts__begin(struct bursts *bursts, double share, uint64_t seed)
{
	*bursts = (struct bursts){
		.share = share,
		.phase = BURSTS_ON,
		.random = seed ? seed : 1,
	};
}

/* Waits at the end of a step follow each other closely, and tell nothing of its length. */
static void note_wait(struct bursts *bursts, uint64_t now_ns)
{
	uint64_t ns = bursts->wait_ns ? now_ns - bursts->wait_ns : 0;

	bursts->wait_ns = now_ns;
	if (ns > bursts->step_ns)
		bursts->step_ns = ns;
	else
		bursts->step_ns -= (bursts->step_ns - ns) / 8;
}

static enum bursts_action begin_burst(struct bursts *bursts, uint64_t now_ns)
{
	bursts->phase = BURSTS_ON;
	bursts->begin_ns = now_ns;
	bursts->launches = 0;
	return BURSTS_BEGIN;
}

static enum bursts_action arm(struct bursts *bursts, uint64_t now_ns)
{
	bursts->armed_ns = now_ns;
	if (bursts->step_ns <= BURST_NS)
		return begin_burst(bursts, now_ns);
	bursts->phase = BURSTS_ARMED;
	bursts->begin_ns = now_ns + (uint64_t)(next_random(bursts) * (double)bursts->step_ns);
	return BURSTS_ARM;
}

/* Launches that ask cost less than recorded ones: the time before the burst counts in part. */
static enum bursts_action end_burst(struct bursts *bursts, uint64_t now_ns)
{
	double on_ns = (double)(now_ns - bursts->begin_ns) +
		       (double)(bursts->begin_ns - bursts->armed_ns) / 8,
	       off_ns = on_ns * (1 / bursts->share - 1) * (0.5 + next_random(bursts));

	bursts->phase = BURSTS_OFF;
	bursts->due_ns = now_ns + (uint64_t)off_ns;
	return BURSTS_END;
}

/* Before two waits the length of steps is not known: then the burst has some launches at least. */
static bool is_over(const struct bursts *bursts, bool is_wait, uint64_t ns)
{
	if (is_wait || bursts->step_ns > BURST_NS)
		return ns >= BURST_NS;
	return ns >= 2 * BURST_NS && bursts->launches >= BURST_LAUNCHES;
}

enum bursts_action bursts__ask(struct bursts *bursts, bool is_wait, uint64_t now_ns)
{
	if (!bursts->armed_ns)
		bursts->armed_ns = bursts->begin_ns = now_ns;
	if (is_wait)
		note_wait(bursts, now_ns);
	else
		bursts->launches++;
	if (bursts->phase == BURSTS_OFF)
		return is_wait && now_ns >= bursts->due_ns ? arm(bursts, now_ns) : BURSTS_NOTHING;
	if (bursts->phase == BURSTS_ARMED)
		return now_ns >= bursts->begin_ns ? begin_burst(bursts, now_ns) : BURSTS_NOTHING;
	return is_over(bursts, is_wait, now_ns - bursts->begin_ns) ? end_burst(bursts, now_ns) :
								     BURSTS_NOTHING;
}
