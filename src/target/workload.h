/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process belongs to, by the names that people use: its pod and container in Kubernetes, its
 * machine under LXC or systemd-nspawn, its systemd unit, its job under Slurm, its image. All come
 * from the names of control groups and from other files that a user cannot change for another
 * process, but anyone who may create control groups may choose these: the results are well formed,
 * but not trustworthy.
 */
#ifndef TARGET_WORKLOAD_H
#define TARGET_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "target/cgroup.h"
#include "target/image_name.h"

#define WORKLOAD_NAME_SIZE 64	    /* a DNS label of 63 characters */
#define WORKLOAD_LONG_NAME_SIZE 256 /* a pod's name, or a unit's, which is a file name */
#define WORKLOAD_JOB_SIZE 24

/* Texts are empty if they do not apply or are unknown. */
struct workload {
	char namespace[WORKLOAD_NAME_SIZE];
	char pod[WORKLOAD_LONG_NAME_SIZE];
	char container[WORKLOAD_LONG_NAME_SIZE]; /* in the pod; a machine, task or slot */
	char unit[WORKLOAD_LONG_NAME_SIZE];	 /* a service */
	char slurm_job[WORKLOAD_JOB_SIZE];	 /* decimal */
	char slurm_step[WORKLOAD_JOB_SIZE];	 /* decimal, or "batch", "extern", "interactive" */
	char slurm_sluid[WORKLOAD_JOB_SIZE];	 /* of Slurm 26.05 and newer */
	char pbs_job[WORKLOAD_NAME_SIZE];	 /* such as 4711.server */
	char image[IMAGE_NAME_SIZE];		 /* of its container */
};

/*
 * Fills in what the text of /proc/PID/cgroup says: machine, unit, job. `names` are the text's
 * container and pod: a process in one of them is in no unit.
 */
void workload__parse(const char *cgroups, const struct cgroup_names *names,
		     struct workload *workload);

/*
 * Finds the number of a job of which only the SLUID or the step is known: Slurm's step daemon, an
 * ancestor of the process, has it in its command line.
 */
void workload__find_job(pid_t pid, struct workload *workload);

bool workload__is_empty(const struct workload *workload);

#endif
