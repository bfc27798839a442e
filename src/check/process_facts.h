/* SPDX-License-Identifier: BSD-2-Clause */
/* What there is to know of a process before it is said whether gpuprobe can watch it. */
#ifndef CHECK_PROCESS_FACTS_H
#define CHECK_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "check/libraries.h"
#include "target/cgroup.h"
#include "target/memory_reader.h"

/* A file of a process that is named like a library of CUDA. */
struct process_library {
	char *path;  /* in the process's root */
	bool driver; /* named as the driver's */
	bool deleted;
	int opened;	     /* 0 or a negative errno */
	unsigned int layers; /* where it was opened */
};

struct process_facts {
	pid_t pid;
	char comm[64];				 /* raw: escape before printing */
	char container[CONTAINER_ID_LENGTH + 1]; /* empty: in none */
	uint64_t effective;			 /* gpuprobe's own capabilities, by which it was read */
	int mappings;				 /* 0: read, or a negative errno */
	bool kernel_thread;			 /* it maps nothing at all */
	struct process_library *libraries;
	size_t library_count;
	bool inside;	     /* the program has the runtime inside, with its symbols */
	unsigned int bits;   /* of the program, 32 or 64; 0: not known */
	bool user_namespace; /* it is in another than gpuprobe */
	bool filtered;	     /* by seccomp */
	int memory;	     /* reading its memory: 0 or a negative errno */
	int python;	     /* 0: its frames can be read; -ENOENT: it has no interpreter; else why not */
	unsigned int python_minor;
	struct error python_error;
};

/*
 * Reads what /proc/PID tells, and adds the CUDA libraries that it maps to `libraries`. Of a process
 * that has none, or whose mappings cannot be read, little is read unless `asked_for`. Returns 0, -ESRCH for a process
 * that is gone, or -ENOMEM. Its memory is read by `memory`. To be cleared in any case.
 */
int process_facts__read(struct memory_reader *memory, pid_t pid, bool asked_for, struct checked_libraries *libraries, struct process_facts *facts);
void process_facts__clear(struct process_facts *facts);

/* Whether it has something of CUDA. */
bool process_facts__uses_cuda(const struct process_facts *facts);

#endif
