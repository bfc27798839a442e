// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the GIL by the futex that a thread sleeps on; see gil.h. CPython's struct
 * _gil_runtime_state, as byte offsets:
 *
 *   -24 last_holder, -16 locked (an int), -8 switch_number, 0 cond, 48 mutex, 88 switch_cond
 *
 * A thread that wants the GIL sleeps on `cond` or `mutex`. A thread that releases it and waits
 * until another has taken it sleeps on `switch_cond`. 3.13 has one more member in builds that can
 * run without a GIL, but it is before these.
 */
#include "dump/gil.h"

#include <string.h>

#define HOLDER (-24)
#define LOCKED (-16)
#define COND 0
#define MUTEX 48
#define SWITCH_COND 88

/*
 * glibc's pthread_cond_wait sleeps on __g_signals[0] or [1], which glibc 2.42 has moved;
 * pthread_mutex_lock sleeps on the first word.
 */
static const int offsets[] = {COND + 40,       COND + 44,	 COND + 32,	   COND + 36,
			      MUTEX,	       SWITCH_COND + 40, SWITCH_COND + 44, SWITCH_COND + 32,
			      SWITCH_COND + 36};

#define FARTHEST (SWITCH_COND + 44 - HOLDER)

static bool is_state_of_thread(uint64_t state, const uint64_t *states, size_t count)
{
	for (size_t i = 0; state && i < count; i++)
		if (states[i] == state)
			return true;
	return false;
}

static bool take(const uint8_t *cond, struct gil *gil)
{
	int32_t locked;

	memcpy(&gil->holder, cond + HOLDER, sizeof(gil->holder));
	memcpy(&locked, cond + LOCKED, sizeof(locked));
	gil->locked = locked == 1;
	return locked == 0 || locked == 1;
}

bool gil__find(struct memory_reader *memory, pid_t pid, uint64_t address, const uint64_t *states,
	       size_t count, struct gil *gil)
{
	uint8_t before[FARTHEST];

	if (address < FARTHEST ||
	    memory_reader__read(memory, pid, address - FARTHEST, before, FARTHEST))
		return false;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
		if (take(before + FARTHEST - offsets[i], gil) &&
		    is_state_of_thread(gil->holder, states, count))
			return true;
	return false;
}
