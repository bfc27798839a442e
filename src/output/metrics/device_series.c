// SPDX-License-Identifier: BSD-2-Clause
// What processes did on each device in the metrics, see series.h.
#include "output/metrics/series.h"

#include <stddef.h>

struct device_family {
	struct metric_family family;
	size_t offset;	      /* of the number in struct device_totals */
	unsigned int section; /* in which it is counted */
};

static const struct device_family families[] = {
	{{"gpuprobe_device_memory_live_bytes", METRIC_GAUGE,
	  "Live bytes of memory that is on the device, of all kinds together."},
	 offsetof(struct device_totals, live_bytes),
	 SECTION_MEMORY},
	{{"gpuprobe_device_launches", METRIC_COUNTER,
	  "Kernel launches on the device, those into graphs left out."},
	 offsetof(struct device_totals, launches),
	 SECTION_LAUNCH},
	{{"gpuprobe_device_copies", METRIC_COUNTER, "Successful copies and sets on the device."},
	 offsetof(struct device_totals, copies),
	 SECTION_COPY},
	{{"gpuprobe_device_copy_bytes", METRIC_COUNTER, "Bytes of these copies and sets."},
	 offsetof(struct device_totals, copy_bytes),
	 SECTION_COPY},
};

static void write_process(struct metrics_page *page, const struct device_family *family,
			  const struct process *p)
{
	for (size_t k = 0; k < p->device_count; k++) {
		const struct device_totals *totals = &p->devices[k];

		/* What it had allocated before gpuprobe was there is not known: a 0 would be false. */
		if (family->section == SECTION_MEMORY && p->since_attach && !totals->allocations)
			continue;
		metrics_page__sample_on(page, p, totals->device);
		exposition__u64(&page->writer, *(const uint64_t *)((const char *)totals + family->offset));
	}
}

void device_series__write(struct metrics_page *page)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		if (!(page->model->sections & families[i].section))
			continue;
		exposition__family(&page->writer, &families[i].family);
		for (size_t k = 0; k < page->process_count; k++)
			write_process(page, &families[i], page->processes[k]);
	}
}
