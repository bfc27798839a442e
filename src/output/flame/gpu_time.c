// SPDX-License-Identifier: BSD-2-Clause
// GPU times in flame graphs, see parts.h.
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "output/flame/parts.h"
#include "output/gpu_copy_text.h"
#include "output/gpu_failure_text.h"
#include "output/report/line.h"
#include "symbol/kernel_label.h"

static const struct gpu_process_times *times_of(const struct model *model,
						const struct process *process)
{
	return model->gpu_times ?
		       gpu_times__find(model->gpu_times, process->pid, process->start_ns) :
		       NULL;
}

uint64_t flame_gpu_time__of(const struct model *model, const struct process *process)
{
	const struct gpu_process_times *times = times_of(model, process);

	return times ? gpu_process_times__all_ns(times) : 0;
}

static char *kernel_text(const struct gpu_process_times *times, uint64_t number, bool full_names)
{
	const struct gpu_kernel_time *kernel = TABLE_FIND(times->kernels, number, &number);
	uint64_t spent_ns = 0;
	char *name = kernel && kernel->name ?
			     kernel_label__text(&spent_ns, kernel->name, full_names) :
			     NULL;
	char *text = flame_label__text(name ? name : "[kernel not known]");

	free(name);
	return text;
}

char *flame_label__gpu_work(const struct gpu_process_times *times, const struct gpu_site_key *key,
			    bool full_names)
{
	char text[64];

	switch (key->kind) {
	case GPU_WORK_KERNEL: return kernel_text(times, key->name, full_names);
	case GPU_WORK_COPY:
		snprintf(text, sizeof(text), "copy %s", gpu_copy_text__kind(key->copy));
		return flame_label__text(text);
	case GPU_WORK_SET: return flame_label__text("set");
	default: return flame_label__text("graph");
	}
}

void flame_gpu_time__print_notes(FILE *out, const struct model *model)
{
	const struct gpu_times *times = model->gpu_times;
	uint64_t lost = times ? times->unread_work + times->lost_work : 0;

	for (size_t i = 0; times && i < model->process_count; i++) {
		const struct gpu_process_times *own = times_of(model, &model->processes[i]);

		if (own && !own->failed && !own->dropped)
			continue;
		fprintf(out, "process %d: ", model->processes[i].pid);
		if (!gpu_failure_text__print(out, own) && own)
			fprintf(out, "CUPTI lost %s records, which are missing",
				quantity__count(own->dropped).text);
		fputc('\n', out);
	}
	if (lost)
		fprintf(out, "GPU times lack %s piece%s of work, for which gpuprobe had no room\n",
			quantity__count(lost).text, report_line__plural(lost));
}
