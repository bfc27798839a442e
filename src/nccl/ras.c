// SPDX-License-Identifier: BSD-2-Clause
// Asks the RAS services of watched processes, see ras.h.
#include "nccl/ras.h"

#include <errno.h>
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
	struct ras_connector *connector;
	struct memory_reader *memory;
	const struct log *log;
	/* of the question that is being answered */
	pid_t asked;
	struct {
		char name[HOST_SIZE];
		bool is_local;
	} hosts[HOSTS_MAX];
	size_t host_count;
};

struct ras *ras__new(struct ras_connector *connector, struct memory_reader *memory,
		     const struct log *log)
{
	struct ras *ras = calloc(1, sizeof(*ras));

	if (!ras)
		return NULL;
	ras->connector = connector;
	ras->memory = memory;
	ras->log = log;
	return ras;
}

void ras__free(struct ras *ras)
{
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

/* A connected socket or a negative errno. */
static int connect_to(const struct ras *ras, pid_t pid)
{
	union ras_address addresses[RAS_ADDRESSES];
	size_t count = find_addresses(ras, pid, addresses);
	int fd = -EDESTADDRREQ;

	for (size_t i = 0; i < count; i++) {
		fd = check_owner(pid, &addresses[i]);
		if (!fd)
			fd = ras_connector__connect(ras->connector, pid, &addresses[i]);
		if (fd >= 0)
			break;
	}
	return fd;
}

int ras__ask(struct ras *ras, pid_t pid, struct ras_answer **answer, struct error *err)
{
	size_t length;
	char *text;
	int fd = connect_to(ras, pid), ret;

	if (fd < 0)
		return explain(err, fd, pid);
	ret = ras_client__ask(fd, RAS_TIMEOUT_NS, &text, &length, err);
	close(fd);
	if (!ret)
		ret = ras_answer__read(text, length, answer, err);
	return ret ? error__prefix(err, ret, "process %d", (int)pid) : 0;
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

/* Whether something about the process is still unknown. */
static bool has_unknown(const struct nccl_jobs *jobs, const struct nccl_process_key *key)
{
	const struct nccl_comm *comm = NULL;

	while ((comm = nccl_jobs__next(jobs, comm))) {
		const struct nccl_rank *rank = comm->known ? NULL : nccl_comm__rank(comm, 0);

		if (rank && rank->state < NCCL_RANK_DESTROYED &&
		    rank->process->key.pid == key->pid &&
		    rank->process->key.start_ns == key->start_ns)
			return true;
	}
	return false;
}

/* Asks by one process, and takes over what the answer says about all that share its service. */
static int identify_by(struct ras *ras, struct nccl_jobs *jobs,
		       const struct nccl_process_key *asked, const struct nccl_process_key *keys,
		       size_t count, uint64_t now_ns, size_t *found)
{
	struct ras_process *processes = NULL;
	struct ras_answer *answer = NULL;
	size_t process_count;
	struct error err;
	int ret;

	ras->asked = asked->pid;
	ras->host_count = 0;
	ret = ras__ask(ras, asked->pid, &answer, &err);
	if (ret)
		log__warn(ras->log, "%s", err.text);
	else if (!find_sharing(asked, keys, count, &processes, &process_count))
		*found += ras_facts__identify(jobs, answer, processes, process_count, is_local, ras,
					      now_ns);
	free(processes);
	ras_answer__free(answer);
	return ret;
}

size_t ras__identify(struct ras *ras, struct nccl_jobs *jobs, const struct nccl_process_key *keys,
		     size_t count, uint64_t now_ns)
{
	unsigned int questions = 0;
	size_t found = 0;

	for (size_t i = 0; i < count && questions < RAS_QUESTIONS_MAX; i++) {
		if (!has_unknown(jobs, &keys[i]))
			continue;
		questions++;
		/* Others would cost as much time. */
		if (identify_by(ras, jobs, &keys[i], keys, count, now_ns, &found) == -ETIMEDOUT)
			break;
	}
	return found;
}
