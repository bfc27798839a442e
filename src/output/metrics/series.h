/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metrics of the page. Each writer is in a file of its own, NAME_series.c,
 * with a table of the metrics that it writes (struct metric, page.h).
 */
#ifndef OUTPUT_METRICS_SERIES_H
#define OUTPUT_METRICS_SERIES_H

#include "output/metrics/kernel_series.h"
#include "output/metrics/page.h"

void process_series__write(struct metrics_page *page);
void memory_series__write(struct metrics_page *page);
void virtual_series__write(struct metrics_page *page);
/* `series` keeps what pages have told of kernels. 0 or -ENOMEM. */
int launch_series__write(struct metrics_page *page, struct kernel_series *series);
void graph_series__write(struct metrics_page *page);
void copy_series__write(struct metrics_page *page);
void wait_series__write(struct metrics_page *page);
void step_series__write(struct metrics_page *page);
/* Calls in progress. */
void open_series__write(struct metrics_page *page);
void object_series__write(struct metrics_page *page);
void device_series__write(struct metrics_page *page);
/* What probes cost and which families are sampled; nothing where there is no budget. */
void sampling_series__write(struct metrics_page *page);
/* Who waits for whom, of processes with a profile; nothing unless the options have verdicts. */
void verdict_series__write(struct metrics_page *page);
/* 0 or -ENOMEM. */
int error_series__write(struct metrics_page *page);

#endif
