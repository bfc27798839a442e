/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out what target processes, or their descendants, are doing if they have made no call since
 * attach: a process that hangs in an earlier call looks like one that does not use CUDA.
 */
#ifndef CLI_SILENCE_H
#define CLI_SILENCE_H

#include "cli/session/looker.h"
#include "model/silent_targets.h"

struct silence;

/* `looker` must outlive it; if it is NULL, nothing is known. NULL without memory. */
struct silence *silence__new(struct looker *looker);
void silence__free(struct silence *silence); /* NULL ok */

/*
 * Fills in `doing` of the first eight silent processes. Looks at them at most once in ten seconds,
 * except for a `final` look. If they cannot be looked at, `doing` stays unknown.
 */
void silence__look(struct silence *silence, struct target_processes *targets, bool final);

#endif
