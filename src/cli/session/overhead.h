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

/*
 * `max`: by how much a thread may be slower, 0.05: 5 %. `sampling` is as with governor__new. All that is referred to must outlive it;
 * the skeleton was loaded with object_options.rates. Returns 0 or a negative errno.
 */
int overhead__new(double max, unsigned int sampling, const struct call_costs *costs, struct session *session,
		  const struct gpuprobe_bpf *skeleton, const struct log *log, struct overhead **out, struct error *err);
void overhead__free(struct overhead *overhead);

/* The probes are in: it begins to act, from the session's loop. */
void overhead__start(struct overhead *overhead);

/* What the collector asks, valid as long as `overhead` is. */
struct estimate_source overhead__estimates(struct overhead *overhead);

/* What the model says of it. */
void overhead__tell(const struct overhead *overhead, struct sampling *sampling);

#endif
