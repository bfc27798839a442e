// SPDX-License-Identifier: BSD-2-Clause
// The report for people, see report_text.h; its memory section is in report_memory.c.
#include "output/report_text.h"

#include "output/report_copies.h"
#include "output/report_errors.h"
#include "output/report_launches.h"
#include "output/report_line.h"
#include "output/report_memory.h"
#include "output/report_objects.h"
#include "output/report_process.h"
#include "output/report_sites.h"
#include "output/report_totals.h"
#include "output/report_waits.h"

#define RULE "========================\n"

static void print_date(FILE *out, const struct model *model)
{
	char text[32];
	struct tm tm;

	if (!localtime_r(&model->wall.tv_sec, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		fprintf(out, "%lld\n", (long long)model->wall.tv_sec);
	else
		fprintf(out, "%s\n", text);
}

static void print_no_process(FILE *out, const struct model *model)
{
	fputc('\n', out);
	if (model->process_count)
		fputs("no CUDA process is running\n", out);
	else if (model->final)
		fputs("no CUDA process was seen\n", out);
	else if (!model->libraries)
		fputs("no CUDA library found yet, waiting for a process that brings one\n", out);
	else
		fputs("no CUDA process seen yet\n", out);
}

void report_text__print(FILE *out, const struct model *model, const struct report_options *options)
{
	struct report_totals totals;

	report_totals__sum(model, &totals);
	fputs(RULE, out);
	print_date(out, model);
	if (!totals.processes) {
		print_no_process(out, model);
	} else {
		if (model->sections & SECTION_MEMORY) {
			fputc('\n', out);
			report_memory__print(out, model, &totals, options);
		}
		if (model->sections & SECTION_LAUNCH)
			report_launches__print(out, model, &totals, options);
		if (model->sections & SECTION_COPY) {
			report_copies__print(out, model);
			report_waits__print(out, model);
		}
		report_objects__print(out, model);
		report_errors__print(out, model, options);
		report_sites__print(out, model, options);
		report_process__print(out, model);
	}
	report_line__losses(out, model);
	fputs(RULE, out);
}
