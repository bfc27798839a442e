/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When records of work are on, if only a share of the time is recorded: in bursts, between which
 * only some calls of the program ask whether the next one is due. Such a call waits or copies; a
 * program makes few of them. No call of this file looks at the clock, allocates or blocks.
 */
#ifndef INJECT_BURSTS_H
#define INJECT_BURSTS_H

#include <stdbool.h>
#include <stdint.h>

#define BURST_NS 10000000ull /* how long a burst is */
#define BURST_LAUNCHES 256   /* one that no wait ends has so many launches at least */

enum bursts_action {
	BURSTS_NOTHING,
	BURSTS_ARM,   /* launches are to ask too: a burst begins within a step */
	BURSTS_BEGIN, /* switch records on; launches are to ask too */
	BURSTS_END,   /* switch records off; only waits and copies are to ask */
};

enum bursts_phase {
	BURSTS_ON,
	BURSTS_ARMED,
	BURSTS_OFF
};

struct bursts {
	double share; /* of the time, above 0, up to 1 */
	enum bursts_phase phase;
	uint64_t armed_ns; /* since when launches ask; 0: no call has asked yet */
	uint64_t begin_ns; /* when the burst began, or is to begin */
	uint64_t due_ns;   /* no burst before this */
	uint64_t wait_ns;  /* the latest wait */
	uint64_t step_ns;  /* about the longest time between waits of late */
	uint64_t launches; /* in the burst */
	uint64_t random;   /* never 0 */
};

/*
 * Records are on, for the first burst, which lasts from the first call that asks. `seed` decides
 * when later ones begin.
 */
void bursts__begin(struct bursts *bursts, double share, uint64_t seed);

/*
 * A call asks, at `now_ns` of a clock that never goes back: a wait or copy, or a launch. Returns
 * what is to be done now. One thread at a time.
 */
enum bursts_action bursts__ask(struct bursts *bursts, bool is_wait, uint64_t now_ns);

#endif
