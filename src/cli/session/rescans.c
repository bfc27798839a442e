// SPDX-License-Identifier: BSD-2-Clause
// Schedules repeated looks at processes, see rescans.h.
#include "cli/session/rescans.h"

#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/table.h"

#define LONG_NS (20 * NS_PER_MS) /* reading 40,000 typical mappings takes this long */
#define PAUSE 10		 /* pause, as a multiple of the reading's duration */
#define SLOW_MAX 4096		 /* limit of known slow processes */

/* A process whose mappings took long to read, or whose files were not all looked at yet. */
struct slow_process {
	pid_t pid;
	/* reading its mappings takes long: it also waits for others of this kind */
	bool reads_long;
	bool waits;	   /* `next` is pending */
	uint64_t ready_ns; /* earliest time of the look */
	struct rescan next;
	UT_hash_handle hh;
};

struct rescans {
	struct rescans_hooks hooks;
	struct event *timer;
	struct slow_process *slow; /* ordered by the time of the look, oldest first */
	uint64_t rests_until_ns;
	bool ended;
};

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static uint64_t ready_ns_of(const struct rescans *rescans, const struct slow_process *process)
{
	return process->reads_long ? later(process->ready_ns, rescans->rests_until_ns) :
				     process->ready_ns;
}

/*
 * The waiting process whose turn comes first; among several that are due, the first in the list.
 * NULL: none waits.
 */
static struct slow_process *find_waiting(const struct rescans *rescans, uint64_t now_ns)
{
	struct slow_process *found = NULL;

	for (struct slow_process *process = rescans->slow; process; process = process->hh.next) {
		if (!process->waits)
			continue;
		if (!found || ready_ns_of(rescans, process) < ready_ns_of(rescans, found))
			found = process;
		if (ready_ns_of(rescans, found) <= now_ns)
			break;
	}
	return found;
}

static void set_timer(struct rescans *rescans, uint64_t now_ns)
{
	const struct slow_process *next = find_waiting(rescans, now_ns);
	struct timeval wait;

	if (!next)
		return;
	wait = clock__timeval((double)(later(ready_ns_of(rescans, next), now_ns) - now_ns) /
			      NS_PER_S);
	evtimer_add(rescans->timer, &wait);
}

static void forget(struct rescans *rescans, struct slow_process *process)
{
	HASH_DEL(rescans->slow, process);
	free(process);
}

static struct slow_process *find(const struct rescans *rescans, pid_t pid)
{
	return TABLE_FIND(rescans->slow, pid, &pid);
}

/*
 * NULL if there is no room or no memory: the process is then treated as a quick one the next time.
 * Waiting processes are kept.
 */
static struct slow_process *add_slow(struct rescans *rescans, pid_t pid)
{
	struct slow_process *process = rescans->slow;

	if (process && HASH_COUNT(rescans->slow) >= SLOW_MAX) {
		if (process->waits)
			return NULL;
		forget(rescans, process);
	}
	return TABLE_ADD_NEW(rescans->slow, pid, &pid);
}

static void miss(struct rescans *rescans, const struct rescan *rescan)
{
	rescans->hooks.missed(rescan, rescans->hooks.arg);
}

void rescans__go_on(struct rescans *rescans, const struct rescan *rescan, uint64_t ready_ns)
{
	struct slow_process *process = find(rescans, rescan->pid);

	if (!process)
		process = add_slow(rescans, rescan->pid);
	if (!process || rescans->ended) {
		miss(rescans, rescan);
		return;
	}
	process->next = *rescan;
	process->next.waited = true;
	process->waits = true;
	process->ready_ns = ready_ns;
	set_timer(rescans, clock__boot_ns());
}

/* `process` is NULL for one that is not known as slow. It must not be used afterwards. */
static void look(struct rescans *rescans, const struct rescan *rescan, struct slow_process *process)
{
	const struct rescan now = *rescan;
	uint64_t took_ns, ready_ns = 0;

	if (process)
		forget(rescans, process);
	took_ns = rescans->hooks.look(&now, &ready_ns, rescans->hooks.arg);
	if (took_ns >= LONG_NS) {
		rescans->rests_until_ns = clock__boot_ns() + PAUSE * took_ns;
		process = add_slow(rescans, now.pid);
		if (process)
			process->reads_long = true;
	}
	if (ready_ns)
		rescans__go_on(rescans, &now, ready_ns);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct rescans *rescans = arg;
	uint64_t now_ns = clock__boot_ns();
	struct slow_process *process = find_waiting(rescans, now_ns);

	(void)fd;
	(void)what;
	if (process && ready_ns_of(rescans, process) <= now_ns)
		look(rescans, &process->next, process);
	set_timer(rescans, clock__boot_ns());
}

/*
 * Keeps the earliest time: probes attached after it are late. Mappings of a replaced program are
 * gone, so its look is missed.
 */
static void join(struct rescans *rescans, struct slow_process *process, const struct rescan *rescan)
{
	uint64_t since_ns = rescan->since_ns;

	if (process->waits && rescan->scan == SCAN_PROGRAM)
		miss(rescans, &process->next);
	else if (process->waits) {
		process->next.since_ns =
			since_ns < process->next.since_ns ? since_ns : process->next.since_ns;
		return;
	}
	process->next = *rescan;
	process->next.waited = true;
	process->waits = true;
}

void rescans__add(struct rescans *rescans, const struct rescan *rescan, uint64_t now_ns)
{
	struct slow_process *process = find(rescans, rescan->pid);

	if (!process || (!process->waits && now_ns >= rescans->rests_until_ns)) {
		look(rescans, rescan, process);
		return;
	}
	if (rescans->ended) {
		miss(rescans, rescan);
		return;
	}
	join(rescans, process, rescan);
	set_timer(rescans, now_ns);
}

void rescans__end(struct rescans *rescans)
{
	struct slow_process *process;

	evtimer_del(rescans->timer);
	rescans->ended = true;
	while ((process = find_waiting(rescans, UINT64_MAX))) {
		process->waits = false;
		miss(rescans, &process->next);
	}
}

struct rescans *rescans__new(struct event_base *loop, const struct rescans_hooks *hooks)
{
	struct rescans *rescans = calloc(1, sizeof(*rescans));

	if (!rescans)
		return NULL;
	rescans->hooks = *hooks;
	rescans->timer = evtimer_new(loop, on_timer, rescans);
	if (rescans->timer)
		return rescans;
	free(rescans);
	return NULL;
}

void rescans__free(struct rescans *rescans)
{
	if (!rescans)
		return;
	TABLE_CLEAR(rescans->slow, free);
	event_free(rescans->timer);
	free(rescans);
}
