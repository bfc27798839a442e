/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A guard process that opens tracefs events for gpuprobe and keeps them open as long as gpuprobe
 * does. Opening an event attaches its probes, and the last close detaches them; if the process
 * doing that is killed meanwhile, breakpoints stay behind. The guard survives if gpuprobe is
 * killed, closes the events then, and removes them.
 */
#ifndef PROBE_TRACEFS_GUARD_H
#define PROBE_TRACEFS_GUARD_H

#include <stdint.h>
#include <sys/types.h>

struct tracefs_guard {
	pid_t pid;  /* 0 if there is none, or none any more */
	int socket; /* to it */
};

/*
 * Forks the guard; call it before opening anything that the guard must not keep open. The guard
 * calls `clean` when this process is gone and everything that both had open is closed. Returns 0 or
 * a negative errno.
 */
int tracefs_guard__start(void (*clean)(void *arg), void *arg, struct tracefs_guard *guard);

/*
 * Opens event number `event`, whose kernel id is `id`. Returns the perf event's descriptor or a
 * negative errno; the event may be open in the guard even after an error. If the guard was killed,
 * this process opens it.
 */
int tracefs_guard__open(struct tracefs_guard *guard, unsigned int event, int id);

/*
 * Makes the guard close the events from number `first` on, which this process has closed, and waits
 * for it.
 */
void tracefs_guard__close(struct tracefs_guard *guard, unsigned int first);

/* Ends the guard: there is nothing left to remove. */
void tracefs_guard__end(struct tracefs_guard *guard);

#endif
