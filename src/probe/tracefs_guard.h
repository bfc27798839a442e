/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process beside gpuprobe that opens events of tracefs for it, and has them open for as long as gpuprobe has. Opening
 * an event puts its probes in, and the last close takes them out: in a process that is killed meanwhile that breaks off
 * and leaves breakpoints behind. This one goes on where gpuprobe is killed, closes the events then, and removes them.
 */
#ifndef PROBE_TRACEFS_GUARD_H
#define PROBE_TRACEFS_GUARD_H

#include <stdint.h>
#include <sys/types.h>

struct tracefs_guard {
	pid_t pid;  /* 0: there is none (any more) */
	int socket; /* to it */
};

/*
 * Forks it, before there is anything that it must not hold open. It calls `clean` when this process is gone with all
 * that both had open. Returns 0 or a negative errno.
 */
int tracefs_guard__start(void (*clean)(void *arg), void *arg, struct tracefs_guard *guard);

/*
 * Opens event number `event`, which the kernel calls `id`. Returns the perf event's descriptor or a negative errno, with
 * which it may be open in the guard. Where somebody has killed the guard it is opened here.
 */
int tracefs_guard__open(struct tracefs_guard *guard, unsigned int event, int id);

/* Has it close the events from number `first` on, which this process has closed, and waits for that. */
void tracefs_guard__close(struct tracefs_guard *guard, unsigned int first);

/* Ends it: there is nothing left to remove. */
void tracefs_guard__end(struct tracefs_guard *guard);

#endif
