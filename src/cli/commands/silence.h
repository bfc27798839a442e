/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes are in, or their descendants, that were asked for and have made no call since gpuprobe came: one that hangs in a call from before
 * looks like one that does not use CUDA.
 */
#ifndef CLI_SILENCE_H
#define CLI_SILENCE_H

#include "cli/session/looker.h"
#include "model/silent_targets.h"

struct silence;

/* `looker` must outlive it, NULL ok: nothing is known then. NULL without memory. */
struct silence *silence__new(struct looker *looker);
void silence__free(struct silence *silence); /* NULL ok */

/*
 * Fills in `doing` of the first eight that are silent. Looks at them once in ten seconds at most, but for a `final` look. Where
 * they cannot be looked at nothing is known of them.
 */
void silence__look(struct silence *silence, struct target_processes *asked, bool final);

#endif
