// SPDX-License-Identifier: BSD-2-Clause
// Tells what a trace may have missed, see gaps.h.
#include "cli/gaps.h"

#include <stdlib.h>

#include "base/clock.h"
#include "target/process.h"

#define MAX_TOLD 1024 /* processes remembered; then the oldest place is used again */

struct told {
	pid_t pid;
	uint64_t start_ns;
};

struct gaps {
	uint64_t begin_ns;
	const struct log *log;
	size_t count; /* so far */
	struct told told[MAX_TOLD];
};

struct gaps *gaps__new(uint64_t begin_ns, const struct log *log)
{
	struct gaps *gaps = calloc(1, sizeof(*gaps));

	if (gaps) {
		gaps->begin_ns = begin_ns;
		gaps->log = log;
	}
	return gaps;
}

void gaps__free(struct gaps *gaps)
{
	free(gaps);
}

static bool was_told(const struct gaps *gaps, const struct process_info *info)
{
	size_t kept = gaps->count < MAX_TOLD ? gaps->count : MAX_TOLD;

	for (size_t i = 0; i < kept; i++)
		if (gaps->told[i].pid == info->pid && gaps->told[i].start_ns == info->start_ns)
			return true;
	return false;
}

static double milliseconds(uint64_t from, uint64_t to)
{
	return to > from ? (double)(to - from) / NS_PER_MS : 0;
}

void gaps__add(struct gaps *gaps, pid_t pid, uint64_t since_ns)
{
	uint64_t now = clock__boot_ns();
	struct process_info info = {.pid = pid, .comm = "ended"};

	if (process__info(pid, &info))
		info.start_ns = since_ns;
	if (was_told(gaps, &info))
		return;
	gaps->told[gaps->count++ % MAX_TOLD] = (struct told){.pid = pid, .start_ns = info.start_ns};
	log__warn(gaps->log, "process %d (%s): calls before %.3f ms were not seen: a library of it had no probes for %.3f ms",
		  pid, info.comm, milliseconds(gaps->begin_ns, now), milliseconds(since_ns, now));
}
