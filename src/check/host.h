/* SPDX-License-Identifier: BSD-2-Clause */
/* What the machine, or the container around gpuprobe, lets it do: capabilities, limits, namespaces, settings. */
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
	uint64_t effective;  /* bit n: the capability of number n */
	bool user_namespace; /* gpuprobe is in one that is not the machine's */
	bool pid_namespace;  /* the same */
	uint64_t memlock;    /* bytes, or UNLIMITED */
	bool memlock_counts; /* for BPF: before Linux 5.11 */
	bool has_paranoid;
	long paranoid;	   /* kernel.perf_event_paranoid */
	long ptrace_scope; /* of Yama; negative: there is no Yama */
	bool no_proc;	   /* /proc/sys is not there: nothing is known of namespaces and settings */
	enum tracefs_access tracefs;
};

/* Reads them; files below `root`, which is "" for this machine. */
void host_facts__read(const char *root, struct host_facts *facts);

/* Whether the text of /proc/PID/uid_map is that of the initial user namespace. */
bool host_facts__is_initial_map(const char *text);

/* Whether RLIMIT_MEMLOCK limits the memory of BPF on a kernel of this release, as uname(2) tells it. */
bool host_facts__counts_memlock(const char *release);

void check_host__judge(const struct host_facts *facts, enum tracefs_use use, struct check_list *list);

#endif
