/* SPDX-License-Identifier: BSD-2-Clause */
/* The perf event by which a thread is sampled while it is on a CPU, by its own time there. */
#ifndef PROBE_THREAD_SAMPLES_H
#define PROBE_THREAD_SAMPLES_H

#include <sys/types.h>

struct bpf_link;
struct bpf_program;

/* `rate` a second. The caller owns the link (bpf_link__destroy); NULL with errno set. */
struct bpf_link *thread_samples__attach(const struct bpf_program *program, pid_t tid, unsigned int rate);

#endif
