/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the machine, or the container around gpuprobe, allows: capabilities, limits, namespaces,
 * settings.
 */
#ifndef CHECK_HOST_H
#define CHECK_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "check/links.h"
#include "check/list.h"
#include "gpuprobe/state.h"

enum tracefs_access {
	TRACEFS_WRITABLE = 0,
	TRACEFS_ABSENT, /* not mounted, or without uprobes */
	TRACEFS_DENIED,
};

#define UNLIMITED UINT64_MAX

struct host_facts {
	int capabilities;    /* 0: read, or a negative errno */
	uint64_t effective;  /* bit n: capability number n */
	bool user_namespace; /* gpuprobe is not in the initial one */
	bool pid_namespace;  /* the same */
	uint64_t memlock;    /* bytes, or UNLIMITED */
	bool memlock_counts; /* RLIMIT_MEMLOCK limits BPF: before Linux 5.11 */
	bool has_paranoid;
	long paranoid;	   /* kernel.perf_event_paranoid */
	long ptrace_scope; /* of Yama; negative if there is no Yama */
	bool no_proc;	   /* /proc/sys is missing: namespaces and settings are unknown */
	enum tracefs_access tracefs;
};

/* Reads the facts from files below `root` ("" for this machine). */
void host_facts__read(const char *root, struct host_facts *facts);

/* Whether the text of /proc/PID/uid_map is the initial user namespace's. */
bool host_facts__is_initial_map(const char *text);

/* Whether RLIMIT_MEMLOCK limits BPF memory on a kernel of this release (from uname(2)). */
bool host_facts__counts_memlock(const char *release);

void check_host__judge(const struct host_facts *facts, enum tracefs_use use,
		       struct check_list *list);

#endif
