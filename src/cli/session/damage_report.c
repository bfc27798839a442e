// SPDX-License-Identifier: BSD-2-Clause
// Says what is missing in a recording, see damage_report.h.
#include "cli/session/damage_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

/* Seconds after the beginning, as --from and --to take them, also hours later. */
static double seconds_of(uint64_t time_ns, uint64_t begin_ns)
{
	return time_ns > begin_ns ? (double)(time_ns - begin_ns) / (double)NS_PER_S : 0;
}

/* "12.3 s to 14.1 s" */
static void write_span(uint64_t begin_ns, const struct recording_gap *gap, char *text, size_t size)
{
	double from = seconds_of(gap->from_ns, begin_ns);

	if (gap->to_ns)
		snprintf(text, size, "%.1f s to %.1f s", from, seconds_of(gap->to_ns, begin_ns));
	else
		snprintf(text, size, "%.1f s to the end", from);
}

bool damage_report__warn(const struct recording *recording, uint64_t begin_ns, const char *what,
			 uint64_t unreadable, const struct log *log)
{
	const struct recording_damage *damage = recording__damage(recording);
	size_t shown =
		damage->gap_count < RECORDING_GAPS_MAX ? damage->gap_count : RECORDING_GAPS_MAX;

	if (damage->unclosed)
		log__warn(log, "the recording has no end: gpuprobe was killed, or is still "
			       "recording");
	for (size_t i = 0; i < shown; i++) {
		char span[96];

		write_span(begin_ns, &damage->gaps[i], span, sizeof(span));
		log__warn(log, "the recording is damaged: %s from %s are missing", what, span);
	}
	if (damage->gap_count > shown)
		log__warn(log, "the recording has %zu more damaged parts",
			  damage->gap_count - shown);
	if (unreadable + damage->records)
		log__warn(log,
			  "%" PRIu64 " records could not be read: they are malformed, or refer to "
			  "missing ones",
			  unreadable + damage->records);
	return damage->gap_count || unreadable || damage->records;
}
