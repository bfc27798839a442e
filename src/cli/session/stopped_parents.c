// SPDX-License-Identifier: BSD-2-Clause
// Wakes programs that stop together with their child, see stopped_parents.h.
#include "cli/session/stopped_parents.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/session/child_command.h"
#include "gpuprobe/holds.h"
#include "target/proc.h"

#define FIRST_LOOK_MS 2
#define LOOKS_MS 20
/* a parent stops within moments of its child; a busy machine needs longer */
#define LOOK_FOR_NS NS_PER_S
#define MAX_ANCESTORS 64 /* limit at a time; deeper trees do not occur */

struct ancestor {
	pid_t pid;
	uint64_t until_ns;
};

struct stopped_parents {
	const struct child_command *command;
	struct event *timer;
	int watched_fd, held_fd;
	struct ancestor ancestors[MAX_ANCESTORS];
	size_t count;
};

static void start_timer(struct stopped_parents *parents, int milliseconds)
{
	struct timeval delay = {.tv_usec = milliseconds * 1000};

	evtimer_add(parents->timer, &delay);
}

static bool has_pid(int map_fd, pid_t pid)
{
	int32_t key = pid;
	uint8_t value;

	return !bpf_map_lookup_elem(map_fd, &key, &value);
}

/*
 * Continues the process unless it is held: a held one waits for its probes and is resumed when they
 * are attached. A held process is put into the map before it is stopped. Returns whether the
 * process was held, so that it cannot have stopped itself yet.
 */
static bool wake(const struct stopped_parents *parents, pid_t pid)
{
	struct process_info info;

	if (proc__info(pid, &info) || info.state != 'T')
		return false;
	if (has_pid(parents->held_fd, pid))
		return true;
	child_command__send(parents->command, pid, SIGCONT);
	return false;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct stopped_parents *parents = arg;
	uint64_t now = clock__boot_ns();
	size_t kept = 0;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < parents->count; i++)
		if (wake(parents, parents->ancestors[i].pid) ||
		    parents->ancestors[i].until_ns > now)
			parents->ancestors[kept++] = parents->ancestors[i];
	parents->count = kept;
	if (kept)
		start_timer(parents, LOOKS_MS);
}

int stopped_parents__new(struct event_base *loop, const struct child_command *command,
			 int watched_fd, int held_fd, struct stopped_parents **out,
			 struct error *err)
{
	struct stopped_parents *parents = calloc(1, sizeof(*parents));

	if (!parents)
		return error__set(err, -ENOMEM, "out of memory");
	parents->command = command;
	parents->watched_fd = watched_fd;
	parents->held_fd = held_fd;
	parents->timer = evtimer_new(loop, on_timer, parents);
	if (!parents->timer) {
		free(parents);
		return error__set(err, -ENOMEM, "out of memory");
	}
	*out = parents;
	return 0;
}

void stopped_parents__free(struct stopped_parents *parents)
{
	if (!parents)
		return;
	event_free(parents->timer);
	free(parents);
}

static void look_after(struct stopped_parents *parents, pid_t pid)
{
	uint64_t until = clock__boot_ns() + LOOK_FOR_NS;

	for (size_t i = 0; i < parents->count; i++) {
		if (parents->ancestors[i].pid != pid)
			continue;
		parents->ancestors[i].until_ns = until;
		return;
	}
	if (parents->count < MAX_ANCESTORS)
		parents->ancestors[parents->count++] =
			(struct ancestor){.pid = pid, .until_ns = until};
}

/*
 * The bits only cover the nearest ancestors. A held one will see its child's stop when it is
 * resumed.
 */
static bool was_stopped(const struct stopped_parents *parents, pid_t pid, uint16_t stopped_above,
			int depth)
{
	return depth < STOPPED_ANCESTORS && stopped_above & 1 << depth &&
	       !has_pid(parents->held_fd, pid);
}

void stopped_parents__letting_go(struct stopped_parents *parents, pid_t pid, uint16_t stopped_above)
{
	struct process_info info;

	for (int depth = 0; depth < MAX_ANCESTORS && !proc__info(pid, &info); depth++) {
		pid = info.parent;
		if (!has_pid(parents->watched_fd, pid))
			break;
		if (!was_stopped(parents, pid, stopped_above, depth))
			look_after(parents, pid);
	}
	if (parents->count && !evtimer_pending(parents->timer, NULL))
		start_timer(parents, FIRST_LOOK_MS);
}
