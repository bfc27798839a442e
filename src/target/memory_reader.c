// SPDX-License-Identifier: BSD-2-Clause
// Reads the memory of processes that may be hostile; see memory_reader.h.
#include "target/memory_reader.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/server_process.h"
#include "target/memory_server.h"
#include "target/proc.h"
#include "target/process_memory.h"

#define ANSWER_NS (200 * NS_PER_MS)
/*
 * A wait is checked this often. Shorter waits do not count, because on a busy machine any process
 * may cause them.
 */
#define STEP_NS (10 * NS_PER_MS)
/*
 * The most that one check counts. On a busy machine gpuprobe itself checks late, and the reader may
 * have lacked a CPU until just before.
 */
#define CHECK_NS (2 * STEP_NS)
/* Checks at which the reader has no CPU. gpuprobe has one each time, so the reader's turn comes. */
#define CPU_CHECKS 100
#define PERIOD_NS (60 * NS_PER_S)
#define PROCESS_NS (400 * NS_PER_MS) /* maximum wait for one process in that time */
#define WHOLE_NS (1600 * NS_PER_MS)  /* for all of them */
#define SLOW_MAX 64
#define GIVEN_UP_MAX 8
#define END_NS (100 * NS_PER_MS)
#define END_STEP_NS 200000
#define STARTS 2 /* for one request: the process may have been killed meanwhile */

/* The time waited since begin_ns. */
struct profile {
	uint64_t begin_ns;
	uint64_t waited_ns;
};

/* A process that kept the reader waiting. */
struct slow_process {
	pid_t pid; /* 0 if the entry is unused */
	uint64_t start_ns;
	struct profile profile;
	bool reported;
	uint64_t until_ns; /* do not read it before */
};

struct memory_reader {
	const struct log *log;
	pid_t child; /* 0 if there is none */
	int socket;
	pid_t given_up[GIVEN_UP_MAX]; /* killed, but perhaps still waiting in the kernel */
	size_t given_up_count;
	struct profile profile; /* for all processes */
	uint64_t until_ns;	/* read no process before */
	struct slow_process slow[SLOW_MAX];
	size_t slow_count; /* so far: the oldest entry is replaced */
};

struct memory_reader *memory_reader__new(const struct log *log)
{
	struct memory_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader->log = log;
	return reader;
}

/* --- its process --- */

static void reap(struct memory_reader *reader)
{
	for (size_t i = reader->given_up_count; i--;) {
		if (!waitpid(reader->given_up[i], NULL, WNOHANG))
			continue;
		reader->given_up[i] = reader->given_up[--reader->given_up_count];
	}
}

/* start() has made sure that there is room in the list. */
static void give_up(struct memory_reader *reader)
{
	if (!reader->child)
		return;
	kill(reader->child, SIGKILL);
	close(reader->socket);
	reader->given_up[reader->given_up_count++] = reader->child;
	reader->child = 0;
}

void memory_reader__free(struct memory_reader *reader)
{
	const struct timespec step = {.tv_nsec = END_STEP_NS};
	uint64_t end = clock__boot_ns() + END_NS;

	if (!reader)
		return;
	give_up(reader);
	reap(reader);
	while (reader->given_up_count && clock__boot_ns() < end) {
		nanosleep(&step, NULL);
		reap(reader);
	}
	free(reader);
}

static int start(struct memory_reader *reader)
{
	const struct timeval limit = {.tv_usec = STEP_NS / 1000};
	int ret;

	reap(reader);
	if (reader->given_up_count == GIVEN_UP_MAX)
		return -EAGAIN;
	ret = server_process__start("gpuprobe-reader", memory_server__run, &reader->child,
				    &reader->socket);
	if (ret)
		return ret;
	if (!setsockopt(reader->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		return 0;
	ret = -errno;
	give_up(reader);
	return ret;
}

/* --- those that do not answer, or late --- */

static struct slow_process *find_slow(struct memory_reader *reader, pid_t pid)
{
	size_t count = reader->slow_count < SLOW_MAX ? reader->slow_count : SLOW_MAX;
	struct process_info info;

	for (size_t i = 0; i < count; i++) {
		struct slow_process *slow = &reader->slow[i];

		if (slow->pid != pid)
			continue;
		if (!proc__info(pid, &info) && info.start_ns == slow->start_ns)
			return slow;
		slow->pid = 0; /* another process has its pid, if any */
	}
	return NULL;
}

/* Returns NULL if the process is gone. */
static struct slow_process *find_or_add_slow(struct memory_reader *reader, pid_t pid)
{
	struct slow_process *slow = find_slow(reader, pid);
	struct process_info info;

	if (slow || proc__info(pid, &info))
		return slow;
	slow = &reader->slow[reader->slow_count++ % SLOW_MAX];
	*slow = (struct slow_process){.pid = pid, .start_ns = info.start_ns};
	return slow;
}

static bool is_silent(struct memory_reader *reader, pid_t pid)
{
	const struct slow_process *slow = find_slow(reader, pid);

	return slow && clock__boot_ns() < slow->until_ns;
}

/* Many slow processes together would block a caller that reads them all. */
static bool has_waited_enough(const struct memory_reader *reader)
{
	return clock__boot_ns() < reader->until_ns;
}

/*
 * Adds a wait. Returns until when no more may be waited; 0 if some allowance is left. A new profile
 * begins after that.
 */
static uint64_t add_wait(struct profile *profile, uint64_t waited_ns, uint64_t max_ns)
{
	uint64_t now = clock__boot_ns();

	if (now >= profile->begin_ns + PERIOD_NS)
		*profile = (struct profile){.begin_ns = now};
	profile->waited_ns += waited_ns;
	if (profile->waited_ns < max_ns)
		return 0;
	*profile = (struct profile){.begin_ns = 0};
	return now + PERIOD_NS;
}

/* `answered`: it answered, but late. */
static void note_wait(struct memory_reader *reader, pid_t pid, uint64_t waited_ns, bool answered)
{
	uint64_t until_ns = add_wait(&reader->profile, waited_ns, WHOLE_NS);
	struct slow_process *slow = find_or_add_slow(reader, pid);

	if (until_ns)
		reader->until_ns = until_ns;
	if (!slow)
		return;
	until_ns = add_wait(&slow->profile, waited_ns, answered ? PROCESS_NS : 0);
	if (!until_ns)
		return;
	slow->until_ns = until_ns;
	if (!slow->reported)
		log__warn(reader->log, "process %d: its memory %s: gpuprobe reads no names from it",
			  (int)pid, answered ? "answers late" : "does not answer");
	slow->reported = true;
}

/* --- requests --- */

/* On a busy machine the reader itself may not have had a CPU yet. */
static bool waits_for_cpu(const struct memory_reader *reader)
{
	struct process_info info;

	return !proc__info(reader->child, &info) && info.state == 'R';
}

/*
 * Returns the number of bytes received; 0 if the reader is gone; -ETIMEDOUT. Adds the time not
 * spent waiting for a CPU to `waited_ns`.
 */
static ssize_t receive(struct memory_reader *reader, struct msghdr *message, uint64_t *waited_ns)
{
	uint64_t before = clock__boot_ns();

	for (int without_cpu = 0; without_cpu < CPU_CHECKS && *waited_ns < ANSWER_NS;) {
		ssize_t n = recvmsg(reader->socket, message, 0);
		uint64_t now;

		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return 0;
		now = clock__boot_ns();
		if (waits_for_cpu(reader))
			without_cpu++;
		else
			*waited_ns += now - before < CHECK_NS ? now - before : CHECK_NS;
		before = now;
	}
	return -ETIMEDOUT;
}

/* Returns -EPIPE if the reader was killed, -ETIMEDOUT, or 0 with its answer. */
static int exchange(struct memory_reader *reader, const struct memory_request *request,
		    void *buffer, int64_t *result, uint64_t *waited_ns)
{
	struct iovec parts[] = {
		{.iov_base = result, .iov_len = sizeof(*result)},
		{.iov_base = buffer, .iov_len = request->size},
	};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t n;

	if (send(reader->socket, request, sizeof(*request), MSG_NOSIGNAL) < 0)
		return -EPIPE;
	n = receive(reader, &message, waited_ns);
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)sizeof(*result))
		return -EPIPE;
	return *result > 0 && n != (ssize_t)sizeof(*result) + *result ? -EPIPE : 0;
}

/* Returns the number of bytes, or a negative errno. */
static int64_t ask(struct memory_reader *reader, const struct memory_request *request, void *buffer)
{
	uint64_t waited_ns = 0;
	int64_t result;
	int ret = -EPIPE;

	if (is_silent(reader, request->pid))
		return -ETIMEDOUT;
	if (has_waited_enough(reader))
		return -EAGAIN;
	for (int i = 0; i < STARTS && ret == -EPIPE; i++) {
		ret = reader->child ? 0 : start(reader);
		if (ret)
			return ret;
		ret = exchange(reader, request, buffer, &result, &waited_ns);
		if (ret)
			give_up(reader);
	}
	if (ret == -ETIMEDOUT)
		note_wait(reader, request->pid, ANSWER_NS, false);
	else if (waited_ns)
		note_wait(reader, request->pid, waited_ns, true);
	return ret ? ret : result;
}

static struct memory_request request_of(uint32_t kind, pid_t pid, uint64_t address, size_t size)
{
	return (struct memory_request){
		.kind = kind,
		.pid = pid,
		.address = address,
		.size = size < MEMORY_PIECE ? (uint32_t)size : MEMORY_PIECE,
	};
}

int memory_reader__read(struct memory_reader *reader, pid_t pid, uint64_t address, void *buffer,
			size_t size)
{
	char *at = buffer;

	if (!reader)
		return process_memory__read(pid, address, buffer, size);
	while (size) {
		const struct memory_request request = request_of(MEMORY_BYTES, pid, address, size);
		int64_t ret = ask(reader, &request, at);

		if (ret < 0)
			return (int)ret;
		at += request.size;
		address += request.size;
		size -= request.size;
	}
	return 0;
}

int memory_reader__read_string(struct memory_reader *reader, pid_t pid, uint64_t address,
			       char *buffer, size_t size)
{
	const struct memory_request request = request_of(MEMORY_STRING, pid, address, size);
	int64_t ret;

	if (!reader)
		return process_memory__read_string(pid, address, buffer, size);
	ret = ask(reader, &request, buffer);
	return ret < 0 ? (int)ret : 0;
}

ssize_t memory_reader__read_environment(struct memory_reader *reader, pid_t pid, uint64_t offset,
					void *buffer, size_t size)
{
	const struct memory_request request = request_of(MEMORY_ENVIRONMENT, pid, offset, size);

	return (ssize_t)ask(reader, &request, buffer);
}
