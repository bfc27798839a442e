/* SPDX-License-Identifier: BSD-2-Clause */
/* What looks at threads for commands that do so seldom: it is loaded when it is wanted first. */
#ifndef CLI_LOOKER_H
#define CLI_LOOKER_H

#include "base/log.h"
#include "dump/dump.h"

struct looker;

/* Loads nothing yet. `log` must outlive it. NULL without memory. */
struct looker *looker__new(const struct log *log);
void looker__free(struct looker *looker); /* NULL ok */

/* A dump of the threads alone, who they are not; NULL where they cannot be looked at, or `looker` is NULL. */
struct dump *looker__look(struct looker *looker, const pid_t *pids, size_t count);

#endif
