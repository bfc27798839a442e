// SPDX-License-Identifier: BSD-2-Clause
// When a thread last ran; see last_run.h.
#include "target/last_run.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "target/text_file.h"

#define CLOCKS_MAX 64 /* CPUs that gpuprobe moves to: each may be busy and let it wait */
#define KEY "se.exec_start"

/* What a CPU's clock showed at a time of CLOCK_BOOTTIME. */
struct cpu_clock {
	int cpu;
	uint64_t shown_ns, boot_ns;
};

struct cpu_clocks {
	struct cpu_clock list[CLOCKS_MAX];
	size_t count;
};

struct cpu_clocks *cpu_clocks__new(void)
{
	return calloc(1, sizeof(struct cpu_clocks));
}

void cpu_clocks__free(struct cpu_clocks *clocks)
{
	free(clocks);
}

uint64_t last_run__parse(const char *sched)
{
	const char *line = strstr(sched, "\n" KEY);
	uint64_t ms, ns;

	if (!line || sscanf(line, "\n" KEY " : %" SCNu64 ".%6" SCNu64, &ms, &ns) != 2 ||
	    ms > UINT64_MAX / NS_PER_MS - 1)
		return 0;
	return ms * NS_PER_MS + ns;
}

static uint64_t read_time(const char *path)
{
	char text[1024];

	return text_file__read("", path, text, sizeof(text)) ? 0 : last_run__parse(text);
}

/* The CPU that the thread last ran on: the 37th number after its name. -1 if it is unknown. */
static int read_cpu(pid_t tid)
{
	char path[64], text[2048], *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	if (text_file__read("", path, text, sizeof(text)))
		return -1;
	at = strrchr(text, ')');
	for (int i = 0; at && i < 37; i++)
		at = strchr(at + 1, ' ');
	return at ? atoi(at) : -1;
}

static int read_clock(struct cpu_clock *clock)
{
	cpu_set_t before, only;

	if (clock->cpu < 0 || clock->cpu >= CPU_SETSIZE)
		return -ERANGE;
	CPU_ZERO(&only);
	CPU_SET((unsigned int)clock->cpu, &only);
	if (sched_getaffinity(0, sizeof(before), &before) ||
	    sched_setaffinity(0, sizeof(only), &only))
		return -errno;
	clock->shown_ns = read_time("/proc/thread-self/sched");
	clock->boot_ns = clock__boot_ns();
	if (sched_setaffinity(0, sizeof(before), &before))
		return -errno;
	return clock->shown_ns ? 0 : -ENODATA;
}

static int find_clock(struct cpu_clocks *clocks, int cpu, const struct cpu_clock **out)
{
	struct cpu_clock clock = {.cpu = cpu};
	int ret;

	for (size_t i = 0; i < clocks->count; i++)
		if (clocks->list[i].cpu == cpu) {
			*out = &clocks->list[i];
			return 0;
		}
	if (clocks->count == CLOCKS_MAX)
		return -EBUSY;
	ret = read_clock(&clock);
	if (ret)
		return ret;
	clocks->list[clocks->count] = clock;
	*out = &clocks->list[clocks->count++];
	return 0;
}

int last_run__ago(struct cpu_clocks *clocks, pid_t tid, uint64_t *ago_ns)
{
	const struct cpu_clock *clock;
	uint64_t ran_ns, now_ns;
	char path[64];
	int cpu, ret;

	snprintf(path, sizeof(path), "/proc/%d/sched", (int)tid);
	ran_ns = read_time(path);
	cpu = read_cpu(tid);
	if (!ran_ns || cpu < 0)
		return -ENODATA;
	ret = find_clock(clocks, cpu, &clock);
	if (ret)
		return ret;
	now_ns = clock->shown_ns + (clock__boot_ns() - clock->boot_ns);
	*ago_ns = now_ns > ran_ns ? now_ns - ran_ns : 0;
	return 0;
}
