/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that lives a moment longer than gpuprobe, to remove from tracefs what one that was killed has left. */
#ifndef PROBE_TRACEFS_GUARD_H
#define PROBE_TRACEFS_GUARD_H

#include <sys/types.h>

/*
 * Forks it, before there is anything that it must not hold open. It calls `clean` when this process is gone with all
 * that it had open. Returns its pid or a negative errno.
 */
pid_t tracefs_guard__start(void (*clean)(void *arg), void *arg);

/* Ends it: there is nothing left to remove. A pid that is none is allowed. */
void tracefs_guard__end(pid_t guard);

#endif
