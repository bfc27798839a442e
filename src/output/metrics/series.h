/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metrics of the page. Each writer has its file, NAME_series.c, with a table of the metrics
 * that it writes (struct metric, page.h).
 */
#ifndef OUTPUT_METRICS_SERIES_H
#define OUTPUT_METRICS_SERIES_H

#include "output/metrics/kernel_series.h"
#include "output/metrics/page.h"

void process_series__write(struct metrics_page *page);
void memory_series__write(struct metrics_page *page);
void virtual_series__write(struct metrics_page *page);
/* `series` keeps the values that pages reported for kernels. Returns 0 or -ENOMEM. */
int launch_series__write(struct metrics_page *page, struct kernel_series *series);
void graph_series__write(struct metrics_page *page);
void copy_series__write(struct metrics_page *page);
void wait_series__write(struct metrics_page *page);
void step_series__write(struct metrics_page *page);
/* Calls in progress. */
void open_series__write(struct metrics_page *page);
void object_series__write(struct metrics_page *page);
void device_series__write(struct metrics_page *page);
/* The cost of probes and which families are sampled. Writes nothing if there is no budget. */
void sampling_series__write(struct metrics_page *page);
/*
 * The verdicts on processes with a profile. Writes nothing unless the options have a history for
 * them.
 */
void verdict_series__write(struct metrics_page *page);
/* What jobs and users held of the GPUs since gpuprobe started, whatever --metrics-by says. */
void account_series__write(struct metrics_page *page);
/* What became of data for OTLP. Writes nothing unless the options have counts of it. */
void otlp_series__write(struct metrics_page *page);
/* Errors of GPUs. Writes nothing if they are not watched. */
void xid_series__write(struct metrics_page *page);
/* Communicators of NCCL and their ranks, whatever --metrics-by says. Writes nothing without any. */
void nccl_series__write(struct metrics_page *page);
/* Returns 0 or -ENOMEM. */
int error_series__write(struct metrics_page *page);

#endif
