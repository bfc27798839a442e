// SPDX-License-Identifier: BSD-2-Clause
// Byte-seconds of device memory, see memory.h.
#include "account/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "model/devices.h"
#include "model/profile.h"

struct sized {
	struct size_key key; /* without the slot */
	uint64_t live, made; /* allocations */
};

/* What happened to allocations of one size during a span. */
struct size_change {
	double live_before, live_after, made, freed;
	double peak; /* live ones at any time, as far as known */
	double span; /* seconds */
	double age;  /* of the latest allocation at the end of the span, seconds */
	bool is_edge;
};

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* --- the readings --- */

static int by_key(const void *a, const void *b)
{
	return memcmp(&((const struct sized *)a)->key, &((const struct sized *)b)->key,
		      sizeof(struct size_key));
}

/* A context that ended may leave the number below zero. */
static uint64_t live_of(const struct size_record *record)
{
	return (int64_t)record->live > 0 ? record->live : 0;
}

static struct sized sized_of(const struct profile_size *size)
{
	struct sized sized = {.live = live_of(&size->record), .made = size->record.allocations};

	memcpy(&sized.key, &size->key, sizeof(sized.key));
	sized.key.slot = 0;
	return sized;
}

static double live_bytes(const struct process *process)
{
	double bytes = 0;

	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		if (memory_kind__is_device((enum memory_kind)kind))
			bytes += (double)process->memory[kind].live_bytes;
	return bytes;
}

/* Reads the sizes of a process. Returns 0 or -ENOMEM. */
static int read_sizes(struct account_memory *reading, const struct process *process)
{
	const struct profile *profile = process->profile;
	size_t count = profile ? profile->size_count : 0;

	*reading = (struct account_memory){.unsized_bytes = live_bytes(process)};
	if (!count)
		return 0;
	reading->sizes = calloc(count, sizeof(*reading->sizes));
	if (!reading->sizes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct sized sized = sized_of(&profile->sizes[i]);

		if (!memory_kind__is_device((enum memory_kind)sized.key.kind))
			continue;
		reading->unsized_bytes -= (double)sized.live * (double)sized.key.size;
		reading->sizes[reading->size_count++] = sized;
	}
	if (reading->size_count)
		qsort(reading->sizes, reading->size_count, sizeof(*reading->sizes), by_key);
	return 0;
}

/* --- one size --- */

static double clamp(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

/* All that were made are still there. Only when the latest was made is known exactly. */
static void add_growth(const struct size_change *change, double size, struct byte_seconds *bytes)
{
	double before = change->live_before * change->span;
	double others = change->made - 1;

	bytes->least += size * (before + change->made * change->age);
	bytes->most += size * (before + change->age + others * change->span);
	bytes->best += size * (before + change->age + others * (change->age + change->span) / 2);
}

/*
 * Some were freed. At no time was there less than what was never freed, or more than what was
 * there at the beginning and all that came. Readings come at times that do not depend on the
 * program: their average is right for what comes and goes between them. It is not at the edges,
 * where nothing is live.
 */
static void add_change(const struct size_change *change, double size, struct byte_seconds *bytes)
{
	double least = change->live_before - change->freed, most, best;

	least = least > 0 ? least : 0;
	most = change->live_before + change->made;
	if (change->peak < most && change->peak >= change->live_before &&
	    change->peak >= change->live_after)
		most = change->peak;
	best = change->is_edge ? (least + most) / 2 :
				 clamp((change->live_before + change->live_after) / 2, least, most);
	bytes->least += size * least * change->span;
	bytes->most += size * most * change->span;
	bytes->best += size * best * change->span;
}

static void add_size(const struct sized *before, const struct profile_size *size,
		     const struct account_span *span, struct byte_seconds *bytes)
{
	const struct size_record *record = &size->record;
	uint64_t live = live_of(record), was = before ? before->live : 0,
		 made = saturate__difference(record->allocations, before ? before->made : 0),
		 latest_ns = record->latest_ns;
	struct size_change change = {
		.live_before = (double)was,
		.live_after = (double)live,
		.made = (double)made,
		.freed = (double)saturate__difference(saturate__sum(was, made), live),
		.peak = (int64_t)record->peak > 0 ? (double)record->peak : 0,
		.span = seconds(span->to_ns - span->from_ns),
		.is_edge = span->is_edge,
	};

	latest_ns = latest_ns < span->from_ns ? span->from_ns : latest_ns;
	change.age = seconds(saturate__difference(span->to_ns, latest_ns));
	if (change.made > 0 && change.freed <= 0)
		add_growth(&change, (double)size->key.size, bytes);
	else
		add_change(&change, (double)size->key.size, bytes);
}

static void add_sizes(const struct account_memory *memory, const struct process *process,
		      const struct account_span *span, struct byte_seconds *bytes)
{
	const struct profile *profile = process->profile;

	for (size_t i = 0; profile && i < profile->size_count; i++) {
		const struct sized sized = sized_of(&profile->sizes[i]);
		const struct sized *before = NULL;

		if (!memory_kind__is_device((enum memory_kind)sized.key.kind))
			continue;
		if (memory->size_count)
			before = bsearch(&sized, memory->sizes, memory->size_count,
					 sizeof(*memory->sizes), by_key);
		add_size(before, &profile->sizes[i], span, bytes);
	}
}

/* --- all --- */

/* Without sizes nothing says what came and went between two readings. */
static void add_unsized(double before, double after, const struct account_span *span,
			struct byte_seconds *bytes)
{
	double time = seconds(span->to_ns - span->from_ns);

	bytes->best += (before + after) / 2 * time;
	bytes->least += (before < after ? before : after) * time;
	bytes->most += (before > after ? before : after) * time;
}

/*
 * Sizes and totals of a reading are not of the same moment: an allocation may be in one of them
 * only. What both readings lack was left out of the sizes, for lack of room.
 */
static void add_left_out(double before, double after, const struct account_span *span,
			 struct byte_seconds *bytes)
{
	if (before * after > 0)
		add_unsized(before, after, span, bytes);
}

/* NVML may answer late, and does not list a process that has ended: its latest figure stays. */
static uint64_t nvml_bytes(const struct account_memory *memory, const struct process *process)
{
	uint64_t bytes = process__nvml_bytes(process);

	return bytes != GPU_UNKNOWN_BYTES ? bytes : memory->nvml_bytes;
}

static bool use_nvml(const struct account_memory *memory, uint64_t now,
		     const struct account_span *span, struct byte_seconds *bytes)
{
	double before = (double)(memory->nvml_bytes ? memory->nvml_bytes : now);
	double best = (before + (double)now) / 2 * seconds(span->to_ns - span->from_ns);

	if (!now)
		return false;
	*bytes = (struct byte_seconds){best, best, best};
	return true;
}

static void not_below_zero(struct byte_seconds *bytes)
{
	bytes->least = bytes->least > 0 ? bytes->least : 0;
	bytes->best = bytes->best > bytes->least ? bytes->best : bytes->least;
	bytes->most = bytes->most > bytes->best ? bytes->most : bytes->best;
}

int account_memory__take(struct account_memory *memory, const struct process *process,
			 const struct account_span *span, struct byte_seconds *bytes, bool *by_nvml)
{
	struct account_memory reading;

	*bytes = (struct byte_seconds){0};
	*by_nvml = false;
	if (read_sizes(&reading, process))
		return -ENOMEM;
	reading.nvml_bytes = nvml_bytes(memory, process);
	if (span->to_ns > span->from_ns) {
		add_sizes(memory, process, span, bytes);
		if (process->profile)
			add_left_out(memory->unsized_bytes, reading.unsized_bytes, span, bytes);
		else
			add_unsized(memory->unsized_bytes, reading.unsized_bytes, span, bytes);
		not_below_zero(bytes);
		*by_nvml =
			process->since_attach && use_nvml(memory, reading.nvml_bytes, span, bytes);
	}
	free(memory->sizes);
	*memory = reading;
	return 0;
}

void account_memory__clear(struct account_memory *memory)
{
	free(memory->sizes);
	*memory = (struct account_memory){0};
}
