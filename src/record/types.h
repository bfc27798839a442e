/* SPDX-License-Identifier: BSD-2-Clause */
/* The types that a recorded reading consists of; their tables are in the files *_fields.c. */
#ifndef RECORD_TYPES_H
#define RECORD_TYPES_H

#include <stdbool.h>

#include "model/model.h"
#include "record/fields.h"

/* Written by name, as a function's row. */
struct slow_row {
	uint16_t row;
};

struct recorded_gpu_times; /* record/gpu_reading.h */

struct step_handle {
	uint64_t value;
};

/* One reading, and what reports of it need to know about the run. */
struct recorded_reading {
	const struct model *model;
	struct slow_row *slow_rows; /* for model->slow */
	size_t slow_row_count;
	struct recorded_gpu_times *gpu_times; /* for model->gpu_times; NULL: there are none */
	uint64_t began_ns;		      /* when the probes were attached, CLOCK_BOOTTIME */
	unsigned int needs;		      /* NEEDS_* that were met, see finding/finding.h */
	bool getters;			      /* getters were probed */
};

extern const struct recorded_type recorded_gpu_stranger;
extern const struct recorded_type recorded_gpu;
extern const struct recorded_type recorded_process_gpu;
extern const struct recorded_type recorded_target_processes;
extern const struct recorded_type recorded_target_process;
extern const struct recorded_type recorded_sampling;
extern const struct recorded_type recorded_timespec;
extern const struct recorded_type recorded_model;
extern const struct recorded_type recorded_nccl_finding_key;
extern const struct recorded_type recorded_nccl_note;
extern const struct recorded_type recorded_slow_row;
extern const struct recorded_type recorded_recorded_reading;
extern const struct recorded_type recorded_gpu_time_sum;
extern const struct recorded_type recorded_gpu_delay;
extern const struct recorded_type recorded_gpu_gaps;
extern const struct recorded_type recorded_recorded_gpu_kernel;
extern const struct recorded_type recorded_recorded_gpu_device;
extern const struct recorded_type recorded_recorded_gpu_thread;
extern const struct recorded_type recorded_recorded_gpu_process;
extern const struct recorded_type recorded_recorded_gpu_times;
extern const struct recorded_type recorded_process;
extern const struct recorded_type recorded_memory_totals;
extern const struct recorded_type recorded_allocation;
extern const struct recorded_type recorded_pool_totals;
extern const struct recorded_type recorded_kernel;
extern const struct recorded_type recorded_shape_record;
extern const struct recorded_type recorded_launch_shape;
extern const struct recorded_type recorded_graph_run;
extern const struct recorded_type recorded_wait_totals;
extern const struct recorded_type recorded_copy_totals;
extern const struct recorded_type recorded_copy_inflight;
extern const struct recorded_type recorded_covered_totals;
extern const struct recorded_type recorded_object_totals;
extern const struct recorded_type recorded_query_totals;
extern const struct recorded_type recorded_unfollowed_totals;
extern const struct recorded_type recorded_device_totals;
extern const struct recorded_type recorded_function_totals;
extern const struct recorded_type recorded_failure;
extern const struct recorded_type recorded_sticky_error;
extern const struct recorded_type recorded_call_site;
extern const struct recorded_type recorded_live_site;
extern const struct recorded_type recorded_object_site;
extern const struct recorded_type recorded_family_calls;
extern const struct recorded_type recorded_open_call;
extern const struct recorded_type recorded_workload;
extern const struct recorded_type recorded_known_kernel;
extern const struct recorded_type recorded_profile;
extern const struct recorded_type recorded_profile_function;
extern const struct recorded_type recorded_duration_record;
extern const struct recorded_type recorded_thread_profile;
extern const struct recorded_type recorded_time_totals;
extern const struct recorded_type recorded_upload_sums;
extern const struct recorded_type recorded_thread_missed;
extern const struct recorded_type recorded_profile_size;
extern const struct recorded_type recorded_size_key;
extern const struct recorded_type recorded_size_record;
extern const struct recorded_type recorded_profile_copies;
extern const struct recorded_type recorded_copy_size_key;
extern const struct recorded_type recorded_copy_size_record;
extern const struct recorded_type recorded_profile_repeat;
extern const struct recorded_type recorded_repeat_key;
extern const struct recorded_type recorded_repeat_record;
extern const struct recorded_type recorded_profile_mapped;
extern const struct recorded_type recorded_mapped_copy_key;
extern const struct recorded_type recorded_mapped_copy_record;
extern const struct recorded_type recorded_profile_ignored;
extern const struct recorded_type recorded_ignored_key;
extern const struct recorded_type recorded_ignored_record;
extern const struct recorded_type recorded_profile_stack;
extern const struct recorded_type recorded_start_record;
extern const struct recorded_type recorded_start_reading;
extern const struct recorded_type recorded_start_sums;
extern const struct recorded_type recorded_steady;
extern const struct recorded_type recorded_steady_base;
extern const struct recorded_type recorded_load;
extern const struct recorded_type recorded_load_queue;
extern const struct recorded_type recorded_process_profile;
extern const struct recorded_type recorded_device_queue;
extern const struct recorded_type recorded_queue_stream;
extern const struct recorded_type recorded_missing_site;
extern const struct recorded_type recorded_long_call;
extern const struct recorded_type recorded_contention;
extern const struct recorded_type recorded_process_steps;
extern const struct recorded_type recorded_step_thread;
extern const struct recorded_type recorded_step_sums;
extern const struct recorded_type recorded_step_phase;
extern const struct recorded_type recorded_step_anchor;
extern const struct recorded_type recorded_slow_step;
extern const struct recorded_type recorded_step_first;
extern const struct recorded_type recorded_step_handle;
extern const struct recorded_type recorded_host_side;
extern const struct recorded_type recorded_host_process;
extern const struct recorded_type recorded_host_thread;
extern const struct recorded_type recorded_host_partner;
extern const struct recorded_type recorded_host_file_wait;
extern const struct recorded_type recorded_host_location;
extern const struct recorded_type recorded_tensors;
extern const struct recorded_type recorded_tensor_device;
extern const struct recorded_type recorded_tensor_device_record;
extern const struct recorded_type recorded_tensor_site;
extern const struct recorded_type recorded_tensor_site_record;
extern const struct recorded_type recorded_tensor_segments;
extern const struct recorded_type recorded_oom;
extern const struct recorded_type recorded_site_increase;
extern const struct recorded_type recorded_oom_neighbour;

#endif
