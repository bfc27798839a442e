// SPDX-License-Identifier: BSD-2-Clause
// Waits for the end of the target processes, see target_exit.h.
#include "cli/session/target_exit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "target/proc.h"

#define LOOK_MS 100 /* we have no pidfds of descendants, so the map is polled */

struct target_exit {
	const struct targets *targets;
	int watched_fd;
	void (*all_ended)(void *arg);
	void *arg;
	struct event **ends; /* for each target process; NULL once it has ended */
	size_t running;
	struct event *timer; /* armed once no target process runs */
};

static bool is_given(const struct target_exit *exits, pid_t pid)
{
	for (size_t i = 0; i < exits->targets->pid_count; i++)
		if (exits->targets->pids[i] == pid)
			return true;
	return false;
}

/* A process that ended just before it was added to the map is still in there. */
static bool descendants_are_left(const struct target_exit *exits)
{
	int32_t pid, key, *previous = NULL;

	while (!bpf_map_get_next_key(exits->watched_fd, previous, &pid)) {
		if (!is_given(exits, pid) && proc__exists(pid))
			return true;
		key = pid;
		previous = &key;
	}
	return false;
}

static void look(struct target_exit *exits)
{
	static const struct timeval soon = {.tv_usec = LOOK_MS * 1000};

	if (descendants_are_left(exits))
		evtimer_add(exits->timer, &soon);
	else
		exits->all_ended(exits->arg);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	look(arg);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
	struct target_exit *exits = arg;

	(void)what;
	for (size_t i = 0; i < exits->targets->pid_count; i++) {
		if (!exits->ends[i] || event_get_fd(exits->ends[i]) != fd)
			continue;
		event_free(exits->ends[i]);
		exits->ends[i] = NULL;
		close(fd);
		exits->running--;
	}
	if (!exits->running)
		look(exits);
}

/* A process that has ended meanwhile has no pidfd. */
static int follow(struct target_exit *exits, struct event_base *loop, size_t i, struct error *err)
{
	pid_t pid = exits->targets->pids[i];
	int fd = pidfd_open(pid, 0);

	if (fd < 0 && errno == ESRCH)
		return 0;
	if (fd < 0)
		return error__set(err, -errno, "cannot wait for the end of process %d: %s", pid,
				  strerror(errno));
	exits->ends[i] = event_new(loop, fd, EV_READ, on_end, exits);
	if (!exits->ends[i]) {
		close(fd);
		return error__set(err, -ENOMEM, "out of memory");
	}
	if (event_add(exits->ends[i], NULL))
		return error__set(err, -ENOMEM, "out of memory");
	exits->running++;
	return 0;
}

static int set_up(struct target_exit *exits, struct event_base *loop, struct error *err)
{
	static const struct timeval at_once = {0};
	int ret = 0;

	exits->ends = calloc(exits->targets->pid_count, sizeof(*exits->ends));
	exits->timer = evtimer_new(loop, on_timer, exits);
	if (!exits->ends || !exits->timer)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < exits->targets->pid_count && !ret; i++)
		ret = follow(exits, loop, i, err);
	if (!ret && !exits->running && evtimer_add(exits->timer, &at_once))
		ret = error__set(err, -ENOMEM, "out of memory");
	return ret;
}

int target_exit__new(struct event_base *loop, const struct targets *targets, int watched_fd,
		     void (*all_ended)(void *arg), void *arg, struct target_exit **out,
		     struct error *err)
{
	struct target_exit *exits = calloc(1, sizeof(*exits));
	int ret;

	if (!exits)
		return error__set(err, -ENOMEM, "out of memory");
	*exits = (struct target_exit){
		.targets = targets, .watched_fd = watched_fd, .all_ended = all_ended, .arg = arg};
	ret = set_up(exits, loop, err);
	if (ret) {
		target_exit__free(exits);
		return ret;
	}
	*out = exits;
	return 0;
}

void target_exit__free(struct target_exit *exits)
{
	if (!exits)
		return;
	for (size_t i = 0; exits->ends && i < exits->targets->pid_count; i++) {
		if (!exits->ends[i])
			continue;
		close(event_get_fd(exits->ends[i]));
		event_free(exits->ends[i]);
	}
	if (exits->timer)
		event_free(exits->timer);
	free(exits->ends);
	free(exits);
}
