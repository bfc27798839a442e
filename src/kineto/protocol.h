/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The messages between Kineto, PyTorch's profiler, and a daemon that asks it for traces: datagrams
 * of a Unix socket with an abstract name. Each has a size, a type of 32 bytes, and a content.
 * Kineto tells the daemon at its start which GPU it has ("ctxt"), and then asks every few seconds
 * what it is to do ("req"). It waits 90 ms for an answer.
 */
#ifndef KINETO_PROTOCOL_H
#define KINETO_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The daemon's name, with the NUL that Kineto sends as part of it. */
#define KINETO_DAEMON_NAME "dynolog"

#define KINETO_DATAGRAM_MAX 8192
#define KINETO_WARMUP_S 1 /* Kineto records for so long before what it keeps */

enum kineto_question {
	KINETO_NO_QUESTION = 0, /* none that is known, or a damaged one */
	KINETO_CONTEXT,		/* a process that uses Kineto has started */
	KINETO_REQUEST,		/* what is to be done? */
};

/*
 * Reads a datagram of `size` bytes. `*idle` is whether the profiler of the process could begin a
 * trace; the rest of the content, such as pids, is the sender's word alone and is ignored.
 */
enum kineto_question kineto_protocol__read(const void *datagram, size_t size, bool *idle);

/*
 * Writes the answer, at most KINETO_DATAGRAM_MAX bytes, and returns its size. `configuration` is
 * what the process is to do, "" for nothing; for KINETO_CONTEXT it is ignored.
 */
size_t kineto_protocol__answer(enum kineto_question question, const char *configuration,
			       void *datagram);

/*
 * Writes the configuration for a trace of the work of GPUs in the next `duration_ms` to the file
 * `path`, which kineto_protocol__takes_path has accepted. Returns 0, or -ENAMETOOLONG.
 */
int kineto_protocol__configure(const char *path, uint64_t duration_ms, char *text, size_t size);

/*
 * Whether a configuration can name this file so that Kineto writes it and no other: Kineto cuts
 * comments and blanks off, changes names that contain ".json", and refuses "..".
 */
bool kineto_protocol__takes_path(const char *path);

#endif
