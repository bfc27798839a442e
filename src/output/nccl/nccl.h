/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Communicators of NCCL and what is wrong with them: as text for people, a line for each
 * communicator and some for each finding, as JSON, and as metrics.
 */
#ifndef OUTPUT_NCCL_NCCL_H
#define OUTPUT_NCCL_NCCL_H

#include <stdio.h>

#include "base/json.h"
#include "nccl/judge.h"
#include "output/metrics/exposition.h"

/*
 * `now_ns` ends the period of the rates (nccl_jobs__begin_period). Errors are those of the
 * stream.
 */
void nccl_output__text(FILE *out, const struct nccl_jobs *jobs,
		       const struct nccl_findings *findings, uint64_t now_ns);
/* One finding. */
void nccl_output__finding(FILE *out, const struct nccl_finding *finding);
/* The same as an object. */
void nccl_output__finding_json(struct json *json, const struct nccl_finding *finding);

/* Writes the members "communicators", "findings" and "lost" into an open object. */
void nccl_output__json(struct json *json, const struct nccl_jobs *jobs,
		       const struct nccl_findings *findings, uint64_t now_ns);

/*
 * Writes the series of communicators and ranks that have not ended, of at most 1,024 each.
 * `lost_calls` did not reach the jobs.
 */
void nccl_output__write_series(struct exposition_writer *writer, const struct nccl_jobs *jobs,
			       uint64_t lost_calls);

/*
 * The same as a page of its own, with a series for each finding.
 */
void nccl_output__metrics(FILE *out, const struct nccl_jobs *jobs,
			  const struct nccl_findings *findings, uint64_t lost_calls,
			  enum exposition form);

#endif
