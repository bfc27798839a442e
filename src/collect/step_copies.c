// SPDX-License-Identifier: BSD-2-Clause
// Copies of records that threads write meanwhile, see step_copies.h.
#include "collect/step_copies.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"

#define COPY_TRIES 16
#define COPY_MOST_NS (60 * NS_PER_S) /* far longer than copying a history takes */

bool step_copies__record(const struct step_record *shared, struct step_record *copy)
{
	for (int i = 0; i < COPY_TRIES; i++) {
		uint64_t before = __atomic_load_n(&shared->changing, __ATOMIC_ACQUIRE);

		memcpy(copy, shared, offsetof(struct step_record, codes));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(&shared->changing, __ATOMIC_RELAXED) == before)
			return true;
	}
	return false;
}

/* The oldest submission still kept when the record has `count` submissions. */
static uint64_t oldest_of(const struct step_record *shared, uint64_t count)
{
	uint64_t oldest = count > STEP_HISTORY ? count - STEP_HISTORY : 0;
	uint64_t kept_from = __atomic_load_n(&shared->kept_from, __ATOMIC_RELAXED);

	return kept_from > oldest ? kept_from : oldest;
}

void step_copies__history(const struct step_record *shared, uint64_t from,
			  struct step_history *history)
{
	uint64_t oldest;

	history->to = __atomic_load_n(&shared->count, __ATOMIC_ACQUIRE);
	oldest = oldest_of(shared, history->to);
	oldest = oldest < history->to ? oldest : history->to;
	history->from = from > oldest ? from : oldest;
	for (uint64_t i = history->from; i < history->to; i++) {
		history->codes[i - history->from] = shared->codes[i % STEP_HISTORY];
		history->stamps[i - history->from] = shared->stamps[i % STEP_HISTORY];
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	oldest = oldest_of(shared, __atomic_load_n(&shared->count, __ATOMIC_RELAXED) + 1);
	if (oldest <= history->from)
		return;
	oldest = oldest < history->to ? oldest : history->to;
	memmove(history->codes, history->codes + (oldest - history->from),
		(history->to - oldest) * sizeof(*history->codes));
	memmove(history->stamps, history->stamps + (oldest - history->from),
		(history->to - oldest) * sizeof(*history->stamps));
	history->from = oldest;
}

uint64_t step_copies__time(uint32_t stamp, uint64_t now_ns)
{
	uint64_t now = now_ns >> STEP_STAMP_SHIFT, time = (now & ~(uint64_t)UINT32_MAX) | stamp;

	/* The lower bits have wrapped since. */
	if (time + UINT32_MAX < now + (COPY_MOST_NS >> STEP_STAMP_SHIFT))
		time += (uint64_t)UINT32_MAX + 1;
	if (time > now + (COPY_MOST_NS >> STEP_STAMP_SHIFT) && time > UINT32_MAX)
		time -= (uint64_t)UINT32_MAX + 1;
	return time << STEP_STAMP_SHIFT;
}
