/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows what the threads that submit work do besides, for `diagnose`: whom to sample is found in the model, again and
 * again. See probe/host_watch.h.
 */
#ifndef CLI_HOST_SIDE_H
#define CLI_HOST_SIDE_H

#include "base/log.h"
#include "model/model.h"

struct gpuprobe_bpf;
struct host_side;

/* NULL where it cannot be followed, which is warned of. `log` must outlive it, and `skeleton`, which has the programs loaded. */
struct host_side *host_side__new(struct gpuprobe_bpf *skeleton, const struct log *log);

/* NULL is fine. */
void host_side__free(struct host_side *side);

/* The model has been read: threads that have begun to submit are sampled from now on, those that have ended no more. NULL is fine. */
void host_side__follow(struct host_side *side, struct model *model);

#endif
