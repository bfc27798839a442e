/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that reads other processes' memory for a memory_reader.h, and what the two say to each other. */
#ifndef TARGET_MEMORY_SERVER_H
#define TARGET_MEMORY_SERVER_H

#include <stdint.h>

#define MEMORY_PIECE 32768 /* bytes that one request asks for at most */

enum memory_request_kind {
	MEMORY_BYTES = 0,
	MEMORY_STRING,
	MEMORY_ENVIRONMENT /* of /proc/PID/environ; `address` is the offset, 0 opens it anew */
};

/* A message of a SOCK_SEQPACKET. */
struct memory_request {
	uint64_t address;
	uint32_t size;
	int32_t pid;
	uint32_t kind;
	uint32_t unused;
};

/* Another: how many bytes were read, which follow, or a negative errno. */
struct memory_answer {
	int64_t result;
	char data[MEMORY_PIECE];
};

/*
 * What the forked process does until the other end of the socket is closed. It has nothing else open by then, no BPF
 * map mapped, and can be ended by SIGKILL alone, which it is to have blocked all other signals for. Nothing in it
 * allocates or takes a lock.
 */
void memory_server__run(int socket) __attribute__((noreturn));

#endif
