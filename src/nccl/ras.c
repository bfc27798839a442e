// SPDX-License-Identifier: BSD-2-Clause
// Asks the RAS services of watched processes, see ras.h.
#include "nccl/ras.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "nccl/ras_client.h"
#include "target/proc.h"
#include "target/text_file.h"

#define ENVIRONMENT_MAX (256u << 10) /* bytes of a process's variables that are looked at */
#define LINES_MAX 65536		     /* of a table of sockets */
#define STATE_LISTEN 0x0a
#define HOSTS_MAX 64 /* whose place is remembered; further ones count as other nodes */
#define HOST_SIZE 64

struct ras {
	struct event_base *loop;
	struct ras_connector *connector;
	struct memory_reader *memory;
	struct event *reply; /* of the connector */
	struct event *told;  /* the question has ended */
	/* the question */
	bool busy;
	pid_t pid;
	ras_fn done;
	void *arg;
	union ras_address addresses[RAS_ADDRESSES];
	size_t address_count, next; /* address to connect to */
	int failure;		    /* to connect */
	struct ras_client *client;
	/* its end */
	int ret;
	struct ras_answer *answer;
	struct error err;
	/* of the answer that is being taken over */
	pid_t asked;
	struct {
		char name[HOST_SIZE];
		bool is_local;
	} hosts[HOSTS_MAX];
	size_t host_count;
};

static void on_reply(evutil_socket_t fd, short what, void *arg);
static void on_told(evutil_socket_t fd, short what, void *arg);

struct ras *ras__new(struct event_base *loop, struct ras_connector *connector,
		     struct memory_reader *memory)
{
	struct ras *ras = calloc(1, sizeof(*ras));

	if (!ras)
		return NULL;
	ras->loop = loop;
	ras->connector = connector;
	ras->memory = memory;
	ras->reply = event_new(loop, ras_connector__fd(connector), EV_READ, on_reply, ras);
	ras->told = event_new(loop, -1, 0, on_told, ras);
	if (ras->reply && ras->told)
		return ras;
	ras__free(ras);
	return NULL;
}

void ras__free(struct ras *ras)
{
	if (!ras)
		return;
	ras_client__free(ras->client);
	if (ras->reply)
		event_free(ras->reply);
	if (ras->told)
		event_free(ras->told);
	ras_answer__free(ras->answer);
	free(ras);
}

/* --- where it listens --- */

/* The value of a variable in a block of them; NULL: it is not there as a whole. */
static const char *find_variable(const char *block, size_t length, const char *name)
{
	size_t name_length = strlen(name), used;

	for (size_t at = 0; at < length; at += used + 1) {
		used = strnlen(block + at, length - at);
		if (at + used < length && used > name_length && block[at + name_length] == '=' &&
		    !memcmp(block + at, name, name_length))
			return block + at + name_length + 1;
	}
	return NULL;
}

/* The addresses by the process's own variables. */
static size_t find_addresses(const struct ras *ras, pid_t pid,
			     union ras_address addresses[RAS_ADDRESSES])
{
	char *block = malloc(ENVIRONMENT_MAX);
	size_t length = 0, count;
	ssize_t got = block ? 1 : 0;

	while (got > 0 && length < ENVIRONMENT_MAX) {
		got = memory_reader__read_environment(ras->memory, pid, length, block + length,
						      ENVIRONMENT_MAX - length);
		length += got > 0 ? (size_t)got : 0;
	}
	count = ras_address__parse(length ? find_variable(block, length, "NCCL_RAS_ADDR") : NULL,
				   addresses);
	free(block);
	return count;
}

/* --- whose port it is --- */

/* A line as in target/listening.c. */
static bool is_others_port(const char *line, unsigned int port, uid_t uid)
{
	unsigned int state, its_port, its_uid;

	return sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*s %x %*s %*s %*s %u", &its_port, &state,
		      &its_uid) == 3 &&
	       state == STATE_LISTEN && its_port == port && its_uid != uid;
}

/*
 * Whoever has the port answers, and may lie about the jobs of other users. The kernel lets only
 * sockets of one user share a port.
 */
static int check_owner(pid_t pid, const union ras_address *address)
{
	char path[64], line[512];
	int ret = 0;
	uid_t uid;
	FILE *table;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid,
		 address->any.sa_family == AF_INET6 ? "tcp6" : "tcp");
	if (proc__user(pid, &uid))
		return -ESRCH;
	table = fopen(path, "re");
	if (!table)
		return -errno;
	for (unsigned int i = 0; i < LINES_MAX && !ret && fgets(line, sizeof(line), table); i++)
		if (is_others_port(line, ntohs(address->v4.sin_port), uid))
			ret = -EACCES;
	fclose(table);
	return ret;
}

/* --- questions --- */

static int explain(struct error *err, int ret, pid_t pid)
{
	const char *why = ret == -ECONNREFUSED	? "nothing listens: NCCL has no RAS service or is "
						  "older than 2.24" :
			  ret == -EACCES	? "the port belongs to another user" :
			  ret == -EDESTADDRREQ	? "its NCCL_RAS_ADDR is no numeric address" :
			  ret == -EADDRNOTAVAIL ? "its NCCL_RAS_ADDR is not an address of its own" :
						  strerror(-ret);

	return error__set(err, ret, "RAS of process %d: %s", (int)pid, why);
}

/* The owner hears of it when it is back in the loop. */
static void finish(struct ras *ras, int ret)
{
	ras->ret = ret;
	event_active(ras->told, EV_TIMEOUT, 0);
}

static void on_told(evutil_socket_t fd, short what, void *arg)
{
	struct ras *ras = arg;
	struct ras_answer *answer = ras->answer;
	const struct error err = ras->err;

	(void)fd, (void)what;
	ras_client__free(ras->client);
	ras->client = NULL;
	ras->answer = NULL;
	ras->busy = false;
	ras->done(ras->arg, ras->ret, answer, &err);
	ras_answer__free(answer);
}

static void on_answered(void *arg, int ret, char *text, size_t length, const struct error *err)
{
	struct ras *ras = arg;

	ras->err = *err;
	if (!ret)
		ret = ras_answer__read(text, length, &ras->answer, &ras->err);
	finish(ras, ret ? error__prefix(&ras->err, ret, "process %d", (int)ras->pid) : 0);
}

/* Begins to connect to the next address that may be asked. */
static void connect_next(struct ras *ras)
{
	const struct timeval end = {.tv_sec = RAS_CONNECT_SECONDS};

	while (ras->next < ras->address_count) {
		const union ras_address *address = &ras->addresses[ras->next++];

		ras->failure = check_owner(ras->pid, address);
		if (!ras->failure)
			ras->failure = ras_connector__begin(ras->connector, ras->pid, address);
		if (!ras->failure && event_add(ras->reply, &end))
			ras->failure = -ENOMEM;
		if (!ras->failure)
			return;
	}
	finish(ras, explain(&ras->err, ras->failure, ras->pid));
}

static void on_reply(evutil_socket_t fd, short what, void *arg)
{
	struct ras *ras = arg;
	int socket = -ETIMEDOUT;

	(void)fd;
	if (what & EV_TIMEOUT)
		ras_connector__give_up(ras->connector);
	else
		socket = ras_connector__take(ras->connector);
	if (socket < 0) {
		ras->failure = socket;
		connect_next(ras);
		return;
	}
	ras->client = ras_client__new(ras->loop, socket, RAS_TIMEOUT_NS, on_answered, ras);
	if (!ras->client)
		finish(ras, explain(&ras->err, -ENOMEM, ras->pid));
}

void ras__ask(struct ras *ras, pid_t pid, ras_fn done, void *arg)
{
	ras->busy = true;
	ras->pid = pid;
	ras->done = done;
	ras->arg = arg;
	ras->err = (struct error){""};
	ras->address_count = find_addresses(ras, pid, ras->addresses);
	ras->next = 0;
	ras->failure = -EDESTADDRREQ;
	connect_next(ras);
}

bool ras__is_busy(const struct ras *ras)
{
	return ras->busy;
}

/* --- communicators --- */

/* A hostile answer may have any number of hosts: each takes a request. */
static bool is_local(const char *host, void *arg)
{
	struct ras *ras = arg;
	union ras_address address;
	size_t place = ras->host_count;

	for (size_t i = 0; i < ras->host_count; i++)
		if (!strcmp(ras->hosts[i].name, host))
			return ras->hosts[i].is_local;
	if (place == HOSTS_MAX || strlen(host) >= HOST_SIZE)
		return false;
	memcpy(ras->hosts[place].name, host, strlen(host) + 1);
	ras->hosts[place].is_local = ras_address__of_host(host, &address) &&
				     ras_connector__is_local(ras->connector, ras->asked, &address);
	ras->host_count++;
	return ras->hosts[place].is_local;
}

static unsigned long network_of(pid_t pid)
{
	char path[64];

	proc__path(pid, "ns/net", path, sizeof(path));
	return text_file__namespace("", path);
}

/* The processes that share the service of `asked`. */
static int find_sharing(const struct nccl_process_key *asked, const struct nccl_process_key *keys,
			size_t count, struct ras_process **processes, size_t *process_count)
{
	unsigned long network = network_of(asked->pid);

	*processes = NULL;
	*process_count = 0;
	for (size_t i = 0; i < count; i++) {
		int depth = proc__depth(keys[i].pid);
		struct ras_process process = {.key = keys[i]};

		if (depth < 0 || keys[i].uid != asked->uid || network_of(keys[i].pid) != network)
			continue;
		process.inner_pid =
			depth ? proc__pid_below(keys[i].pid, (unsigned int)depth) : keys[i].pid;
		if (process.inner_pid && ARRAY_APPEND(*processes, *process_count, process))
			return -ENOMEM;
	}
	return 0;
}

size_t ras__identify(struct ras *ras, struct nccl_jobs *jobs, const struct nccl_process_key *asked,
		     const struct ras_answer *answer, const struct nccl_process_key *keys,
		     size_t count, uint64_t now_ns)
{
	struct ras_process *processes = NULL;
	size_t process_count, found = 0;

	ras->asked = asked->pid;
	ras->host_count = 0;
	if (!find_sharing(asked, keys, count, &processes, &process_count))
		found = ras_facts__identify(jobs, answer, processes, process_count, is_local, ras,
					    now_ns);
	free(processes);
	return found;
}
