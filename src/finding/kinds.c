// SPDX-License-Identifier: BSD-2-Clause
// The list of all kinds of findings. Each stands in its rule's file.
#include <assert.h>

#include "finding/rules.h"

const struct finding_kind *const finding_kinds[] = {
	&cuda_unavailable_kind,
	&alloc_churn_kind,
	&leak_growing_kind,
	&leak_at_exit_kind,
	&object_leak_kind,
	&launch_bound_kind,
	&sync_after_every_launch_kind,
	&sync_stall_kind,
	&implicit_sync_kind,
	&small_copies_kind,
	&pageable_copies_kind,
	&redundant_copies_kind,
	&unchecked_errors_kind,
	&sticky_error_kind,
	&error_storm_kind,
	&oom_near_kind,
	&oom_kind,
	&fragmentation_kind,
	&graph_recapture_kind,
	&idle_gaps_kind,
	&host_bound_kind,
	&cold_start_kind,
	&mapped_file_copies_kind,
	&default_stream_kind,
	&driver_contention_kind,
	&no_overlap_kind,
	&small_kernels_kind,
	&launch_latency_kind,
	&chatty_getters_kind,
	&device_imbalance_kind,
	&missing_sync_kind,
	&nccl_hang_kind,
	&nccl_mismatch_kind,
	&nccl_straggler_kind,
	&nccl_imbalance_kind,
	&nccl_error_kind,
	&stuck_kind,
	&xid_kind,
};

const size_t finding_kind_count = sizeof(finding_kinds) / sizeof(*finding_kinds);

static_assert(sizeof(finding_kinds) / sizeof(*finding_kinds) <= 64,
	      "finding_list's sampled_kinds has a bit for each");

size_t finding_kind__index(const struct finding_kind *kind)
{
	size_t i = 0;

	while (finding_kinds[i] != kind)
		i++;
	return i;
}
