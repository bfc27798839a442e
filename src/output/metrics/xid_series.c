// SPDX-License-Identifier: BSD-2-Clause
// Errors of GPUs (Xids) in the metrics, see series.h.
#include <inttypes.h>
#include <stdio.h>

#include "model/xids.h"
#include "output/metrics/series.h"

#define OTHER "other"

static void write_one(struct metrics_page *page, const char *address, const char *number,
		      uint64_t count)
{
	exposition__sample(&page->writer);
	exposition__label(&page->writer, "pci", address);
	exposition__label(&page->writer, "xid", number);
	exposition__number(&page->writer, count);
}

static void write_counts(struct metrics_page *page)
{
	const struct xids *xids = page->model->xids;

	for (size_t i = 0; i < xids->count_count; i++) {
		char address[PCI_ADDRESS_SIZE], number[16];

		pci_address__text(&xids->counts[i].address, address);
		snprintf(number, sizeof(number), "%" PRIu32, xids->counts[i].number);
		write_one(page, address, number, xids->counts[i].count);
	}
	if (xids->other)
		write_one(page, OTHER, OTHER, xids->other);
}

static void write_lost(struct metrics_page *page)
{
	exposition__sample(&page->writer);
	exposition__number(&page->writer, page->model->xids->lost);
}

static const struct metric metrics[] = {
	{{"gpuprobe_xid", METRIC_COUNTER,
	  "Errors of GPUs (Xids) that the driver has reported since gpuprobe started."},
	 .page = write_counts},
	{{"gpuprobe_xid_lost", METRIC_COUNTER,
	  "Reports of the driver, or lines of the kernel's log, that gpuprobe could not read."},
	 .page = write_lost},
};

void xid_series__write(struct metrics_page *page)
{
	if (page->model->xids)
		metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
