/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a probed call costs on this machine, measured at start: a second BPF
 * object, as the one to be used but with maps of its own, is put on functions of
 * gpuprobe's own that look like CUDA's, which gpuprobe calls with and without it.
 */
#ifndef GOVERN_CALIBRATION_H
#define GOVERN_CALIBRATION_H

#include "base/error.h"
#include "govern/governor.h"
#include "probe/features.h"
#include "probe/object.h"

/*
 * Fills `costs`, of calls under the programs that `options` load: launches, copies from
 * pageable memory, waits for a stream; and for what is always watched the mean of an
 * allocation and its free; `with_cold` what they cost where the caches have other things, else costs->cold is 1. Takes
 * some 0.3 s, and 0.1 s more with that. Returns 0, -EOPNOTSUPP with tracefs links, or
 * another negative errno.
 */
int calibration__measure(const struct object_options *options, const struct features *features, bool with_cold,
			 struct call_costs *costs, struct error *err);

#endif
