// SPDX-License-Identifier: BSD-2-Clause
// The kernels and copies with the most GPU time, see gpu_work.h.
#include "output/finding/gpu_work.h"

#include <stdlib.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "base/text_stream.h"
#include "model/gpu_times.h"
#include "model/user_line.h"
#include "output/frame_text.h"
#include "output/gpu_failure_text.h"
#include "output/report/parts.h"
#include "output/wrap.h"
#include "symbol/kernel_label.h"

#define SHOWN 5

static void print_share(FILE *out, uint64_t ns, uint64_t all_ns)
{
	fprintf(out, "%s ", quantity__share(all_ns ? (double)ns / (double)all_ns : 0).text);
}

/* "gemm", as a label unless whole names are asked for. */
static void print_name(FILE *out, const struct stat_report *report,
		       const struct gpu_kernel_time *kernel, uint64_t *spent_ns)
{
	char *text = kernel->name ? kernel_label__text(spent_ns, kernel->name,
						       report->options->full_names) :
				    NULL;

	escape__text(out, text ? text : "a kernel without a name");
	free(text);
}

/* " (train.py:41)": the user's line that launches it most. */
static void print_line(FILE *out, const struct stack *stack)
{
	const struct stack_frame *frame = user_line__find(stack);

	if (!frame || !frame->file || !frame->line)
		return;
	fputs(" (", out);
	escape__text(out, frame_text__base_name(frame->file));
	fprintf(out, ":%u)", frame->line);
}

static void print_work(FILE *out, const struct stat_report *report,
		       const struct gpu_process_times *times)
{
	uint64_t all_ns = gpu_process_times__all_ns(times), shown_ns = 0, spent_ns = 0;
	size_t count, kernels = 0;
	const struct gpu_kernel_time **sorted = gpu_times__sort(times, &count);

	fprintf(out, "GPU time of %s: ", quantity__time((double)all_ns).text);
	for (; kernels < count && kernels < SHOWN; kernels++) {
		fputs(kernels ? ", " : "", out);
		print_share(out, sorted[kernels]->sum.ns, all_ns);
		print_name(out, report, sorted[kernels], &spent_ns);
		print_line(out, gpu_times__main_stack(report->gpu_times, times, sorted[kernels]));
		shown_ns += sorted[kernels]->sum.ns;
	}
	if (times->all_kernels.ns > shown_ns) {
		fputs(", ", out);
		print_share(out, times->all_kernels.ns - shown_ns, all_ns);
		fputs("other kernels", out);
	}
	if (all_ns > times->all_kernels.ns) {
		fputs(kernels ? ", " : "", out);
		print_share(out, all_ns - times->all_kernels.ns, all_ns);
		fputs(times->graphs.ns ? "graphs, copies and sets" : "copies and sets", out);
	}
	free(sorted);
}

void gpu_work_text__print(FILE *out, const struct stat_report *report,
			  const struct process *process)
{
	const struct gpu_process_times *times;
	char *text = NULL;
	size_t length = 0;
	FILE *line;

	if (!report->gpu_times)
		return;
	times = gpu_times__find(report->gpu_times, process->pid, process->start_ns);
	line = text_stream__open(&text, &length);
	if (!line)
		return;
	if (!gpu_failure_text__print(line, times))
		print_work(line, report, times);
	if (!fclose(line))
		wrap__print(out, text, 0, 2, wrap__width(stat__width(report)));
	free(text);
}
