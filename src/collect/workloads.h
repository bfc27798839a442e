/* SPDX-License-Identifier: BSD-2-Clause */
/* Containers, images, pods, units and jobs of the model's processes, and their names. */
#ifndef COLLECT_WORKLOADS_H
#define COLLECT_WORKLOADS_H

#include "model/model.h"
#include "target/image_name.h"
#include "target/pod_names.h"

/*
 * Sets container, pod and workload of a process. `cgroups`: its /proc/PID/cgroup. The workload
 * stays NULL if nothing of it is known, or without memory.
 */
void workloads__learn(const struct pod_logs *logs, struct image_names *images,
		      struct process *process, const char *cgroups);

/*
 * Looks again for the names of pods that were not there yet, for some seconds after the start of
 * their processes.
 */
void workloads__retry(const struct pod_logs *logs, struct model *model);

#endif
