/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads threads as they are now, one at a time, by a BPF iterator (bpf/dump.bpf.c). It stops no
 * thread, and also reads stopped ones. Needs Linux 6.1.
 */
#ifndef DUMP_THREAD_READER_H
#define DUMP_THREAD_READER_H

#include <sys/types.h>

#include "base/error.h"
#include "gpuprobe/thread_look.h"

struct thread_reader;

/*
 * Loads the iterator. Returns 0, or a negative errno with the reason in `err`. Use the reader from
 * one thread.
 */
int thread_reader__new(struct thread_reader **out, struct error *err);
void thread_reader__free(struct thread_reader *reader); /* NULL ok */

/* Sets where the threads taken from now on have their Python frames; NULL: nowhere. */
void thread_reader__set_python(struct thread_reader *reader, const struct python_target *target);

/*
 * Takes the thread `tid` of process `pid`, both in gpuprobe's pid namespace. Returns its look with
 * .stack.pid set, which the caller frees. NULL if the thread has ended or now belongs to another
 * process, or if out of memory.
 */
struct thread_look *thread_reader__take(struct thread_reader *reader, pid_t pid, pid_t tid);

#endif
