/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --max-overhead: connects the governor (govern/governor.h) with the session's probes and the rates
 * that BPF counts. A timer of the event loop drives it.
 */
#ifndef CLI_OVERHEAD_H
#define CLI_OVERHEAD_H

#include "base/error.h"
#include "base/log.h"
#include "cli/session/session.h"
#include "govern/estimate.h"
#include "govern/governor.h"
#include "model/model.h"

struct gpuprobe_bpf;
struct overhead;

struct overhead_options {
	double max;	       /* by how much a thread may be slowed down, 0.05: 5 % */
	double of_tensors;     /* the part of it for stacks of tensors, which BPF keeps to */
	bool by_default;       /* the budget is a default */
	unsigned int sampling; /* as for governor__new */
};

/*
 * Copies `options` and `costs`; the others must outlive it. The skeleton must have been loaded with
 * object_options.rates. Returns 0 or a negative errno.
 */
int overhead__new(const struct overhead_options *options, const struct call_costs *costs,
		  struct session *session, const struct gpuprobe_bpf *skeleton,
		  const struct log *log, struct overhead **out, struct error *err);
void overhead__free(struct overhead *overhead);

/* Starts to act from the session's loop. Called once the probes are attached. */
void overhead__start(struct overhead *overhead);

/* The estimates for the collector, valid as long as `overhead` is. */
struct estimate_source overhead__estimates(struct overhead *overhead);

/* Fills in the model's part on sampling. */
void overhead__report(const struct overhead *overhead, struct sampling *sampling);

#endif
