/* SPDX-License-Identifier: BSD-2-Clause */
/* Says what --comm, --uid, --cgroup, --container and --pod have left out. */
#ifndef CLI_LEFT_OUT_H
#define CLI_LEFT_OUT_H

#include "base/log.h"
#include "target/process_filter.h"

/*
 * Warns if the filter has left out every process, since an empty output must not look as if nothing
 * ran, and of the processes about which it could not be sure.
 */
void left_out__report(const struct process_filter *filter, const struct filtered_processes *counts,
		      const struct log *log);

#endif
