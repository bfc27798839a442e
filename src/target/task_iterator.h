/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF iterators over the tasks of one process, or over one thread: Linux 6.1. */
#ifndef TARGET_TASK_ITERATOR_H
#define TARGET_TASK_ITERATOR_H

#include <bpf/libbpf.h>
#include <sys/types.h>

/*
 * Runs an iterator's program, which writes no output, over the threads of the process `pid`.
 * Returns 0 or a negative errno.
 */
int task_iterator__run(const struct bpf_program *program, pid_t pid);

/* The same over what the link is attached to. Returns 0 or a negative errno. */
int task_iterator__run_link(const struct bpf_link *link);

/*
 * Attaches an iterator's program for the process `pid`, or for the thread `tid` if `pid` is 0.
 * Returns NULL with errno set on failure.
 */
struct bpf_link *task_iterator__attach(const struct bpf_program *program, pid_t pid, pid_t tid);

#endif
