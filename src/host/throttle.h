/* SPDX-License-Identifier: BSD-2-Clause */
/* How often a control group's limit of CPU time has stopped a process: cpu.stat of its group and those above it. */
#ifndef HOST_THROTTLE_H
#define HOST_THROTTLE_H

#include <sys/types.h>

#include "model/host.h"

/* The text of a cpu.stat of either version of control groups. False where it tells of no limit. */
bool throttle__parse(const char *text, struct host_throttle *out);

/* Of the process's groups the one that was throttled the longest; .known is false where none has a limit. */
void throttle__read(pid_t pid, struct host_throttle *out);

/* What has come since `base`. */
void throttle__since(struct host_throttle *throttle, const struct host_throttle *base);

#endif
