/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures at startup what a probed call costs on this machine. A second BPF object, like the real
 * one but with its own maps, is attached to functions of gpuprobe that look like CUDA's; gpuprobe
 * calls these with and without it.
 */
#ifndef GOVERN_CALIBRATION_H
#define GOVERN_CALIBRATION_H

#include "base/error.h"
#include "govern/governor.h"
#include "probe/features.h"
#include "probe/object.h"

/*
 * Fills `costs` for calls under the programs that `options` load: launches, copies from pageable
 * memory, waits for a stream, and for the always-watched operations the mean of an allocation and
 * its free. `with_cold`: also measures the cost with caches filled by other data; otherwise
 * costs->cold is 1. Takes about 0.3 s, and 0.1 s more with `with_cold`. Returns 0, -EOPNOTSUPP with
 * tracefs links, or another negative errno.
 */
int calibration__measure(const struct object_options *options, const struct features *features,
			 bool with_cold, struct call_costs *costs, struct error *err);

#endif
