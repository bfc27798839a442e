// SPDX-License-Identifier: BSD-2-Clause
/*
 * Roles of sockets; see socket_role.h. An accepted TCP socket has the port of the listening one,
 * and an accepted Unix socket has its name.
 */
#include "target/socket_role.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define STATE_LISTEN 0x0a /* TCP_LISTEN, include/net/tcp_states.h */
#define LINE_SIZE 512
#define INFO_LINES 4096 /* lines read of an epoll's fdinfo */

struct ports {
	unsigned int items[SOCKET_ROLE_PORTS];
	size_t count;
	bool more; /* there are more than that */
};

struct sockets {
	unsigned long inodes[SOCKET_ROLE_SOCKETS];
	size_t count;
};

/* --- lines of the tables --- */

struct tcp_line {
	unsigned int port, state; /* of this side */
	unsigned long inode;
};

/*
 * A line is "sl: local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout
 * inode" (Documentation/networking/proc_net_tcp.rst).
 */
static bool parse_tcp(const char *line, struct tcp_line *tcp)
{
	return sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*s %x %*s %*s %*s %*u %*u %lu", &tcp->port,
		      &tcp->state, &tcp->inode) == 3;
}

/*
 * A line is "Num: RefCount Protocol Flags Type St Inode Path", the path only for a named socket
 * (unix_seq_show of net/unix/af_unix.c).
 */
static bool is_named_unix(const char *line, unsigned long *inode)
{
	char first;

	return sscanf(line, "%*x: %*x %*x %*x %*x %*x %lu %c", inode, &first) == 2;
}

static void note_port(const char *line, struct ports *ports)
{
	struct tcp_line tcp;

	if (!parse_tcp(line, &tcp) || tcp.state != STATE_LISTEN)
		return;
	if (ports->count < SOCKET_ROLE_PORTS)
		ports->items[ports->count++] = tcp.port;
	else
		ports->more = true;
}

static bool has_port(const struct ports *ports, unsigned int port)
{
	for (size_t i = 0; i < ports->count; i++)
		if (ports->items[i] == port)
			return true;
	return false;
}

static bool has_inode(const unsigned long inodes[], size_t count, unsigned long inode)
{
	for (size_t i = 0; i < count; i++)
		if (inodes[i] == inode)
			return true;
	return false;
}

static enum socket_role role_of_line(const char *line, const struct ports *ports,
				     const unsigned long inodes[], size_t count)
{
	unsigned long inode;
	struct tcp_line tcp;

	if (parse_tcp(line, &tcp) && has_inode(inodes, count, tcp.inode)) {
		if (has_port(ports, tcp.port))
			return SOCKET_SERVES;
		return ports->more ? SOCKET_UNKNOWN : SOCKET_ASKS;
	}
	return is_named_unix(line, &inode) && has_inode(inodes, count, inode) ? SOCKET_SERVES :
										SOCKET_UNKNOWN;
}

enum socket_role socket_role__from_tables(FILE *const tables[], size_t table_count,
					  const unsigned long inodes[], size_t count)
{
	enum socket_role role = SOCKET_UNKNOWN;
	struct ports ports = {.count = 0};
	char line[LINE_SIZE];

	for (size_t i = 0; i < table_count; i++)
		for (int n = 0;
		     tables[i] && n < SOCKET_ROLE_LINES && fgets(line, sizeof(line), tables[i]);
		     n++)
			note_port(line, &ports);
	for (size_t i = 0; i < table_count; i++) {
		if (!tables[i])
			continue;
		rewind(tables[i]);
		for (int n = 0; role != SOCKET_SERVES && n < SOCKET_ROLE_LINES &&
				fgets(line, sizeof(line), tables[i]);
		     n++) {
			enum socket_role one = role_of_line(line, &ports, inodes, count);

			role = one == SOCKET_UNKNOWN ? role : one;
		}
	}
	return role;
}

/* --- the process's files --- */

/* What the descriptor refers to, as /proc names it: "socket:[4711]". */
static void read_name(pid_t pid, int fd, char name[static 64])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	n = readlink(path, name, 63);
	name[n > 0 ? n : 0] = '\0';
}

static void add_socket(const char *name, struct sockets *sockets)
{
	unsigned long inode;

	if (sockets->count < SOCKET_ROLE_SOCKETS && sscanf(name, "socket:[%lu]", &inode) == 1)
		sockets->inodes[sockets->count++] = inode;
}

/* Lines of an epoll's fdinfo are "tfd: 5 events: ..." (proc_pid_fdinfo(5)). */
static void add_sockets_of_epoll(pid_t pid, int fd, struct sockets *sockets)
{
	char path[64], line[LINE_SIZE], name[64];
	FILE *info;
	int watched;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, fd);
	info = fopen(path, "re");
	if (!info)
		return;
	for (int n = 0; n < INFO_LINES && fgets(line, sizeof(line), info); n++) {
		if (sscanf(line, "tfd: %d", &watched) != 1)
			continue;
		read_name(pid, watched, name);
		add_socket(name, sockets);
	}
	fclose(info);
}

enum socket_role socket_role__of(pid_t pid, int fd)
{
	static const char *const names[] = {"tcp", "tcp6", "unix"};
	FILE *tables[sizeof(names) / sizeof(*names)] = {NULL};
	struct sockets sockets = {.count = 0};
	enum socket_role role = SOCKET_UNKNOWN;
	char name[64], path[64];

	read_name(pid, fd, name);
	if (!strcmp(name, "anon_inode:[eventpoll]"))
		add_sockets_of_epoll(pid, fd, &sockets);
	else
		add_socket(name, &sockets);
	if (!sockets.count)
		return SOCKET_UNKNOWN;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, names[i]);
		tables[i] = fopen(path, "re");
	}
	role = socket_role__from_tables(tables, sizeof(names) / sizeof(*names), sockets.inodes,
					sockets.count);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (tables[i])
			fclose(tables[i]);
	return role;
}
