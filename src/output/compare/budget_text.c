// SPDX-License-Identifier: BSD-2-Clause
// The text of `gpuprobe diff`: the comparison, and what became of the limits of a budget.
#include "base/escape.h"
#include "base/quantity.h"
#include "output/compare/compare.h"

static void print_limit(FILE *out, const struct compare_report *report,
			const struct budget_result *limit)
{
	static const char *const words[] = {
		[BUDGET_KEPT] = "kept", [BUDGET_BROKEN] = "broken", [BUDGET_UNKNOWN] = "unknown"};

	fprintf(out, "%s %s: ", limit->state == BUDGET_KEPT ? " " : "!", words[limit->state]);
	escape__text(out, limit->text);
	if (limit->state == BUDGET_UNKNOWN)
		fprintf(out, ": %s", limit->why);
	else
		fprintf(out, ": %s",
			compare_text__amount(report->form, limit->unit, limit->value).text);
	if (limit->state != BUDGET_UNKNOWN && limit->process && report->run->process_count > 1) {
		fputs(" (", out);
		escape__text(out, limit->process->comm);
		fprintf(out, " %lld)", (long long)limit->process->pid);
	}
	fprintf(out, " [line %u]\n", limit->line);
}

static void print_limits(FILE *out, const struct compare_report *report, bool all)
{
	size_t counts[3] = {0};

	for (size_t i = 0; i < report->limit_count; i++)
		counts[report->limits[i].state]++;
	fputs("budget of ", out);
	escape__text(out, report->run->path);
	fprintf(out, ": %zu limits, %zu broken", report->limit_count, counts[BUDGET_BROKEN]);
	if (counts[BUDGET_UNKNOWN])
		fprintf(out, ", %zu unknown", counts[BUDGET_UNKNOWN]);
	fputc('\n', out);
	for (size_t i = 0; i < report->limit_count; i++)
		if (all || report->limits[i].state != BUDGET_KEPT)
			print_limit(out, report, &report->limits[i]);
}

void compare_text__print(FILE *out, const struct compare_report *report, bool all)
{
	if (report->comparison)
		compare_text__print_comparison(out, report, all);
	if (report->comparison && report->limit_count)
		fputc('\n', out);
	if (report->limit_count)
		print_limits(out, report, all);
}
