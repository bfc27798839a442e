/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --max-overhead: the governor (govern/governor.h) with what it acts on, the session's probes
 * and the rates that BPF counts, driven by a timer of the event loop.
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
	double max;	       /* by how much a thread may be slower, 0.05: 5 % */
	bool by_default;       /* nobody has asked for it */
	unsigned int sampling; /* as with governor__new */
};

/* `options` and `costs` are copied, the others must outlive it; the skeleton was loaded with object_options.rates. 0 or a negative errno. */
int overhead__new(const struct overhead_options *options, const struct call_costs *costs, struct session *session,
		  const struct gpuprobe_bpf *skeleton, const struct log *log, struct overhead **out, struct error *err);
void overhead__free(struct overhead *overhead);

/* The probes are in: it begins to act, from the session's loop. */
void overhead__start(struct overhead *overhead);

/* What the collector asks, valid as long as `overhead` is. */
struct estimate_source overhead__estimates(struct overhead *overhead);

/* What the model says of it. */
void overhead__report(const struct overhead *overhead, struct sampling *sampling);

#endif
