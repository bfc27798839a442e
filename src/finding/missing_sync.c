// SPDX-License-Identifier: BSD-2-Clause
/*
 * Work that was apparently never waited for, although its purpose is gone or its result is relied
 * on. The counts only show what calls reveal; whether a result was used is unknown. NCCL destroys
 * its streams and memory while they have work, after waiting in ways of its own, and it waits for
 * events of its own before it records them: calls from inside NCCL are not the program's.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/text_stream.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "api/api.h"
#include "stack/stack.h"

enum {
	LEAST_CALLS,
};

/* The program's counts, without NCCL's. */
struct missing {
	uint64_t unrecorded_waits, unrecorded_queries, destroyed_busy;
	uint64_t freed_busy, freed_busy_bytes;
	uint64_t exit_copies, exit_bytes;
	/* The latest call */
	size_t row;
	const struct stack *stack;
};

/* --- NCCL --- */

static bool begins_with(const char *text, const char *beginning)
{
	return text && !strncmp(text, beginning, strlen(beginning));
}

/* "ncclCommDestroy", "pncclAllReduce": a function of NCCL, also where a framework contains it. */
static bool is_nccl_function(const char *function)
{
	if (begins_with(function, "pnccl"))
		function++;
	return begins_with(function, "nccl") && isupper((unsigned char)function[strlen("nccl")]);
}

/* NCCL is a library of its own, or linked into the framework's. */
static bool is_of_nccl(const struct stack *stack)
{
	for (uint32_t i = 0; stack && i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (frame->kind == FRAME_NATIVE &&
		    (begins_with(frame->object, "libnccl") || is_nccl_function(frame->function)))
			return true;
	}
	return false;
}

static void take_away(uint64_t *count, uint64_t less)
{
	*count -= less < *count ? less : *count;
}

static void leave_out(struct missing *missing, const struct missing_site *site)
{
	if (site->row >= api_function_count)
		return;
	switch (api_functions[site->row].desc.operation) {
	case OP_DESTROY: take_away(&missing->destroyed_busy, site->calls); break;
	case OP_FREE:
		take_away(&missing->freed_busy, site->calls);
		take_away(&missing->freed_busy_bytes, site->bytes);
		break;
	case OP_QUERY: take_away(&missing->unrecorded_queries, site->calls); break;
	default: take_away(&missing->unrecorded_waits, site->calls);
	}
}

/* Without stacks, calls cannot be attributed to NCCL. */
static void find_missing(const struct profile *profile, struct missing *missing)
{
	const struct process_profile *totals = &profile->totals;
	uint64_t latest = 0;

	*missing = (struct missing){
		.unrecorded_waits = totals->unrecorded_waits,
		.unrecorded_queries = totals->unrecorded_queries,
		.destroyed_busy = totals->destroyed_busy,
		.freed_busy = totals->freed_busy,
		.freed_busy_bytes = totals->freed_busy_bytes,
		.exit_copies = profile->inflight_at_exit[0],
		.exit_bytes = profile->inflight_at_exit[1],
		.row = totals->missing_row,
		.stack = profile__stack(profile, totals->missing_stack),
	};
	/* If the latest call is NCCL's, use the latest of the others. */
	if (is_of_nccl(missing->stack)) {
		missing->row = SIZE_MAX;
		missing->stack = NULL;
	} else {
		latest = UINT64_MAX;
	}
	for (size_t i = 0; i < MISSING_SITES; i++) {
		const struct missing_site *site = &totals->missing_sites[i];
		const struct stack *stack = profile__stack(profile, site->stack);

		if (is_of_nccl(stack)) {
			leave_out(missing, site);
		} else if (site->number > latest) {
			latest = site->number;
			missing->row = site->row;
			missing->stack = stack;
		}
	}
}

/* --- the finding --- */

/* "3 waits for events …", after a separator if there is earlier text; nothing if the count is 0. */
static void say(FILE *out, uint64_t count, const char *one, const char *many)
{
	if (count)
		fprintf(out, "%s%s %s", ftell(out) ? "; " : "",
			quantity__amount((double)count).text, count == 1 ? one : many);
}

static void say_bytes(FILE *out, uint64_t count, uint64_t bytes)
{
	if (count)
		fprintf(out, " (%s)", quantity__bytes((double)bytes).text);
}

/* malloc; NULL without memory. */
static char *sentence(const struct missing *missing)
{
	char *text = NULL;
	size_t size;
	FILE *out = text_stream__open(&text, &size);

	if (!out)
		return NULL;
	say(out, missing->freed_busy, "free of host memory with a copy to it in flight",
	    "frees of host memory with a copy to it in flight");
	say_bytes(out, missing->freed_busy, missing->freed_busy_bytes);
	say(out, missing->exit_copies,
	    "copy to the host that no wait had covered when the process ended",
	    "copies to the host that no wait had covered when the process ended");
	say_bytes(out, missing->exit_copies, missing->exit_bytes);
	say(out, missing->unrecorded_waits,
	    "wait for an event that was never recorded, which waits for nothing",
	    "waits for events that were never recorded, which wait for nothing");
	say(out, missing->unrecorded_queries,
	    "query of an event that was never recorded, which answers that all is done",
	    "queries of events that were never recorded, which answer that all is done");
	say(out, missing->destroyed_busy,
	    "stream destroyed with work on it that no wait had covered",
	    "streams destroyed with work on them that no wait had covered");
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static int fill_in(struct finding *finding, const struct missing *missing)
{
	char *text = sentence(missing);
	int ret = text ? finding__evidence(finding, "%s", text) : -ENOMEM;

	free(text);
	finding__number(finding, "calls", finding->weight, UNIT_COUNT);
	finding__number(finding, "freed_in_flight", (double)missing->freed_busy, UNIT_COUNT);
	finding__number(finding, "freed_in_flight_bytes", (double)missing->freed_busy_bytes,
			UNIT_BYTES);
	finding__number(finding, "in_flight_at_exit", (double)missing->exit_copies, UNIT_COUNT);
	finding__number(finding, "in_flight_at_exit_bytes", (double)missing->exit_bytes,
			UNIT_BYTES);
	finding__number(finding, "unrecorded_waits", (double)missing->unrecorded_waits, UNIT_COUNT);
	finding__number(finding, "unrecorded_queries", (double)missing->unrecorded_queries,
			UNIT_COUNT);
	finding__number(finding, "destroyed_busy", (double)missing->destroyed_busy, UNIT_COUNT);
	finding->stack = missing->stack;
	return ret;
}

static unsigned int count_sorts(const struct missing *missing)
{
	return !!missing->freed_busy + !!missing->exit_copies + !!missing->unrecorded_waits +
	       !!missing->unrecorded_queries + !!missing->destroyed_busy;
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	struct finding *finding;
	struct missing missing;
	uint64_t calls;
	int ret;

	if (!process->profile)
		return 0;
	find_missing(process->profile, &missing);
	calls = missing.freed_busy + missing.unrecorded_waits + missing.unrecorded_queries +
		missing.destroyed_busy;
	if (!(calls + missing.exit_copies) ||
	    (double)(calls + missing.exit_copies) < input->thresholds[LEAST_CALLS])
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding->weight = (double)(calls + missing.exit_copies);
	ret = fill_in(finding, &missing);
	/*
	 * Names the latest of the calls, if there were any besides copies at the end of the
	 * process.
	 */
	if (!ret && calls)
		ret = finding__subject(
			finding, "%s%s",
			count_sorts(&missing) > 1 ? "of several kinds, the latest call " : "",
			site_lookup__function(missing.row));
	return ret;
}

const struct finding_kind missing_sync_kind = {
	.id = "missing-sync",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PROFILE,
	.every = EVERY_CALL,
	.title = "results may be used before they are ready",
	.advice = "The memory of work in flight was freed, or its results were used without a "
		  "wait. Wait for a copy (its stream or an event recorded after it) before its "
		  "host memory is freed or read, and before the process ends. Record an event "
		  "before waiting for it: one that was never recorded counts as done. Wait for a "
		  "stream before destroying it if its results matter. Calls do not show whether a "
		  "wrong result was used.",
	.thresholds =
		{
			{"calls", 1, UNIT_COUNT, "minimum such calls"},
		},
	.detect = detect,
};
