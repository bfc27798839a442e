// SPDX-License-Identifier: BSD-2-Clause
// Launches in the metrics, by kernel as kernel_series.h chooses, see series.h.
#include "output/metrics/series.h"

#include <errno.h>

static const struct metric_family kernel_launches = {
	"gpuprobe_kernel_launches",
	METRIC_COUNTER,
	"Kernel launch calls by kernel; kernels without a name or beyond --metrics-kernels are"
	" counted as other.",
};

static void kernel_sample(struct metrics_page *page, const struct process *p, const char *label,
			  uint64_t launches)
{
	struct exposition_writer *w = &page->writer;

	metrics_page__sample(w, p);
	exposition__label(
		w, "kernel",
		metrics_page__one_of_many(page, p, MANY_KERNELS, label, KERNEL_SERIES_OTHER));
	exposition__number(w, launches);
}

static int write_kernels(struct metrics_page *page, struct kernel_series *series)
{
	int ret = 0;
	size_t i;

	if (!metrics_page__begin_family(page, &kernel_launches, SUM_ADDED))
		return -ENOMEM;
	for (i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];
		const struct process_kernels *kernels = kernel_series__update(series, p);
		const struct kernel_count *k;

		if (!kernels) {
			ret = -ENOMEM;
			break;
		}
		metrics_page__turn(page, p);
		for (k = kernels->kernels; k; k = k->hh.next)
			kernel_sample(page, p, k->label, k->value);
		if (kernels->other)
			kernel_sample(page, p, KERNEL_SERIES_OTHER, kernels->other);
	}
	metrics_page__end_family(page);
	if (!ret)
		kernel_series__sweep(series);
	return ret;
}

int launch_series__write(struct metrics_page *page, struct kernel_series *series)
{
	int err = write_kernels(page, series);

	if (!err)
		graph_series__write(page);
	return err;
}
