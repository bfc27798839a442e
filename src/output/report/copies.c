// SPDX-License-Identifier: BSD-2-Clause
// Copies and sets by process, see parts.h.
#include "output/report/parts.h"

#include <inttypes.h>

#include "output/report/line.h"
#include "output/report/totals.h"
#include "output/enum_names.h"

static void print_amount(FILE *out, const char *kind, const char *mode, const char *mark,
			 const struct copy_totals *c)
{
	fprintf(out, REPORT_INDENT "%s%s %s%" PRIu64 " call%s, %s%" PRIu64 " Bytes", kind, mode,
		mark, c->calls, report_line__plural(c->calls), mark, c->bytes);
}

/*
 * Prints the kind of host memory if it is known for some copies, and the copies captured into
 * graphs.
 */
static void print_details(FILE *out, const char *mark, const struct copy_totals *c)
{
	if (c->pinned_calls)
		fprintf(out, ", %s%" PRIu64 " pinned", mark, c->pinned_calls);
	if (c->pageable_calls)
		fprintf(out, ", %s%" PRIu64 " pageable", mark, c->pageable_calls);
	if (c->captured_calls)
		fprintf(out, ", beside %s%" PRIu64 " captured (%s%" PRIu64 " Bytes)", mark,
			c->captured_calls, mark, c->captured_bytes);
	if (c->unfollowed_calls)
		fprintf(out, ", beside %s%" PRIu64 " not followed (%s%" PRIu64 " Bytes)", mark,
			c->unfollowed_calls, mark, c->unfollowed_bytes);
}

/* Whether all calls are ones whose return was not followed. */
static bool is_unfollowed(const struct copy_totals *c)
{
	return c->unfollowed_calls && !c->calls && !c->captured_calls;
}

static void print_unfollowed(FILE *out, const char *kind, const char *mode, const char *mark,
			     const struct copy_totals *c)
{
	fprintf(out, REPORT_INDENT "%s%s %s%" PRIu64 " call%s not followed, %s%" PRIu64 " Bytes\n",
		kind, mode, mark, c->unfollowed_calls, report_line__plural(c->unfollowed_calls),
		mark, c->unfollowed_bytes);
}

static bool has_any(const struct copy_totals *c)
{
	return c->calls || c->captured_calls || c->unfollowed_calls;
}

static void print_sync_copies(FILE *out, const char *kind, const char *mark,
			      const struct copy_totals *c)
{
	double seconds = (double)c->ns / 1e9;

	if (is_unfollowed(c)) {
		print_unfollowed(out, kind, "", mark, c);
		return;
	}
	if (!has_any(c))
		return;
	print_amount(out, kind, "", mark, c);
	/* Below 10 us, five decimals would show at most one digit. */
	if (c->ns)
		fprintf(out, ", %.1f bytes/sec for %s%.*f secs", (double)c->bytes / seconds, mark,
			c->ns < 10000 ? 9 : 5, seconds);
	print_details(out, mark, c);
	fputc('\n', out);
}

static void print_async_copies(FILE *out, const char *kind, const char *mark,
			       const struct copy_totals *c, const struct copy_inflight *inflight,
			       const struct covered_totals *covered)
{
	double oldest_ms = (double)inflight->oldest_ns / 1e6;

	if (is_unfollowed(c) && !inflight->calls) {
		print_unfollowed(out, kind, " async", mark, c);
		return;
	}
	if (!has_any(c) && !inflight->calls)
		return;
	print_amount(out, kind, " async", mark, c);
	if (covered->ns)
		fprintf(out,
			", at least %.1f bytes/sec from issue to the wait that covered %" PRIu64,
			(double)covered->bytes / ((double)covered->ns / 1e9), covered->calls);
	if (inflight->calls)
		fprintf(out, ", %" PRIu64 " in flight (%" PRIu64 " Bytes, oldest %.*f ms)",
			inflight->calls, inflight->bytes, oldest_ms < 0.1 ? 3 : 1, oldest_ms);
	print_details(out, mark, c);
	fputc('\n', out);
}

static bool has_copies(const struct process *p)
{
	int kind;

	for (kind = 0; kind < COPY_KINDS; kind++) {
		if (has_any(&p->copies[kind][0]) || has_any(&p->copies[kind][1]) ||
		    p->inflight[kind].calls)
			return true;
	}
	return false;
}

static void print_process_copies(FILE *out, const struct process *p)
{
	const char *mark = report_sampling__mark(p, RATE_COPY);
	int kind;

	report_line__process(out, p);
	for (kind = 0; kind < COPY_KINDS; kind++)
		print_sync_copies(out, enum_names__copy_kind(kind), mark, &p->copies[kind][0]);
	for (kind = 0; kind < COPY_KINDS; kind++)
		print_async_copies(out, enum_names__copy_kind(kind), mark, &p->copies[kind][1],
				   &p->inflight[kind], &p->covered[kind]);
}

void report_copies__print(FILE *out, const struct model *model)
{
	bool any = false;
	size_t i;

	fputs("\ncopies:", out);
	for (i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || !has_copies(p))
			continue;
		if (!any)
			fputc('\n', out);
		any = true;
		print_process_copies(out, p);
	}
	if (!any)
		fputs(" none\n", out);
}
