/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of a live model that judges the ranks of NCCL's communicators (nccl_watch.h). Nothing is
 * loaded or probed before a watched process maps NCCL, and calls of other processes are no events.
 * Without it, or if it cannot be loaded, the rest of the model works.
 */
#ifndef CLI_LIVE_NCCL_H
#define CLI_LIVE_NCCL_H

#include "base/error.h"
#include "base/log.h"
#include "cli/options/targets.h"
#include "cli/session/session.h"
#include "model/model.h"
#include "probe/features.h"

struct live_nccl;

struct live_nccl_options {
	const struct targets *targets;
	const struct process_filter *filter; /* the targets', opened */
	struct features features;
	enum link_kind links;
	uint64_t hang_ns; /* as in struct nccl_patience */
	bool keeps_past;  /* findings stay when they are over */
	bool rarely;	  /* what goes on gets new texts only when it has grown by a tenth */
};

/* What the options point to and `log` must outlive it. NULL without memory. */
struct live_nccl *live_nccl__new(const struct live_nccl_options *options, const struct log *log);

/* Detaches the probes. Before the loop of the session ends. NULL ok. */
void live_nccl__free(struct live_nccl *nccl);

/*
 * A process of the session's maps NCCL: its calls are to be traced. `scan` and `since_ns` as
 * attacher__add_process.
 */
void live_nccl__see_process(struct live_nccl *nccl, struct session *session, pid_t pid,
			    enum process_scan scan, uint64_t since_ns);

/* Attaches for the processes that were seen so far. Later ones are attached when they are seen. */
void live_nccl__attach(struct live_nccl *nccl);

/* Call it every second. A file that nobody maps for `unused_ns` loses its probes. */
void live_nccl__second(struct live_nccl *nccl, uint64_t unused_ns);

/*
 * Puts what is wrong by now into the model; call it after each reading. In the last one
 * (model->final) it detaches the probes and takes in the rest.
 */
void live_nccl__refresh(struct live_nccl *nccl, struct model *model);

#endif
