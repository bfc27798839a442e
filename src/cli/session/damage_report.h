/* SPDX-License-Identifier: BSD-2-Clause */
/* Says what is missing in a recording that was read. */
#ifndef CLI_DAMAGE_REPORT_H
#define CLI_DAMAGE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "record/reader.h"

/*
 * Warns of damage. `what` was recorded: "calls"; `unreadable` records were whole, but malformed.
 * Times of gaps are counted from `begin_ns` (CLOCK_BOOTTIME), as those of --from and --to are.
 * Returns whether something of it may be missing.
 */
bool damage_report__warn(const struct recording *recording, uint64_t begin_ns, const char *what,
			 uint64_t unreadable, const struct log *log);

#endif
