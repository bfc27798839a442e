// SPDX-License-Identifier: BSD-2-Clause
// Says what is missing in a recording, see damage_report.h.
#include "cli/session/damage_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/quantity.h"

/* "12.3 s to 14.1 s", counted from the recording's beginning. */
static void write_span(const struct recording *recording, const struct recording_gap *gap,
		       char *text, size_t size)
{
	uint64_t begin = recording__header(recording)->begin_ns;
	uint64_t from = gap->from_ns > begin ? gap->from_ns - begin : 0;

	if (gap->to_ns > begin)
		snprintf(text, size, "%s to %s", quantity__time((double)from).text,
			 quantity__time((double)(gap->to_ns - begin)).text);
	else
		snprintf(text, size, "%s to the end", quantity__time((double)from).text);
}

bool damage_report__warn(const struct recording *recording, const char *what, uint64_t unreadable,
			 const struct log *log)
{
	const struct recording_damage *damage = recording__damage(recording);
	size_t shown =
		damage->gap_count < RECORDING_GAPS_MAX ? damage->gap_count : RECORDING_GAPS_MAX;

	if (damage->unclosed)
		log__warn(log, "the recording has no end: gpuprobe was killed, or is still "
			       "recording");
	for (size_t i = 0; i < shown; i++) {
		char span[96];

		write_span(recording, &damage->gaps[i], span, sizeof(span));
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
