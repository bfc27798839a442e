// SPDX-License-Identifier: BSD-2-Clause
/*
 * Work that nothing was seen to wait for, though what it was for has gone or is
 * relied on. Each of the counts is what calls show; whether a result was used
 * is not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "base/text_stream.h"
#include "finding/rules.h"
#include "finding/where.h"

enum {
	LEAST_CALLS,
};

/* "3 waits for events …", after what was said before; nothing of none. */
static void say(FILE *out, uint64_t count, const char *one, const char *many)
{
	if (count)
		fprintf(out, "%s%s %s", ftell(out) ? "; " : "", quantity__count(count).text, count == 1 ? one : many);
}

static void say_bytes(FILE *out, uint64_t count, uint64_t bytes)
{
	if (count)
		fprintf(out, " (%s)", quantity__bytes((double)bytes).text);
}

/* malloc; NULL without memory. */
static char *sentence(const struct account *account)
{
	const struct process_account *totals = &account->totals;
	char *text = NULL;
	size_t size;
	FILE *out = text_stream__open(&text, &size);

	if (!out)
		return NULL;
	say(out, totals->freed_busy, "free of host memory with a copy to it in flight",
	    "frees of host memory with a copy to it in flight");
	say_bytes(out, totals->freed_busy, totals->freed_busy_bytes);
	say(out, account->inflight_at_exit[0], "copy to the host that no wait had covered when the process ended",
	    "copies to the host that no wait had covered when the process ended");
	say_bytes(out, account->inflight_at_exit[0], account->inflight_at_exit[1]);
	say(out, totals->unrecorded_waits, "wait for an event that was never recorded, which waits for nothing",
	    "waits for events that were never recorded, which wait for nothing");
	say(out, totals->unrecorded_queries, "query of an event that was never recorded, which answers that all is done",
	    "queries of events that were never recorded, which answer that all is done");
	say(out, totals->destroyed_busy, "stream destroyed with work on it that no wait had covered",
	    "streams destroyed with work on them that no wait had covered");
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static int fill_in(struct finding *finding, const struct account *account)
{
	const struct process_account *totals = &account->totals;
	char *text = sentence(account);
	int ret = text ? finding__evidence(finding, "%s", text) : -ENOMEM;

	free(text);
	finding__number(finding, "calls", finding->weight, UNIT_COUNT);
	finding__number(finding, "freed_in_flight", (double)totals->freed_busy, UNIT_COUNT);
	finding__number(finding, "freed_in_flight_bytes", (double)totals->freed_busy_bytes, UNIT_BYTES);
	finding__number(finding, "in_flight_at_exit", (double)account->inflight_at_exit[0], UNIT_COUNT);
	finding__number(finding, "in_flight_at_exit_bytes", (double)account->inflight_at_exit[1], UNIT_BYTES);
	finding__number(finding, "unrecorded_waits", (double)totals->unrecorded_waits, UNIT_COUNT);
	finding__number(finding, "unrecorded_queries", (double)totals->unrecorded_queries, UNIT_COUNT);
	finding__number(finding, "destroyed_busy", (double)totals->destroyed_busy, UNIT_COUNT);
	finding->stack = account__stack(account, totals->missing_stack);
	return ret;
}

static unsigned int count_sorts(const struct account *account)
{
	const struct process_account *totals = &account->totals;

	return !!totals->freed_busy + !!account->inflight_at_exit[0] + !!totals->unrecorded_waits +
	       !!totals->unrecorded_queries + !!totals->destroyed_busy;
}

int missing_sync__draw(const struct finding_input *input, const struct process *process, struct finding_list *out)
{
	const struct account *account = process->account;
	const struct process_account *totals;
	struct finding *finding;
	uint64_t calls, at_exit;
	int ret;

	if (!account)
		return 0;
	totals = &account->totals;
	at_exit = account->inflight_at_exit[0];
	calls = totals->freed_busy + totals->unrecorded_waits + totals->unrecorded_queries + totals->destroyed_busy;
	if (!(calls + at_exit) || (double)(calls + at_exit) < input->thresholds[LEAST_CALLS])
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding->weight = (double)(calls + at_exit);
	ret = fill_in(finding, account);
	/* The latest of the calls, where there was one beside the end of the process. */
	if (!ret && calls)
		ret = finding__subject(finding, "%s%s", count_sorts(account) > 1 ? "of several sorts, the latest call " : "",
				       where__function(totals->missing_row));
	return ret;
}
