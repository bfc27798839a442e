/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks at threads in a background thread, because naming their stacks may take a second. */
#ifndef CLI_BACKGROUND_LOOK_H
#define CLI_BACKGROUND_LOOK_H

#include <stdbool.h>

#include "base/log.h"
#include "dump/dump.h"

struct background_look;

/*
 * Prepares a look at these processes and those of their descendants that use CUDA. `pids` and `log`
 * must outlive it. NULL without memory.
 */
struct background_look *background_look__new(const pid_t *pids, size_t count,
					     const struct log *log);
void background_look__free(struct background_look *look); /* NULL ok; waits for the thread to end */

/* Starts the look; called once. Returns 0 or a negative errno. */
int background_look__start(struct background_look *look);

/* A descriptor that is readable when the look has ended. */
int background_look__fd(const struct background_look *look);

/*
 * Waits for the end of the look and returns its result, which the caller owns. NULL if it was not
 * started or was taken before, or if threads cannot be looked at.
 */
struct dump *background_look__take(struct background_look *look);

#endif
