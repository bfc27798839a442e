// SPDX-License-Identifier: BSD-2-Clause
// Steps as text, see parts.h.
#include "output/report/parts.h"

#include <inttypes.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "base/saturate.h"
#include "model/steps.h"
#include "output/report/line.h"
#include "output/enum_names.h"

/* Submissions of a process that it takes to say that nothing repeats. */
#define STEPS_LEAST_SUBMISSIONS 200

#define SLOW_SHOWN 3
#define SLOW_LEAST 1.5 /* ratio to a typical step from which on a step is slow */

static uint64_t submissions_of(const struct process *process)
{
	uint64_t submissions = 0;

	for (size_t i = 0; process->steps && i < process->steps->count; i++)
		submissions += process->steps->threads[i]->submissions;
	return submissions;
}

/* The NVTX range that the process's steps are to be; NULL: what repeats. */
static const char *step_range(const struct process *process)
{
	return process->steps && process->steps->count ? process->steps->threads[0]->range : NULL;
}

/* "377", or "376.9" if steps differ. */
static void print_number(FILE *out, double number)
{
	uint64_t whole = (uint64_t)(number + 0.5);
	double rest = number - (double)whole;

	if (number >= 1000 || (rest < 0.005 && rest > -0.005))
		fputs(quantity__count(whole).text, out);
	else
		fprintf(out, number < 10 ? "%.2f" : "%.1f", number);
}

/* A mean, or what is not below 0 for another reason. */
static struct quantity time_as(enum quantity_form form, double ns)
{
	return quantity__time_as(form, (uint64_t)(ns + 0.5));
}

/* `are_all`: launches were watched all the time, so all steps were seen. */
static void print_steps(FILE *out, const struct step_summary *summary, bool are_all,
			enum quantity_form form)
{
	fprintf(out, "%s step%s%s of %s (", quantity__count(summary->phase->steps).text,
		report_line__plural(summary->phase->steps), are_all ? "" : " seen,",
		quantity__time_as(form, summary->usual_ns).text);
	if (summary->usual_ns != summary->p50_ns)
		fprintf(out, "on average; median %s, ",
			quantity__time_as(form, summary->p50_ns).text);
	fprintf(out, "p99 %s), ", quantity__time_as(form, summary->p99_ns).text);
	print_number(out, summary->launches);
	fputs(summary->launches == 1 ? " launch each" : " launches each", out);
}

bool report_steps__knows(const struct process *process)
{
	struct step_summary summary;

	step_summary__make(process, &summary);
	return summary.thread || step_range(process) ||
	       submissions_of(process) >= STEPS_LEAST_SUBMISSIONS;
}

void report_steps__line(FILE *out, const struct process *process, enum quantity_form form)
{
	struct step_summary summary;

	step_summary__make(process, &summary);
	if (summary.thread)
		print_steps(out, &summary, !process__is_estimated(process, RATE_LAUNCH), form);
	else if (step_range(process))
		fputs("no steps: no NVTX range of this name has ended in its thread", out);
	else if (submissions_of(process) >= STEPS_LEAST_SUBMISSIONS)
		fputs("no steps: it submits nothing that repeats", out);
	else
		fputs("no steps known: it has submitted too little", out);
}

/* --- the section --- */

static void print_part(FILE *out, const char **comma, double number, const char *one,
		       const char *many)
{
	if (number < 0.005)
		return;
	fputs(*comma, out);
	print_number(out, number);
	fprintf(out, " %s", number == 1 ? one : many);
	*comma = ", ";
}

static void print_copies(FILE *out, const char **comma, const struct step_summary *summary,
			 enum quantity_form form)
{
	static const char *const ones[] = {"copy to the device", "copy to the host", "other copy"};
	static const char *const names[] = {"copies to the device", "copies to the host",
					    "other copies"};

	for (int i = 0; i < STEP_DIRECTIONS; i++) {
		print_part(out, comma, summary->copies[i], ones[i], names[i]);
		if (summary->bytes[i] > 0)
			fprintf(out, " (%s)",
				quantity__bytes_as(form, (uint64_t)(summary->bytes[i] + 0.5)).text);
	}
}

static void print_content(FILE *out, const struct step_summary *summary, enum quantity_form form)
{
	const char *comma = REPORT_INDENT "in each: ";
	double inside = 0;

	print_part(out, &comma, summary->launches, "launch", "launches");
	print_copies(out, &comma, summary, form);
	print_part(out, &comma, summary->waits, "wait", "waits");
	if (summary->inside_ns[TIME_WAIT] > 0)
		fprintf(out, " (%s)", time_as(form, summary->inside_ns[TIME_WAIT]).text);
	print_part(out, &comma, summary->allocations, "allocation", "allocations");
	print_part(out, &comma, summary->frees, "free", "frees");
	for (int i = 0; i < TIME_CLASSES; i++)
		inside += summary->inside_ns[i];
	if (summary->sums_known)
		fprintf(out, "%s%s inside CUDA calls", comma, time_as(form, inside).text);
	fputc('\n', out);
}

/* "        slow: 95.1 ms at 12.3 s, 20.3 ms more than usual outside CUDA calls" */
static void print_slow(FILE *out, const struct model *model, const struct step_summary *summary,
		       const struct slow_step *step, enum quantity_form form)
{
	uint64_t ns;
	enum step_excess excess = step_summary__excess(summary, step, &ns);

	fprintf(out, REPORT_INDENT "slow: %s, begun %s before this report",
		quantity__time_as(form, step->ns).text,
		quantity__time_as(form, saturate__difference(model->now_ns, step->begin_ns)).text);
	if (excess != STEP_EXCESS_UNKNOWN)
		fprintf(out, ", %s more than usual ", quantity__time_as(form, ns).text);
	if (excess == STEP_EXCESS_OUTSIDE)
		fputs("outside CUDA calls", out);
	else if (excess != STEP_EXCESS_UNKNOWN)
		fprintf(out, "in calls of class %s",
			enum_names__time_class(excess - STEP_EXCESS_INSIDE));
	fputc('\n', out);
}

static void print_thread(FILE *out, const struct step_summary *summary, enum quantity_form form)
{
	const struct step_phase *phase = summary->phase;

	fputs(REPORT_INDENT, out);
	if (summary->thread->range) {
		fputs("each is an NVTX range '", out);
		escape__text(out, summary->thread->range);
		fputs("', ", out);
	}
	fprintf(out, "from thread %d (", summary->thread->tid);
	escape__text(out, summary->thread->comm);
	fprintf(out, "); longest %s", quantity__time_as(form, phase->max_ns).text);
	if (phase->irregular)
		fprintf(out, "; also %s with other content, %s",
			quantity__count(phase->irregular).text,
			quantity__time_as(form, phase->irregular_ns).text);
	fputc('\n', out);
}

void report_steps__print(FILE *out, const struct model *model, const struct process *process,
			 enum quantity_form form)
{
	struct step_summary summary;

	if (!report_steps__knows(process))
		return;
	step_summary__make(process, &summary);
	fputs("\n    ", out);
	report_steps__line(out, process, form);
	fputc('\n', out);
	if (!summary.thread)
		return;
	print_thread(out, &summary, form);
	print_content(out, &summary, form);
	for (size_t i = 0; i < SLOW_SHOWN && (double)summary.phase->slowest[i].ns >
						     SLOW_LEAST * (double)summary.usual_ns;
	     i++)
		print_slow(out, model, &summary, &summary.phase->slowest[i], form);
}
