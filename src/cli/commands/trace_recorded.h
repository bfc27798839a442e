/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpuprobe trace -i FILE`: the lines of a trace come from a recording. */
#ifndef CLI_TRACE_RECORDED_H
#define CLI_TRACE_RECORDED_H

#include "base/error.h"
#include "cli/options/trace_options.h"

/* As trace__run. It needs no privileges and gives them up. */
int trace_recorded__run(const struct trace_options *options, int *status, struct error *err);

#endif
