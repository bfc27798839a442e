// SPDX-License-Identifier: BSD-2-Clause
// Activity of processes on each device in the metrics, see series.h.
#include "output/metrics/series.h"

static void write_live(struct metrics_page *page, const struct process *p)
{
	for (size_t k = 0; k < p->device_count; k++) {
		/* Memory allocated before gpuprobe attached is unknown: 0 would be wrong. */
		if (p->since_attach && !p->devices[k].allocations)
			continue;
		metrics_page__sample_on(page, p, p->devices[k].device);
		exposition__number(&page->writer, p->devices[k].live_bytes);
	}
}

static void write_count(struct metrics_page *page, const struct process *p)
{
	for (size_t k = 0; k < p->device_count; k++) {
		metrics_page__sample_on(page, p, p->devices[k].device);
		exposition__number(&page->writer, metrics_page__value(page, &p->devices[k]));
	}
}

#define COUNT(member) .process = write_count, METRIC_VALUE(struct device_totals, member)

static const struct metric memory_metrics[] = {
	{{"gpuprobe_device_memory_live_bytes", METRIC_GAUGE,
	  "Live bytes of memory that is on the device, of all kinds together."},
	 .process = write_live},
};
static const struct metric launch_metrics[] = {
	{{"gpuprobe_device_launches", METRIC_COUNTER,
	  "Kernel launches on the device, those into graphs left out."},
	 COUNT(launches)},
};
static const struct metric copy_metrics[] = {
	{{"gpuprobe_device_copies", METRIC_COUNTER, "Successful copies and sets on the device."},
	 COUNT(copies)},
	{{"gpuprobe_device_copy_bytes", METRIC_COUNTER, "Bytes of these copies and sets."},
	 COUNT(copy_bytes)},
};

void device_series__write(struct metrics_page *page)
{
	if (page->model->sections & SECTION_MEMORY)
		metrics_page__write(page, memory_metrics, METRIC_COUNT(memory_metrics));
	if (page->model->sections & SECTION_LAUNCH)
		metrics_page__write(page, launch_metrics, METRIC_COUNT(launch_metrics));
	if (page->model->sections & SECTION_COPY)
		metrics_page__write(page, copy_metrics, METRIC_COUNT(copy_metrics));
}
