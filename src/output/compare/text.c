// SPDX-License-Identifier: BSD-2-Clause
// The text of a comparison, see compare.h.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "output/compare/compare.h"

#define LINES 32 /* about differences, without --all */
#define PARTS 3	 /* below one of them */
#define FINDINGS 6
#define ASKS 4

/* Counts the lines that would be too many. */
struct lines {
	FILE *out;
	const struct compare_report *report;
	bool all;
	unsigned int printed, hidden;
};

static bool takes_line(struct lines *lines)
{
	if (!lines->all && lines->printed >= LINES) {
		lines->hidden++;
		return false;
	}
	lines->printed++;
	return true;
}

struct quantity compare_text__amount(enum quantity_form form, enum figure_unit unit, double amount)
{
	/* A file may claim anything. */
	amount = fmin(fmax(amount, 0), 1e18);
	if (form == QUANTITY_EXACT && unit == FIGURE_BYTES)
		return quantity__bytes_as(form, (uint64_t)round(amount));
	if (form == QUANTITY_EXACT && unit == FIGURE_NS)
		return quantity__time_as(form, (uint64_t)round(amount));
	if (unit == FIGURE_BYTES)
		return quantity__bytes(amount);
	if (unit == FIGURE_NS)
		return quantity__time(amount);
	if (fabs(amount - round(amount)) < 0.005 && amount < 1e15)
		return quantity__count((uint64_t)round(amount));
	return amount < 1000 || form == QUANTITY_EXACT ? quantity__ratio(amount) :
							 quantity__amount(amount);
}

/* Exact amounts are longer. */
static int columns_of(const struct lines *lines)
{
	return lines->report->form == QUANTITY_EXACT ? 22 : 11;
}

/* "+1", "-7.6 MiB"; "new" and "gone" for what only one run has, "other" for as much. */
static void print_change(const struct lines *lines, enum figure_unit unit, double a, double b)
{
	struct quantity amount = compare_text__amount(lines->report->form, unit, fabs(b - a));
	char text[48];

	snprintf(text, sizeof(text), "%s%s", b > a ? "+" : "-", amount.text);
	fprintf(lines->out, " %*s", columns_of(lines),
		a == b ? "other" :
		a == 0 ? "new" :
		b == 0 ? "gone" :
			 text);
}

static void print_cost(const struct lines *lines, const struct difference *difference)
{
	char text[48] = "";

	if (difference->cost_ns >= 1)
		snprintf(text, sizeof(text), "%s%s", difference->b > difference->a ? "+" : "-",
			 compare_text__amount(lines->report->form, FIGURE_NS, difference->cost_ns)
				 .text);
	fprintf(lines->out, " %*s  ", columns_of(lines), text);
}

static void print_amounts(const struct lines *lines, enum figure_unit unit, const char *mark,
			  double a, double b)
{
	const enum quantity_form form = lines->report->form;

	fprintf(lines->out, "%s %*s", mark, columns_of(lines),
		compare_text__amount(form, unit, a).text);
	fprintf(lines->out, " %*s", columns_of(lines), compare_text__amount(form, unit, b).text);
	print_change(lines, unit, a, b);
}

static void print_parts(struct lines *lines, const struct difference *difference)
{
	size_t shown = difference->part_count;

	if (!lines->all && shown > PARTS)
		shown = PARTS;
	for (size_t i = 0; i < shown; i++) {
		const struct difference_part *part = &difference->parts[i];

		if (!takes_line(lines))
			continue;
		print_amounts(lines, difference->unit, " ", part->a, part->b);
		fprintf(lines->out, " %*s    ", columns_of(lines), "");
		escape__text(lines->out,
			     lines->report->full_names && part->whole ? part->whole : part->shown);
		fputc('\n', lines->out);
	}
	lines->hidden += (unsigned int)(difference->part_count - shown);
	if (difference->parts_left && takes_line(lines))
		fprintf(lines->out, "%*s... and %zu more\n", 4 * columns_of(lines) + 8, "",
			difference->parts_left);
}

static void print_difference(struct lines *lines, const struct difference *difference)
{
	static const char *const scopes[SCOPES] = {" per step", " in all", ""};

	if (!takes_line(lines))
		return;
	print_amounts(lines, difference->unit, difference->worse ? "!" : " ", difference->a,
		      difference->b);
	if (difference->group == GROUP_COUNTS)
		print_cost(lines, difference);
	else
		fprintf(lines->out, " %*s  ", columns_of(lines), "");
	escape__text(lines->out, difference->name);
	fprintf(lines->out, "%s\n", scopes[difference->scope]);
	print_parts(lines, difference);
}

/* --- a pair of processes --- */

static bool has_differences(const struct comparison *comparison, size_t pair,
			    enum difference_group group)
{
	for (size_t i = 0; i < comparison->difference_count; i++)
		if (comparison->differences[i].pair == pair &&
		    comparison->differences[i].group == group)
			return true;
	return false;
}

static void print_group(struct lines *lines, const struct comparison *comparison, size_t pair,
			enum difference_group group)
{
	static const char *const heads[DIFFERENCE_GROUPS] = {
		[GROUP_COUNTS] = "counts",
		[GROUP_MEMORY] = "memory",
		[GROUP_TIMES] = "times",
	};

	const int columns = columns_of(lines);

	if (!has_differences(comparison, pair, group))
		return;
	if (takes_line(lines))
		fprintf(lines->out, "\n  %*c %*c %*s %*s  %s\n", columns, 'A', columns, 'B',
			columns, "change", columns, group == GROUP_COUNTS ? "takes about" : "",
			heads[group]);
	for (size_t i = 0; i < comparison->difference_count; i++)
		if (comparison->differences[i].pair == pair &&
		    comparison->differences[i].group == group)
			print_difference(lines, &comparison->differences[i]);
}

static void print_pair(struct lines *lines, const struct comparison *comparison, size_t index)
{
	const struct compared_pair *pair = &comparison->pairs[index];
	bool any = false;

	for (int group = 0; group < DIFFERENCE_GROUPS; group++)
		any |= has_differences(comparison, index, group);
	if (comparison->pair_count > 1 && any && takes_line(lines)) {
		fputs("\nprocess ", lines->out);
		escape__text(lines->out, pair->b->comm);
		fprintf(lines->out, " (%" PRIi64 " in A, %" PRIi64 " in B)\n", pair->a->pid,
			pair->b->pid);
	}
	for (int group = 0; group < DIFFERENCE_GROUPS; group++)
		print_group(lines, comparison, index, group);
}

/* --- findings, and what was not compared --- */

static void print_finding(struct lines *lines, const struct finding_change *change)
{
	const char *severity = json_value__string(change->finding, "severity");
	const char *title = json_value__string(change->finding, "title");
	const char *id = json_value__string(change->finding, "id");

	if (!takes_line(lines))
		return;
	fprintf(lines->out, "%s %s: ", change->worse ? "!" : " ", change->came ? "new" : "gone");
	escape__text(lines->out, severity ? severity : "?");
	fputc(' ', lines->out);
	escape__text(lines->out, id ? id : "?");
	fputs(": ", lines->out);
	escape__text(lines->out, title ? title : "?");
	fputc('\n', lines->out);
}

static void print_findings(struct lines *lines, const struct comparison *comparison)
{
	if (comparison->finding_count && takes_line(lines))
		fputs("\n  findings\n", lines->out);
	for (size_t i = 0; i < comparison->finding_count; i++) {
		if (!lines->all && i >= FINDINGS)
			lines->hidden++;
		else
			print_finding(lines, &comparison->findings[i]);
	}
}

static bool any_by_steps(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->pair_count; i++)
		if (comparison->pairs[i].by_steps)
			return true;
	return false;
}

/* Polls and queries in one line, and the time that is in no step in another. */
static void print_left_out(FILE *out, const struct comparison *comparison, bool all,
			   enum quantity_form form)
{
	size_t count = comparison->left_out_count;
	size_t shown = all || count < ASKS ? count : ASKS;

	for (size_t i = 0; i < shown; i++) {
		const struct left_out_calls *calls = &comparison->left_out[i];

		fputs(i ? ", " : "left out, since they only ask: ", out);
		escape__text(out, calls->function);
		fprintf(out, " %s -> %s", compare_text__amount(form, FIGURE_COUNT, calls->a).text,
			compare_text__amount(form, FIGURE_COUNT, calls->b).text);
	}
	if (shown < count)
		fprintf(out, ", and %zu more", count - shown);
	if (shown)
		fputc('\n', out);
	if (any_by_steps(comparison))
		fputs("left out: warm-up, and everything else outside of the counted steps\n", out);
}

static void print_refusals(FILE *out, const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->refusal_count; i++) {
		fputs("not compared: ", out);
		escape__text(out, comparison->refusals[i].text);
		fputc('\n', out);
	}
}

/* --- the head --- */

static void print_run(FILE *out, char letter, const struct compared_run *run,
		      enum quantity_form form)
{
	const struct compared_process *first = run->process_count ? &run->processes[0] : NULL;

	fprintf(out, "%c: ", letter);
	escape__text(out, run->path);
	fprintf(out, ", %s watched",
		compare_text__amount(form, FIGURE_NS, run->seconds * 1e9).text);
	if (run->process_count > 1)
		fprintf(out, ", %zu processes", run->process_count);
	if (first && first->has_steps) {
		double usual_ns = 0;

		json_value__number(first->json, "steps.p50_ns", &usual_ns);
		fprintf(out, ", %s steps of %s counted",
			quantity__count((uint64_t)first->steps).text,
			compare_text__amount(form, FIGURE_NS, usual_ns).text);
	}
	fputc('\n', out);
}

static void print_sum(FILE *out, const struct comparison *comparison)
{
	size_t worse = 0, all = comparison->difference_count + comparison->finding_count;

	for (size_t i = 0; i < comparison->difference_count; i++)
		worse += comparison->differences[i].worse;
	for (size_t i = 0; i < comparison->finding_count; i++)
		worse += comparison->findings[i].worse;
	if (comparison->refused)
		fputs("A and B cannot be compared\n", out);
	else if (!all)
		fprintf(out, "no difference%s\n",
			comparison->refusal_count ? " in what could be compared" : "");
	else if (worse == all)
		fprintf(out, "B is worse: %zu difference%s\n", all, all == 1 ? "" : "s");
	else if (worse)
		fprintf(out, "B is worse: %zu differences, %zu of them worse (!)\n", all, worse);
	else
		fprintf(out, "%zu difference%s, none of them worse\n", all, all == 1 ? "" : "s");
}

void compare_text__print_comparison(FILE *out, const struct compare_report *report, bool all)
{
	struct lines lines = {.out = out, .report = report, .all = all};
	const struct comparison *comparison = report->comparison;

	print_run(out, 'A', comparison->a, report->form);
	print_run(out, 'B', comparison->b, report->form);
	print_sum(out, comparison);
	for (size_t i = 0; i < comparison->pair_count; i++)
		print_pair(&lines, comparison, i);
	print_findings(&lines, comparison);
	if (lines.hidden)
		fprintf(out, "%u more line%s with --all\n", lines.hidden,
			lines.hidden == 1 ? "" : "s");
	if (comparison->refusal_count || comparison->left_out_count || any_by_steps(comparison))
		fputc('\n', out);
	print_refusals(out, comparison);
	print_left_out(out, comparison, all, report->form);
}
