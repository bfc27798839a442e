/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes requested by pid, and which of them were not seen calling CUDA. */
#ifndef MODEL_SILENT_TARGETS_H
#define MODEL_SILENT_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A requested process that could be watched. */
struct target_process {
	int32_t pid;
	char comm[16];
	bool called; /* it or one of its descendants has called */
	/* what it is doing now: "thread 12 (train) is in cuEventSynchronize"; empty: unknown */
	char doing[192];
};

struct target_processes {
	struct target_process *processes;
	size_t count;
	/* a process of unknown ancestry has called: no process is certain to be silent */
	bool unclear;
};

#define SILENT_TEXT_SIZE 2304

/* How many processes are known not to have called, nor any of their descendants. */
size_t silent_targets__count(const struct target_processes *targets);

/*
 * Writes "process 12 (train): no CUDA call seen since attach: thread 12 (train) is in
 * cuEventSynchronize", or one sentence for several processes that names the first eight. Writes
 * nothing if none is silent. Names are raw: escape the text before printing. Returns whether there
 * is a text.
 */
bool silent_targets__write(const struct target_processes *targets, char text[SILENT_TEXT_SIZE]);

#endif
