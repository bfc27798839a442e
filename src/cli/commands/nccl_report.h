/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `gpuprobe nccl` prints: reports of all communicators, and findings as soon as they are
 * found. At the end, findings that are over by then are repeated.
 */
#ifndef CLI_NCCL_REPORT_H
#define CLI_NCCL_REPORT_H

#include <event2/event.h>

#include "base/log.h"
#include "cli/options/nccl_options.h"
#include "cli/session/nccl_ras.h"
#include "cli/session/nccl_watch.h"
#include "output/metrics/exposition.h"

struct nccl_report;

struct nccl_report_scene {
	const struct nccl_options *options;
	const struct log *log;
	struct nccl_watch *watch;
	struct nccl_ras *ras; /* NULL: NCCL is not asked */
	uint64_t begin_ns;
	/* Calls that were lost so far. */
	uint64_t (*lost)(void *arg);
	/* The output's reader has gone. */
	void (*closed)(void *arg);
	void *arg;
};

/* Opens the output. Everything in `scene` must outlive it. Returns 0 or a negative errno. */
int nccl_report__new(const struct nccl_report_scene *scene, struct event_base *loop,
		     struct nccl_report **out, struct error *err);
void nccl_report__free(struct nccl_report *report); /* NULL ok */

/* Judges, and prints what is found for the first time, or a report if one is due. */
void nccl_report__judge(struct nccl_report *report, uint64_t now_ns);

/* Writes the page of metrics, as of the latest judgement. A render function of serve/http.h. */
int nccl_report__metrics(void *report, enum exposition form, bool anew, uint64_t *reading,
			 FILE *out);

/* Prints the last report. Returns 0, also if the reader has gone, or a negative errno. */
int nccl_report__finish(struct nccl_report *report, uint64_t now_ns, struct error *err);

#endif
