// SPDX-License-Identifier: BSD-2-Clause
// States of threads, see run_state.h.
#include "dump/run_state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/text_file.h"
#include "target/cgroup.h"
#include "target/cgroup_place.h"

/* Linux's include/linux/sched.h, 6.1 to 6.18. */
#define TASK_WAKING 0x0200
#define TASK_NO_LOAD 0x0400 /* with TASK_SLEEPS_ON: TASK_IDLE, "I" in ps */
#define TASK_NEW 0x0800
#define TASK_LOCK_WAIT 0x1000 /* PREEMPT_RT's spin locks */

enum dump_run run_state__of(const struct thread_look *look)
{
	if (look->on_cpu)
		return DUMP_RUNS;
	if (look->state & TASK_FROZEN)
		return DUMP_FROZEN;
	if (look->state & TASK_TRACED)
		return DUMP_TRACED;
	if (look->state & TASK_STOPPED)
		return DUMP_STOPPED;
	if (!look->state || look->state & (TASK_WAKING | TASK_NEW))
		return DUMP_READY;
	if (look->state & TASK_LOCK_WAIT)
		return DUMP_SLEEPS_ON;
	if (look->state & TASK_SLEEPS_ON && !(look->state & TASK_NO_LOAD))
		return DUMP_SLEEPS_ON;
	return DUMP_SLEEPS;
}

/* A path with ".." is of another cgroup namespace and leads out of the mount. */
static bool read_events(const char *group, char *text, size_t size)
{
	const char *mount = cgroup_place__mount();
	char path[PATH_MAX];

	if (!mount || *group != '/' || strstr(group, "/.."))
		return false;
	if (snprintf(path, sizeof(path), "%s%s/cgroup.events", mount, group) >= (int)sizeof(path))
		return false;
	return !text_file__read("", path, text, size);
}

bool run_state__in_frozen_group(pid_t pid)
{
	char text[256], *group = cgroup__path(pid);
	bool frozen = group && read_events(group, text, sizeof(text)) && strstr(text, "frozen 1");

	free(group);
	return frozen;
}
