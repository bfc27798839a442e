/* SPDX-License-Identifier: BSD-2-Clause */
/* Options that choose processes by what they are, the same in every command. */
#ifndef CLI_FILTER_OPTIONS_H
#define CLI_FILTER_OPTIONS_H

#include "cli/options/option_table.h"

/* for a struct targets: --comm, --uid, --cgroup, --container and --pod */
extern const struct option_row filter_rows[];

#endif
