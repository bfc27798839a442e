// SPDX-License-Identifier: BSD-2-Clause
// Reports processes whose calls a trace may have missed, see attach_gaps.h.
#include "cli/commands/attach_gaps.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "target/proc.h"

#define MAX_GAPS 1024	/* limit of kept gaps; beyond it the oldest is replaced */
#define CACHE_SIZE 1024 /* size of the cache of processes without a gap */

struct gap {
	pid_t pid; /* 0: reported */
	uint64_t until_ns;
	char comm[COMM_SIZE]; /* empty if the process had ended by then */
};

struct attach_gaps {
	uint64_t begin_ns;
	const struct log *log;
	size_t gap_count, reported_count; /* totals so far */
	struct gap gaps[MAX_GAPS];
	uint32_t reported[MAX_GAPS]; /* numbers of processes */
	/* process number + 1 of a process without a gap to report, indexed by the number */
	uint32_t none[CACHE_SIZE];
};

struct attach_gaps *attach_gaps__new(uint64_t begin_ns, const struct log *log)
{
	struct attach_gaps *gaps = calloc(1, sizeof(*gaps));

	if (gaps) {
		gaps->begin_ns = begin_ns;
		gaps->log = log;
	}
	return gaps;
}

void attach_gaps__free(struct attach_gaps *gaps)
{
	free(gaps);
}

static size_t kept(size_t count)
{
	return count < MAX_GAPS ? count : MAX_GAPS;
}

static struct gap *find(struct attach_gaps *gaps, pid_t pid)
{
	for (size_t i = 0; i < kept(gaps->gap_count); i++)
		if (gaps->gaps[i].pid == pid)
			return &gaps->gaps[i];
	return NULL;
}

void attach_gaps__add(struct attach_gaps *gaps, pid_t pid)
{
	struct process_info info = {.comm = ""};
	struct gap *gap = find(gaps, pid);

	if (!gap)
		gap = &gaps->gaps[gaps->gap_count++ % MAX_GAPS];
	*gap = (struct gap){.pid = pid, .until_ns = clock__boot_ns()};
	if (!proc__info(pid, &info))
		snprintf(gap->comm, sizeof(gap->comm), "%.*s", COMM_SIZE - 1, info.comm);
	memset(gaps->none, 0, sizeof(gaps->none));
}

static bool was_reported(const struct attach_gaps *gaps, uint32_t number)
{
	for (size_t i = 0; i < kept(gaps->reported_count); i++)
		if (gaps->reported[i] == number)
			return true;
	return false;
}

static void report(const struct attach_gaps *gaps, const struct gap *gap, const char *comm)
{
	double ms = gap->until_ns > gaps->begin_ns ?
			    (double)(gap->until_ns - gaps->begin_ns) / NS_PER_MS :
			    0;
	char name[COMM_SIZE + 4] = "";

	if (*comm)
		snprintf(name, sizeof(name), " (%s)", comm);
	log__warn(gaps->log,
		  "process %d%s: calls before %.3f ms may be missing: one of its libraries had no "
		  "probes yet",
		  gap->pid, name, ms);
}

void attach_gaps__line(struct attach_gaps *gaps, const struct trace_process *process)
{
	uint32_t *none = &gaps->none[process->number % CACHE_SIZE];
	struct gap *gap;

	if (*none == process->number + 1)
		return;
	*none = process->number + 1;
	gap = find(gaps, process->pid);
	/* A gap of an earlier process with this pid, which had no line. */
	if (!gap || gap->until_ns < process->start_ns)
		return;
	if (!was_reported(gaps, process->number)) {
		report(gaps, gap, process->comm);
		gaps->reported[gaps->reported_count++ % MAX_GAPS] = process->number;
	}
	gap->pid = 0;
}

void attach_gaps__report_rest(const struct attach_gaps *gaps)
{
	for (size_t i = 0; i < kept(gaps->gap_count); i++)
		if (gaps->gaps[i].pid)
			report(gaps, &gaps->gaps[i], gaps->gaps[i].comm);
}
