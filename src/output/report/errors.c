// SPDX-License-Identifier: BSD-2-Clause
// Failed calls by process, see parts.h.
#include "output/report/parts.h"

#include <inttypes.h>

#include "api/api.h"
#include "output/report/line.h"
#include "output/report/totals.h"

#define NS_PER_SECOND 1000000000ull

/* Converts CLOCK_BOOTTIME to the time of day on the clock of the report's date. */
static time_t second_of(const struct model *model, uint64_t ns)
{
	uint64_t ago = model->now_ns > ns ? model->now_ns - ns : 0;
	int64_t then =
		model->wall.tv_sec * (int64_t)NS_PER_SECOND + model->wall.tv_nsec - (int64_t)ago;

	return then / (int64_t)NS_PER_SECOND;
}

static void print_time(FILE *out, const struct model *model, uint64_t ns)
{
	time_t seconds = second_of(model, ns);
	char text[16];
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%H:%M:%S", &tm))
		fprintf(out, "%lld", (long long)seconds);
	else
		fputs(text, out);
}

/* Prints the first and the latest time; only one if they are equal in seconds. */
static void print_times(FILE *out, const struct model *model, const struct failure *f)
{
	if (!f->last_ns)
		return;
	fputs(", at ", out);
	print_time(out, model, f->first_ns);
	if (second_of(model, f->first_ns) == second_of(model, f->last_ns))
		return;
	fputs(" to ", out);
	print_time(out, model, f->last_ns);
}

/* Says whether all later calls failed too, as CUDA documents. */
static void print_sticky(FILE *out, const struct model *model, const struct process *p)
{
	const struct sticky_error *s = &p->sticky;
	const char *name = s->code ? api__error_name(LAYER_RUNTIME, s->code) : NULL;

	if (!s->code)
		return;
	fprintf(out, REPORT_INDENT "%s (%d) since ", name ? name : "unknown error", s->code);
	print_time(out, model, s->ns);
	fprintf(out, ": %s (%" PRIu64 " of %" PRIu64 ")\n",
		s->others ? "no call can recover from it; later calls that failed with it" :
			    "every later call fails",
		s->same, s->same + s->others);
}

void report_errors__list(FILE *out, const struct model *model, const struct process *p,
			 const struct report_options *options)
{
	size_t shown = report_line__cut(options, p->failure_count), i;
	size_t rest = p->failure_count - shown;
	uint64_t rest_count = 0;

	print_sticky(out, model, p);
	for (i = 0; i < shown; i++) {
		const struct failure *f = &p->failures[i];

		if (f->is_rest)
			fprintf(out, REPORT_INDENT "other errors x %" PRIu64, f->count);
		else
			fprintf(out, REPORT_INDENT "%s: %s (%d) x %" PRIu64,
				api__shown(f->function), f->error ? f->error : "unknown error",
				f->code, f->count);
		if (f->sampled && model->launch_sample > 1)
			fprintf(out, " (sampled 1/%u)", model->launch_sample);
		print_times(out, model, f);
		fputc('\n', out);
	}
	for (; i < p->failure_count; i++)
		rest_count += p->failures[i].count;
	if (rest)
		fprintf(out, REPORT_INDENT "... and %zu more error%s (x %" PRIu64 ")\n", rest,
			report_line__plural(rest), rest_count);
}

void report_errors__unseen(FILE *out, const struct model *model)
{
	if (model->launch_sample || !(model->sections & SECTION_LAUNCH))
		return;
	for (size_t i = 0; i < model->process_count; i++) {
		if (!report__shows(&model->processes[i]) || !model->processes[i].launches)
			continue;
		fputs("\nwhether launches failed was not looked at: without session probes (Linux "
		      "6.13) "
		      "--check-launches does\n",
		      out);
		return;
	}
}

void report_errors__print(FILE *out, const struct model *model,
			  const struct report_options *options)
{
	bool first = true;
	size_t i;

	for (i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (!report__shows(p) || !p->failure_count)
			continue;
		if (first)
			fputs("\nerrors:\n", out);
		first = false;
		report_line__process(out, p);
		report_errors__list(out, model, p, options);
	}
	report_errors__unseen(out, model);
}
