// SPDX-License-Identifier: BSD-2-Clause
// Communicators of NCCL in the metrics, as those of gpuprobe nccl, see series.h.
#include "output/metrics/series.h"

#include "output/nccl/nccl.h"

void nccl_series__write(struct metrics_page *page)
{
	if (page->model->nccl_jobs)
		nccl_output__write_series(&page->writer, page->model->nccl_jobs,
					  page->model->nccl_lost);
}
