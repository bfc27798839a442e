/* SPDX-License-Identifier: BSD-2-Clause */
/* A look at threads that is taken in a thread of its own: what their stacks are called may take a second to find. */
#ifndef CLI_BACKGROUND_LOOK_H
#define CLI_BACKGROUND_LOOK_H

#include <stdbool.h>

#include "base/log.h"
#include "dump/dump.h"

struct background_look;

/* Of these processes and their descendants that use CUDA. `pids` and `log` must outlive it. NULL without memory. */
struct background_look *background_look__new(const pid_t *pids, size_t count, const struct log *log);
void background_look__free(struct background_look *look); /* NULL ok; waits for its end */

/* Begins, once. 0 or a negative errno. */
int background_look__start(struct background_look *look);

/* Readable when it has ended. */
int background_look__fd(const struct background_look *look);

/* Waits for its end. The caller's from here on; NULL where it was not begun or taken before, or threads cannot be looked at. */
struct dump *background_look__take(struct background_look *look);

#endif
