/* SPDX-License-Identifier: BSD-2-Clause */
/* What gpuprobe finds out about a process in order to judge whether it can watch it. */
#ifndef CHECK_PROCESS_FACTS_H
#define CHECK_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "check/libraries.h"
#include "target/cgroup.h"
#include "target/memory_reader.h"

/* A file of a process whose name is that of a CUDA library. */
struct process_library {
	char *path;  /* in the process's root */
	bool driver; /* its name is the driver's */
	bool deleted;
	int opened;	     /* 0 or a negative errno */
	unsigned int layers; /* valid if it was opened */
};

struct process_facts {
	pid_t pid;
	char comm[64];				 /* raw: escape before printing */
	char container[CONTAINER_ID_LENGTH + 1]; /* empty if it is in no container */
	uint64_t effective;			 /* gpuprobe's own capabilities when it read this */
	int mappings;				 /* 0: read, or a negative errno */
	bool kernel_thread;			 /* it has no mappings */
	struct process_library *libraries;
	size_t library_count;
	bool inside;	     /* the program has the runtime linked in, with symbols */
	unsigned int bits;   /* of the program, 32 or 64; 0 if unknown */
	bool user_namespace; /* it is in another user namespace than gpuprobe */
	bool filtered;	     /* it has a seccomp filter */
	int memory;	     /* reading its memory: 0 or a negative errno */
	int python;	     /* 0: frames can be read; -ENOENT: no interpreter; or why not */
	unsigned int python_minor;
	struct error python_error;
};

/*
 * Reads what /proc/PID shows, and adds the CUDA libraries that it maps to `libraries`. A process
 * that has none, or whose mappings cannot be read, is only read in part unless `requested`.
 * `memory` reads its memory. Returns 0, -ESRCH if the process is gone, or -ENOMEM. The caller
 * clears `facts` in any case.
 */
int process_facts__read(struct memory_reader *memory, pid_t pid, bool requested,
			struct checked_libraries *libraries, struct process_facts *facts);
void process_facts__clear(struct process_facts *facts);

/* Whether the process has a CUDA library or the runtime linked in. */
bool process_facts__uses_cuda(const struct process_facts *facts);

#endif
