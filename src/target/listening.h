/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a process is a server: it has a TCP or Unix socket that listens. */
#ifndef TARGET_LISTENING_H
#define TARGET_LISTENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define LISTENING_MAX 256     /* listening sockets of its network namespace that are remembered */
#define LISTENING_LINES 65536 /* lines read of /proc/PID/net/tcp and the like */
#define LISTENING_FILES 4096  /* open files of the process that are checked */

/* Reads /proc. Sockets and files that cannot be read do not count. */
bool listening__of(pid_t pid);

/*
 * Adds the inodes of listening sockets from the lines of a /proc/PID/net/tcp or unix, at most
 * `most` in total. Returns the new count.
 */
size_t listening__parse(FILE *table, unsigned long inodes[], size_t count, size_t most);

#endif
