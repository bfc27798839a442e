// SPDX-License-Identifier: BSD-2-Clause
// The gap at which a reader is, see open_gap.h.
#include "record/open_gap.h"

/* The gap that begins there; NULL if it is not among the listed ones. */
static struct recording_gap *list(struct recording_damage *damage, uint64_t from_ns)
{
	size_t listed =
		damage->gap_count < RECORDING_GAPS_MAX ? damage->gap_count : RECORDING_GAPS_MAX;

	/* After a seek it is met again. */
	for (size_t i = 0; i < listed; i++)
		if (damage->gaps[i].from_ns == from_ns)
			return &damage->gaps[i];
	if (damage->gap_count++ >= RECORDING_GAPS_MAX)
		return NULL;
	damage->gaps[listed] = (struct recording_gap){.from_ns = from_ns};
	return &damage->gaps[listed];
}

void open_gap__begin(struct open_gap *open, struct recording_damage *damage, uint64_t from_ns)
{
	if (open->is_open)
		return;
	open->is_open = true;
	open->gap = list(damage, from_ns);
}

void open_gap__end(struct open_gap *open, uint64_t to_ns)
{
	if (open->is_open && open->gap)
		open->gap->to_ns = to_ns;
	open->has_ended = open->is_open;
	open->is_open = false;
}

void open_gap__go_on(struct open_gap *open, struct recording_damage *damage, uint64_t from_ns)
{
	if (!open->has_ended) {
		open_gap__begin(open, damage, from_ns);
		return;
	}
	open->is_open = true;
	if (open->gap)
		open->gap->to_ns = 0;
}
