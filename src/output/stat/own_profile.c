// SPDX-License-Identifier: BSD-2-Clause
// Traces of the programs' own profilers in the text of `gpuprobe stat`; see own_profile.h.
#include "output/stat/own_profile.h"

#include "base/escape.h"
#include "model/host.h"
#include "output/report/line.h"
#include "output/report/parts.h"
#include "output/stat/tables.h"

void stat_own_profile__print(FILE *out, const struct stat_report *report,
			     const struct gpu_process_times *times)
{
	const struct gpu_own_profile *own = &times->own;
	uint64_t uncalled;

	if (!gpu_process_times__work(times, &uncalled) && !*own->note)
		fputs(REPORT_INDENT "nothing ran on a GPU while the profiler recorded\n", out);
	fprintf(out, REPORT_INDENT "from the program's own profiler (Kineto), asked for %s; ",
		stat_cell__time(report, own->asked_ns).text);
	fprintf(out, "its cost is in all times: CUPTI held threads up for %s, by its own account; ",
		stat_cell__time(report, own->overhead_ns).text);
	fprintf(out, "the trace had %s\n", stat_cell__bytes(report, own->bytes).text);
	if (!*own->note)
		return;
	fputs(REPORT_INDENT "about the trace: ", out);
	escape__text(out, own->note);
	fputc('\n', out);
}

void stat_own_profile__print_missing(FILE *out, const struct gpu_process_times *times)
{
	fputs("no GPU times: ", out);
	escape__text(out, times->own.note);
}

static bool is_shown(const struct model *model, const struct gpu_process_times *times)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].pid == times->key.pid &&
		    host__is_same_start(times->key.start_ns, model->processes[i].start_ns))
			return true;
	return false;
}

void stat_own_profile__print_others(FILE *out, const struct stat_report *report)
{
	const struct gpu_process_times *times, *next;
	uint64_t uncalled, count;

	if (!report->gpu_times || !report->gpu_times->own_profilers)
		return;
	HASH_ITER (hh, report->gpu_times->processes, times, next) {
		if (is_shown(report->model, times))
			continue;
		fprintf(out, "process %d: ", (int)times->key.pid);
		if (!times->own.complete) {
			stat_own_profile__print_missing(out, times);
			fputc('\n', out);
			continue;
		}
		count = gpu_process_times__work(times, &uncalled);
		fprintf(out, "its profiler saw %s piece%s of work on a GPU; ",
			quantity__count(count).text, report_line__plural(count));
		fprintf(out, "no CUDA call was seen since attach, so there is no table\n");
	}
}
