/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of what was lost, in an array of BPF with a value for each CPU. */
#ifndef PROBE_LOST_COUNTS_H
#define PROBE_LOST_COUNTS_H

#include <stdint.h>

/* Sums up the first `count` entries of the map; all 0 without memory. */
void lost_counts__read(int map_fd, uint64_t *lost, uint32_t count);

#endif
