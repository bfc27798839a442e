/* SPDX-License-Identifier: BSD-2-Clause */
/* The names that threads have now, for the writer and the reader of calls (record/calls.h). */
#ifndef RECORD_THREAD_NAMES_H
#define RECORD_THREAD_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define THREAD_NAMES_MAX 65536u

struct named_thread;

struct thread_names {
	struct named_thread *threads;
};

void thread_names__clear(struct thread_names *names);
size_t thread_names__count(const struct thread_names *names);

/* The name of a thread of the process with that number; "" if it has none. */
const char *thread_names__of(const struct thread_names *names, uint32_t process, pid_t tid);

/*
 * Gives a thread a name, of which at most COMM_SIZE - 1 bytes are kept. Returns 1, 0 if it has this
 * name already, -E2BIG if there are THREAD_NAMES_MAX, or -ENOMEM.
 */
int thread_names__set(struct thread_names *names, uint32_t process, pid_t tid, const char *name,
		      size_t length);

#endif
