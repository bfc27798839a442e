/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process whose threads call CUDA, as gpuprobe's BPF program sees it (program.h). Each call is
 * made by its function's name, with registers and stack as the function's row in the API table
 * describes. Calls of several threads may overlap in any way. The idle times that the program
 * proves are kept.
 *
 * The process is seen from its start. It has one context on device 0, which its threads make
 * current before their first call.
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
	/* For ROLE_OUT, and for ROLE_CTX if the function writes one: the value written. */
	uint64_t value;
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

/*
 * Begins at `now_ns`, with `context` as the primary context of device 0 (0: WATCHED_CONTEXT). One
 * at a time.
 */
struct watched *watched__new(uint64_t now_ns, uint64_t context);
void watched__free(struct watched *watched);

/*
 * The process's thread with this id; owned by the process. A new one makes the context current,
 * just before `first_ns`.
 */
struct watched_thread *watched__thread(struct watched *watched, int tid, uint64_t first_ns);

/*
 * A call enters, or the thread's innermost call returns with this result. A ROLE_CONFIG has the
 * stream of ROLE_STREAM.
 */
void watched__enter(struct watched_thread *thread, uint64_t ns, const struct watched_call *call);
void watched__return(struct watched_thread *thread, uint64_t ns, int32_t result);

/* The same, but `meanwhile` runs after the program has read the time of the return. */
void watched__return_late(struct watched_thread *thread, uint64_t ns, int32_t result,
			  void (*meanwhile)(void *arg), void *arg);

/* The thread exits; it must not be used afterwards. */
void watched__thread_ends(struct watched_thread *thread, uint64_t ns);

/*
 * The idle times proved so far, `*count` of them in the order of their ends; owned by the process.
 */
const struct idle_time *watched__idle(struct watched *watched, size_t *count);

/* The program's profile of the process. */
struct process_profile *watched__profile(void);

#endif
