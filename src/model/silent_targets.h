/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes that were asked for by their pids, and which of them were not seen calling CUDA. */
#ifndef MODEL_SILENT_TARGETS_H
#define MODEL_SILENT_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One that could be watched. */
struct target_process {
	int32_t pid;
	char comm[16];
	bool called;	 /* it has, or one of its descendants */
	char doing[192]; /* what it is in, now: "thread 12 (train) is in cuEventSynchronize"; empty: not known */
};

struct target_processes {
	struct target_process *processes;
	size_t count;
	bool unclear; /* a process has called of which it is not known whose descendant it is: nobody is silent for sure */
};

#define ASKED_TEXT_SIZE 2304

/* How many are known not to have called, nor their descendants. */
size_t silent_targets__count(const struct target_processes *asked);

/*
 * Writes "process 12 (train) has made no CUDA call that is watched: thread 12 (train) is in cuEventSynchronize", or of
 * several the same in one sentence, of which the first eight are named. Nothing where none is silent. Names are raw: escape what is printed.
 * Returns whether there is a text.
 */
bool silent_targets__write(const struct target_processes *asked, char text[ASKED_TEXT_SIZE]);

#endif
