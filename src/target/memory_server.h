/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that reads other processes' memory for memory_reader.h, and the protocol between the
 * two.
 */
#ifndef TARGET_MEMORY_SERVER_H
#define TARGET_MEMORY_SERVER_H

#include <stdint.h>

#define MEMORY_PIECE 32768 /* maximum bytes of one request */

enum memory_request_kind {
	MEMORY_BYTES = 0,
	MEMORY_STRING,
	MEMORY_ENVIRONMENT /* /proc/PID/environ; `address` is the offset, 0 opens it again */
};

/* A request: one message of a SOCK_SEQPACKET. */
struct memory_request {
	uint64_t address;
	uint32_t size;
	int32_t pid;
	uint32_t kind;
	uint32_t unused;
};

/* An answer, also one message: the number of bytes read, which follow, or a negative errno. */
struct memory_answer {
	int64_t result;
	char data[MEMORY_PIECE];
};

/*
 * The main function of the forked process (base/server_process.h); it runs until the other end of
 * the socket is closed. It first unmaps BPF maps. It neither allocates memory nor takes locks.
 */
void memory_server__run(int socket) __attribute__((noreturn));

#endif
