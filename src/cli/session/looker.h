/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks at threads, for commands that rarely do: the dumper is loaded on first use. */
#ifndef CLI_LOOKER_H
#define CLI_LOOKER_H

#include "base/log.h"
#include "dump/dump.h"

struct looker;

/* Loads nothing yet. `log` must outlive it. NULL without memory. */
struct looker *looker__new(const struct log *log);
void looker__free(struct looker *looker); /* NULL ok */

/*
 * Returns a dump with the threads only, without the processes' identity. NULL if threads cannot be
 * looked at or `looker` is NULL.
 */
struct dump *looker__look(struct looker *looker, const pid_t *pids, size_t count);

#endif
