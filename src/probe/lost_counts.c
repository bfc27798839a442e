// SPDX-License-Identifier: BSD-2-Clause
// Sums over CPUs, see lost_counts.h.
#include "probe/lost_counts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

void lost_counts__read(int map_fd, uint64_t *lost, uint32_t count)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *each = cpus > 0 ? calloc((size_t)cpus, sizeof(*each)) : NULL;

	for (uint32_t i = 0; i < count; i++) {
		lost[i] = 0;
		if (!each || bpf_map_lookup_elem(map_fd, &i, each))
			continue;
		for (int cpu = 0; cpu < cpus; cpu++)
			lost[i] += each[cpu];
	}
	free(each);
}
