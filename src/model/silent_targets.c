// SPDX-License-Identifier: BSD-2-Clause
// Which of the requested processes have not called CUDA, see silent_targets.h.
#include "model/silent_targets.h"

#include <stdio.h>

#define NAMED 8

size_t silent_targets__count(const struct target_processes *targets)
{
	size_t count = 0;

	for (size_t i = 0; i < targets->count && !targets->unclear; i++)
		count += !targets->processes[i].called;
	return count;
}

/* For the first eight; if there are several, each text names its process. */
static void report_doings(const struct target_processes *targets, size_t silent, char *text,
			  size_t size)
{
	size_t seen = 0;
	int at = 0;

	for (size_t i = 0; i < targets->count && seen < NAMED; i++) {
		const struct target_process *process = &targets->processes[i];
		char whose[16] = "";

		if (process->called)
			continue;
		seen++;
		if (!process->doing[0])
			continue;
		if (silent > 1)
			snprintf(whose, sizeof(whose), " %d:", process->pid);
		at += snprintf(text + at, size - (size_t)at, "%s%s %s", silent > 1 ? ";" : ":",
			       whose, process->doing);
	}
}

bool silent_targets__write(const struct target_processes *targets, char text[SILENT_TEXT_SIZE])
{
	size_t silent = silent_targets__count(targets), named = 0;
	int at = 0;

	text[0] = '\0';
	if (!silent)
		return false;
	for (size_t i = 0; i < targets->count && named < NAMED; i++) {
		const struct target_process *process = &targets->processes[i];

		if (!process->called)
			at += snprintf(text + at, SILENT_TEXT_SIZE - (size_t)at, "%s%d (%s)",
				       named++	   ? ", " :
				       silent == 1 ? "process " :
						     "processes ",
				       process->pid, process->comm);
	}
	if (silent > named)
		at += snprintf(text + at, SILENT_TEXT_SIZE - (size_t)at, " and %zu more",
			       silent - named);
	at += snprintf(text + at, SILENT_TEXT_SIZE - (size_t)at,
		       ": no CUDA call seen since attach");
	report_doings(targets, silent, text + at, SILENT_TEXT_SIZE - (size_t)at);
	return true;
}
