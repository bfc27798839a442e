/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process whose threads call CUDA, as gpuprobe's BPF program sees it (program.h): each call by the name of its function,
 * with registers and stack as the function's row in the API table has them. Calls of several threads may overlap as a test
 * wants it. The idle times that the program proves are kept.
 *
 * The process is seen from its start. It has one context on device 0, which its threads make current before their first call.
 */
#ifndef TESTS_BPF_WATCHED_H
#define TESTS_BPF_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program.h"

#define WATCHED_PID 4000
#define WATCHED_CONTEXT 0xc0de0000

struct watched;
struct watched_thread;

struct call_argument {
	enum role role;
	uint64_t value; /* of ROLE_OUT, and of ROLE_CTX where the function writes one: what it writes */
};

struct watched_call {
	uint16_t row;
	uint16_t count; /* of `arguments` */
	struct call_argument arguments[6];
};

struct idle_time {
	uint64_t begin_ns, end_ns;
	uint32_t device;
};

/* Begins at `now_ns`, with `context` as the primary context of device 0, 0: WATCHED_CONTEXT. One at a time. */
struct watched *watched__new(uint64_t now_ns, uint64_t context);
void watched__free(struct watched *watched);

/* The process's thread of that id, the process's own. A new one makes the context current, just before `first_ns`. */
struct watched_thread *watched__thread(struct watched *watched, int tid, uint64_t first_ns);

/* A call enters, or the thread's innermost one returns with that result. A ROLE_CONFIG has the stream of ROLE_STREAM. */
void watched__enter(struct watched_thread *thread, uint64_t ns, const struct watched_call *call);
void watched__return(struct watched_thread *thread, uint64_t ns, int32_t result);

/* The same, but what `meanwhile` does happens once the program has taken the time of the return. */
void watched__return_late(struct watched_thread *thread, uint64_t ns, int32_t result, void (*meanwhile)(void *arg), void *arg);

/* The thread exits; it is not to be used any more. */
void watched__thread_ends(struct watched_thread *thread, uint64_t ns);

/* The idle times that were proved so far, `*count` of them in the order of their ends; the process's own. */
const struct idle_time *watched__idle(struct watched *watched, size_t *count);

/* What the program keeps of the process. */
struct process_profile *watched__profile(void);

#endif
