/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state that BPF programs keep and userspace reads: keys and values of the maps, ring buffer
 * records, and the configuration that userspace sets before load. Times are CLOCK_BOOTTIME
 * nanoseconds.
 */
#ifndef GPUPROBE_STATE_H
#define GPUPROBE_STATE_H

#include "gpuprobe/function.h"
#include "gpuprobe/losses.h"
#include "gpuprobe/stack.h"
#include "gpuprobe/state/calls.h"
#include "gpuprobe/state/config.h"
#include "gpuprobe/state/contexts.h"
#include "gpuprobe/state/kernels.h"
#include "gpuprobe/state/memory.h"
#include "gpuprobe/state/process.h"
#include "gpuprobe/state/records.h"
#include "gpuprobe/state/streams.h"
#include "gpuprobe/state/thread.h"

#endif
