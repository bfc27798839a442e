// SPDX-License-Identifier: BSD-2-Clause
// What processes belong to; see workloads.h.
#include "collect/workloads.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "target/cgroup.h"

/* The kubelet makes a pod's directory before its containers run; its links may come later. */
#define RETRY_NS (30 * NS_PER_S)

_Static_assert(sizeof(((struct process *)0)->container) == CONTAINER_ID_LENGTH + 1, "containers");
_Static_assert(sizeof(((struct process *)0)->pod) == POD_UID_LENGTH + 1, "pods");

/* Replaces the process's workload if there is anything to say. */
static void keep(struct process *process, const struct workload *workload)
{
	if (workload__is_empty(workload))
		return;
	if (!process->workload)
		process->workload = malloc(sizeof(*process->workload));
	if (process->workload)
		*process->workload = *workload;
}

void workloads__learn(const struct pod_logs *logs, struct image_names *images,
		      struct process *process, const char *cgroups)
{
	struct workload workload = {0};
	struct cgroup_names names;

	cgroup__parse(cgroups, &names);
	process->cgroup_known = true;
	memcpy(process->container, names.container, sizeof(process->container));
	memcpy(process->pod, names.pod, sizeof(process->pod));
	workload__parse(cgroups, &names, &workload);
	workload__find_job(process->pid, &workload);
	pod_names__find(logs, &names, &workload);
	if (names.container[0])
		snprintf(workload.image, sizeof(workload.image), "%s",
			 image_names__find(images, names.container));
	keep(process, &workload);
}

static bool lacks_names(const struct process *process)
{
	const struct workload *workload = process->workload;

	return process->pod[0] && !process->ended &&
	       (!workload || !workload->pod[0] || !workload->container[0]);
}

static void look_again(const struct pod_logs *logs, struct process *process)
{
	struct workload workload = {0};
	struct cgroup_names names;

	memcpy(names.container, process->container, sizeof(names.container));
	memcpy(names.pod, process->pod, sizeof(names.pod));
	if (process->workload)
		workload = *process->workload;
	pod_names__find(logs, &names, &workload);
	keep(process, &workload);
}

void workloads__retry(const struct pod_logs *logs, struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		if (lacks_names(process) && model->now_ns < process->start_ns + RETRY_NS)
			look_again(logs, process);
	}
}
