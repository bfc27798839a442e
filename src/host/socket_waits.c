// SPDX-License-Identifier: BSD-2-Clause
// For what threads wait at sockets, see socket_waits.h.
#include "host/socket_waits.h"

#include <inttypes.h>
#include <stdio.h>

#include "dump/descriptor.h"
#include "dump/system_call.h"
#include "target/text_file.h"

#define TRIES 3	  /* a socket may be closed or not yet connected when it is looked at */
#define SOCKETS 4 /* at a time: the tables of sockets may be long. Others come next time */

struct most_awaited {
	uint64_t ns;
	int32_t fd;
};

static bool listens(const struct followed_thread *thread, const struct socket_waiters *waiters)
{
	for (size_t i = 0; i < waiters->count; i++)
		if (waiters->processes[i].pid == thread->for_pid &&
		    waiters->processes[i].start_ns == thread->for_start_ns)
			return waiters->processes[i].serves;
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

/*
 * The descriptor of the poll or select that the thread is in. Negative: it is in none, or waits for
 * several.
 */
static int32_t polled(const struct followed_thread *thread, struct memory_reader *memory)
{
	uint64_t number, arguments[6];
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/syscall", thread->who.tid);
	if (text_file__read("", path, text, sizeof(text)) ||
	    sscanf(text, "%" SCNu64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &number,
		   &arguments[0], &arguments[1], &arguments[2], &arguments[3]) != 5)
		return DESCRIPTOR_NONE;
	switch (system_call__of(number).form) {
	case CALL_POLL: return descriptor__of_poll(memory, thread->who.pid, arguments);
	case CALL_SELECT: return descriptor__of_select(memory, thread->who.pid, arguments);
	default: return DESCRIPTOR_NONE;
	}
}

/* A look at all threads. */
struct look {
	struct memory_reader *memory;
	unsigned int sockets; /* looked at */
};

static void look_at(struct look *look, struct followed_thread *thread, int32_t fd, bool is_polled)
{
	struct socket_wait *wait = &thread->socket;

	if (!wait->tries || wait->fd != fd)
		*wait = (struct socket_wait){.fd = fd, .is_polled = is_polled};
	if (wait->role != SOCKET_UNKNOWN || wait->tries == TRIES || look->sockets == SOCKETS)
		return;
	look->sockets++;
	wait->tries++;
	wait->role = socket_role__of(thread->who.pid, fd);
}

/*
 * The kernel's records have the descriptors of other calls than poll and select. A thread that is
 * in none of these now will be again.
 */
static void look_at_thread(struct look *look, struct followed_thread *thread,
			   const struct most_awaited *most, uint64_t waited_ns)
{
	bool is_polled = 2 * most->ns <= waited_ns;
	int32_t fd = is_polled ? polled(thread, look->memory) : most->fd;

	if (fd >= 0)
		look_at(look, thread, fd, is_polled);
	else if (fd == DESCRIPTORS_SOME || !thread->socket.is_polled)
		thread->socket = (struct socket_wait){0};
}

void socket_waits__look(struct followed_list *list, const struct partners *partners,
			const struct socket_waiters *waiters, struct memory_reader *memory)
{
	struct most_awaited most[HOST_THREADS] = {0};
	struct look look = {.memory = memory};

	find_most_awaited(list, partners, most);
	for (size_t i = 0; i < HOST_THREADS; i++) {
		struct followed_thread *thread = &list->threads[i];
		uint64_t waited_ns = list->profiles[i].ns[ACTIVITY_QUEUE][HOST_OUTSIDE];

		if (waited_ns && thread->used && thread->marked && thread->who.pid &&
		    listens(thread, waiters))
			look_at_thread(&look, thread, &most[i], waited_ns);
	}
}
