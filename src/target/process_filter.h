/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes the user wants to see: --comm, --uid, --cgroup, --container and --pod. A process
 * must meet all that are given. It is judged once per program that it runs, because what is judged
 * does not change.
 */
#ifndef TARGET_PROCESS_FILTER_H
#define TARGET_PROCESS_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "target/cgroup.h"
#include "target/cgroup_id.h"

/* The texts are not owned. All zero: every process is wanted. */
struct process_filter {
	const char *comm; /* NULL: any */
	const char *user; /* as given; NULL: any */
	uint32_t uid;	  /* of `user` */
	const char *cgroup;
	struct cgroup_id cgroup_id; /* of `cgroup`, from process_filter__open */
	const char *container;	    /* beginning of its id */
	const char *pod;	    /* UID, NAME or NAMESPACE/NAME */
	const char *pod_logs;	    /* NULL: POD_LOGS, target/pod_names.h */
};

/* What a filter judges a process by. */
struct filter_facts {
	pid_t pid;
	const char *comm;
	uint32_t uid;
	const struct cgroup_names *names; /* NULL: unknown, because the process ended before */
};

enum filter_verdict {
	FILTER_TAKES,
	FILTER_LEAVES,
	FILTER_UNSURE, /* left out, because what it asks for is unknown */
};

/* How many processes a filter has judged. */
struct filtered_processes {
	uint64_t taken;
	uint64_t left_out;
	uint64_t unsure; /* part of these: FILTER_UNSURE */
};

/* The digits of a container's id that must be given at least. */
#define CONTAINER_DIGITS_MIN 4

/* Check the text of an option. Return 0, or -EINVAL with a message. */
int process_filter__check_container(const char *text, struct error *err);
int process_filter__check_pod(const char *text, struct error *err);

/* Whether it leaves anything out; whether it needs to know the container or the pod. */
bool process_filter__is_set(const struct process_filter *filter);
bool process_filter__needs_names(const struct process_filter *filter);

/*
 * Finds the control group, and makes sure that names of pods can be looked up. Returns 0 or a
 * negative errno with a message.
 */
int process_filter__open(struct process_filter *filter, struct error *err);

enum filter_verdict process_filter__judge(const struct process_filter *filter,
					  const struct filter_facts *facts);

/* The same for a running process, by what /proc shows; FILTER_LEAVES if it is gone. */
enum filter_verdict process_filter__judge_pid(const struct process_filter *filter, pid_t pid);

/* Whether a process with this cgroup path (NULL: unknown) is in the wanted container and pod. */
bool process_filter__takes_path(const struct process_filter *filter, const char *path);

/* The options as given, for messages: "--comm train --uid 1000". */
struct filter_text {
	char text[256];
};
struct filter_text process_filter__text(const struct process_filter *filter);

#endif
