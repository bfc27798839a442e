/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads as they are now, one at a time, by a BPF iterator (bpf/dump.bpf.c). None is stopped, and those that are stopped are
 * read as well. Linux 6.1.
 */
#ifndef DUMP_THREAD_READER_H
#define DUMP_THREAD_READER_H

#include <sys/types.h>

#include "base/error.h"
#include "gpuprobe/thread_look.h"

struct thread_reader;

/* Loads the iterator. Returns 0, or a negative errno with the reason in `err`. The reader is used from one thread. */
int thread_reader__new(struct thread_reader **out, struct error *err);
void thread_reader__free(struct thread_reader *reader); /* NULL ok */

/* Where the threads that are taken from now on have their Python frames; NULL: nowhere. */
void thread_reader__set_python(struct thread_reader *reader, const struct python_target *target);

/*
 * Takes the thread `tid` of process `pid`, both as gpuprobe's pid namespace has them. Returns its look, to be freed, with
 * .stack.pid set; NULL where it has ended, is of another process by now, or without memory.
 */
struct thread_look *thread_reader__take(struct thread_reader *reader, pid_t pid, pid_t tid);

#endif
