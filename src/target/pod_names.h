/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of Kubernetes's pods and containers, by the names of the directories and links in which the
 * kubelet keeps their logs: NAMESPACE_POD_UID/CONTAINER and POD_NAMESPACE_CONTAINER-ID.log. Nothing
 * in them is read, and neither the API server nor a token is needed. gpuprobe in a container with
 * the host's pids finds them below the root of process 1.
 */
#ifndef TARGET_POD_NAMES_H
#define TARGET_POD_NAMES_H

#include <dirent.h>

#include "target/cgroup.h"
#include "target/workload.h"

#define POD_LOGS "/var/log/pods"
#define CONTAINER_LOGS "/var/log/containers"

/* Both absolute; NULL: the kubelet's default, POD_LOGS and CONTAINER_LOGS. */
struct pod_logs {
	const char *pods, *containers;
};

/*
 * Opens the host's directory of that absolute path, or else gpuprobe's own one; NULL with errno.
 */
DIR *pod_names__open(const char *path);

/*
 * Fills in namespace, pod and container, as far as they are known. A pod's directory may appear
 * some time after its first process: then the pod stays empty, and may be asked for again. A
 * container's name is known if its link is there, or if the pod has only one.
 */
void pod_names__find(const struct pod_logs *logs, const struct cgroup_names *names,
		     struct workload *workload);

#endif
