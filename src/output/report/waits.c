// SPDX-License-Identifier: BSD-2-Clause
// Waits and queries by process, see parts.h.
#include "output/report/parts.h"

#include <inttypes.h>

#include "output/report/line.h"
#include "output/report/totals.h"
#include "output/enum_names.h"

static void print_wait(FILE *out, const char *in, const char *mark, const struct wait_totals *waits)
{
	if (!waits->calls && !waits->unfollowed && !waits->ns)
		return;
	if (!waits->calls && !waits->ns) {
		fprintf(out, REPORT_INDENT "%s %s%" PRIu64 " call%s not followed\n", in, mark,
			waits->unfollowed, report_line__plural(waits->unfollowed));
		return;
	}
	fprintf(out, REPORT_INDENT "%s %s%" PRIu64 " call%s, %s", in, mark, waits->calls,
		report_line__plural(waits->calls), mark);
	report_line__seconds(out, waits->ns);
	if (waits->open)
		fprintf(out, ", %" PRIu64 " in progress", waits->open);
	if (waits->unfollowed)
		fprintf(out, ", beside %s%" PRIu64 " not followed", mark, waits->unfollowed);
	fputc('\n', out);
}

static void print_queries(FILE *out, const char *of, const char *mark,
			  const struct query_totals *queries)
{
	if (queries->calls)
		fprintf(out, REPORT_INDENT "%s queries %s%" PRIu64 " (%s%" PRIu64 " not ready)\n",
			of, mark, queries->calls, mark, queries->not_ready);
}

static bool has_waits(const struct process *p)
{
	int scope;

	for (scope = 0; scope < WAIT_SCOPES; scope++) {
		if (p->waits[scope].calls || p->waits[scope].ns || p->waits[scope].unfollowed ||
		    p->queries[scope].calls)
			return true;
	}
	return p->copy_waits.calls || p->copy_waits.ns || p->free_waits.calls || p->free_waits.ns;
}

static void print_process(FILE *out, const struct process *p)
{
	const char *mark = report_sampling__mark(p, RATE_WAIT);
	int scope;

	report_line__process(out, p);
	for (scope = 0; scope < WAIT_SCOPES; scope++)
		print_wait(out, enum_names__wait_scope(scope), mark, &p->waits[scope]);
	print_wait(out, "in synchronous copies", report_sampling__mark(p, RATE_COPY),
		   &p->copy_waits);
	print_wait(out, "in frees", "", &p->free_waits);
	for (scope = 0; scope < WAIT_SCOPES; scope++)
		print_queries(out, enum_names__wait_scope(scope), mark, &p->queries[scope]);
}

void report_waits__print(FILE *out, const struct model *model)
{
	bool first = true;
	size_t i;

	for (i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || !has_waits(p))
			continue;
		if (first)
			fputs("\nwaits:\n", out);
		first = false;
		print_process(out, p);
	}
}
