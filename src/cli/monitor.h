/* SPDX-License-Identifier: BSD-2-Clause */
/* The monitor: `gpuprobe [OPTIONS] [-- COMMAND]`. */
#ifndef CLI_MONITOR_H
#define CLI_MONITOR_H

#include "base/error.h"
#include "base/log.h"
#include "cli/options.h"

/*
 * Watches until it is told to stop. Returns what gpuprobe is to exit with (0,
 * or COMMAND's status), or a negative errno with the reason in `err`; in any
 * case nothing is left attached.
 */
int monitor__run(const struct options *options, const struct log *log, struct error *err);

#endif
