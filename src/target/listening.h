/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a process is a server: it has a socket that listens, of TCP or of Unix. */
#ifndef TARGET_LISTENING_H
#define TARGET_LISTENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define LISTENING_MAX 256     /* listening sockets of its network namespace that are looked at */
#define LISTENING_LINES 65536 /* of /proc/PID/net/tcp and the like */
#define LISTENING_FILES 4096  /* of its open files */

/* By /proc. Whatever cannot be read is no socket that listens. */
bool listening__of(pid_t pid);

/*
 * Adds the inodes of sockets that listen, by the lines of a /proc/PID/net/tcp or unix; at most `most` in all. Returns how many there
 * are then.
 */
size_t listening__parse(FILE *table, unsigned long inodes[], size_t count, size_t most);

#endif
