/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF iterators over tasks that go over one thread, or the threads of one process, alone: Linux 6.1. */
#ifndef TARGET_TASK_ITERATOR_H
#define TARGET_TASK_ITERATOR_H

#include <bpf/libbpf.h>
#include <sys/types.h>

/* Runs an iterator's program, which writes nothing, over the threads of the process `pid`. Returns 0 or a negative errno. */
int task_iterator__run(const struct bpf_program *program, pid_t pid);

/* The same over what it is attached to. Returns 0 or a negative errno. */
int task_iterator__run_link(const struct bpf_link *link);

/* Attaches an iterator's program for the process `pid`, or for the thread `tid` where `pid` is 0. NULL with errno set. */
struct bpf_link *task_iterator__attach(const struct bpf_program *program, pid_t pid, pid_t tid);

#endif
