/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a process waits for others' requests at a socket, or for an answer to its own: a socket
 * that listens or was accepted, or one that the process connected.
 */
#ifndef TARGET_SOCKET_ROLE_H
#define TARGET_SOCKET_ROLE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define SOCKET_ROLE_LINES 65536 /* lines read of each table */
#define SOCKET_ROLE_PORTS 256	/* listening ports that are remembered */
#define SOCKET_ROLE_SOCKETS 64	/* sockets of an epoll that are looked at */

enum socket_role {
	SOCKET_UNKNOWN = 0, /* no socket, or one of a pair, or it cannot be told */
	SOCKET_SERVES,	    /* it listens or was accepted */
	SOCKET_ASKS,	    /* TCP: the process connected it */
};

/*
 * The role of the process's file `fd`. For an epoll: SOCKET_SERVES if one of its sockets serves.
 * Reads /proc; what cannot be read is unknown.
 */
enum socket_role socket_role__of(pid_t pid, int fd);

/*
 * The same for sockets by their inodes, from the tables /proc/PID/net/tcp, tcp6 and unix. Tables
 * may be NULL; each is read twice.
 */
enum socket_role socket_role__from_tables(FILE *const tables[], size_t table_count,
					  const unsigned long inodes[], size_t count);

#endif
