// SPDX-License-Identifier: BSD-2-Clause
// For what threads wait at sockets, see socket_waits.h.
#include "host/socket_waits.h"

#include <string.h>

#define TRIES 3 /* a socket may be closed or not yet connected when it is looked at */

struct most_awaited {
	uint64_t ns;
	int32_t fd;
};

static bool listens(const struct followed_thread *thread, const struct limited_process *processes,
		    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (processes[i].pid == thread->for_pid &&
		    processes[i].start_ns == thread->for_start_ns)
			return processes[i].serves;
	return false;
}

static void find_most_awaited(const struct followed_list *list, const struct partners *partners,
			      struct most_awaited most[HOST_THREADS])
{
	for (size_t i = 0; i < partners->file_count; i++) {
		const struct host_pair_key *key = &partners->file_keys[i];
		uint64_t ns = partners->files[i].ns;

		if (key->thread >= HOST_THREADS || key->kind != ACTIVITY_QUEUE ||
		    key->generation != list->threads[key->thread].generation ||
		    ns <= most[key->thread].ns)
			continue;
		most[key->thread] = (struct most_awaited){.ns = ns, .fd = (int32_t)key->other};
	}
}

/* At other times it may wait in select or poll, whose descriptors are not known. */
static bool is_most_of_its_waits(const struct followed_list *list, size_t number, uint64_t ns)
{
	return 2 * ns > list->profiles[number].ns[ACTIVITY_QUEUE][HOST_OUTSIDE];
}

static void look_at(struct followed_thread *thread, int32_t fd)
{
	struct socket_wait *wait = &thread->socket;

	if (!wait->tries || wait->fd != fd)
		*wait = (struct socket_wait){.fd = fd};
	if (wait->role != SOCKET_UNKNOWN || wait->tries == TRIES)
		return;
	wait->tries++;
	wait->role = socket_role__of(thread->who.pid, fd);
}

void socket_waits__look(struct followed_list *list, const struct partners *partners,
			const struct limited_process *processes, size_t count)
{
	struct most_awaited most[HOST_THREADS] = {0};

	find_most_awaited(list, partners, most);
	for (size_t i = 0; i < HOST_THREADS; i++) {
		struct followed_thread *thread = &list->threads[i];

		if (!most[i].ns || !thread->used || !thread->marked || !thread->who.pid ||
		    !listens(thread, processes, count))
			continue;
		if (is_most_of_its_waits(list, i, most[i].ns))
			look_at(thread, most[i].fd);
		else
			thread->socket = (struct socket_wait){0};
	}
}
