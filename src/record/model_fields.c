// SPDX-License-Identifier: BSD-2-Clause
// Which members of a reading as a whole are recorded, see fields.h.
#include "record/types.h"

#include "model/model.h"

#define T struct gpu_stranger
static const struct recorded_field gpu_stranger_fields[] = {
	VALUE(pid),
	VALUE(bytes),
};
RECORDED_TYPE(gpu_stranger, 0);
#undef T

#define T struct gpu
static const struct recorded_field gpu_fields[] = {
	VALUE(index),
	VALUE(mig),
	VALUE(divided),
	VALUE(minor),
	VALUES(instance),
	HIDDEN_TEXT(uuid, "GPU"),
	TEXT(name),
	TEXT(bus_id),
	VALUE(total_bytes),
	VALUE(used_bytes),
	VALUE(busy_percent),
	VALUE(milliwatts),
	VALUE(celsius),
	VALUE(stranger),
	STRUCTS(strangers, gpu_stranger),
	VALUE(stranger_count),
	VALUE(link_bytes_per_second),
};
RECORDED_TYPE(gpu, 2);
#undef T

#define T struct process_gpu
static const struct recorded_field process_gpu_fields[] = {
	VALUE(ordinal),		 VALUE(gpu),	      VALUE(used_bytes),
	VALUE(untracked_bytes),	 VALUE(untracked_ns), VALUE(bytes_at_request),
	VALUE(calls_at_request),
};
RECORDED_TYPE(process_gpu, 0);
#undef T

#define T struct target_process
static const struct recorded_field target_process_fields[] = {
	VALUE(pid),
	HIDDEN_TEXT(comm, "task"),
	VALUE(called),
	HIDDEN_TEXT(doing, ""),
};
RECORDED_TYPE(target_process, 1);
#undef T

#define T struct target_processes
static const struct recorded_field target_processes_fields[] = {
	LIST(processes, count, target_process),
	COUNTED(count),
	VALUE(unclear),
};
RECORDED_TYPE(target_processes, 0);
#undef T

#define T struct sampling
static const struct recorded_field sampling_fields[] = {
	VALUE(max_overhead), VALUE(by_default), VALUE(overhead), VALUES(share), VALUES(sampled),
};
RECORDED_TYPE(sampling, 0);
#undef T

#define T struct timespec
static const struct recorded_field timespec_fields[] = {
	BELOW(tv_sec, 1ull << 33),
	BELOW(tv_nsec, 1000000000),
};
RECORDED_TYPE(timespec, 0);
#undef T

#define T struct model
static const struct recorded_field model_fields[] = {
	STRUCTS(wall, timespec),
	BELOW(now_ns, 1ull << 62),
	VALUE(sections),
	VALUE(launch_sample),
	VALUE(shape_sample),
	VALUE(final),
	VALUE(broken_off),
	VALUE(no_returns),
	VALUE(stacks),
	VALUE(stacks_kept),
	TOTAL(stacks_evicted),
	TOTAL(stacks_unwound),
	VALUE(min_wait_ns),
	VALUE(stack_sample),
	LIST(processes, process_count, process),
	COUNTED(process_count),
	STRUCTS(targets, target_processes),
	LIST(gpus, gpu_count, gpu),
	COUNTED(gpu_count),
	VALUE(gpus_ns),
	STRUCTS(sampling, sampling),
	POINTER(host, host_side),
	TOTALS(lost),
	VALUES(probes_attached),
	VALUE(sites_missing),
	VALUE(libraries),
	SKIPPED(slow, "as rows, in struct recorded_reading"),
	TOTAL(live_at_exit_bytes),
	LIST(ooms, oom_count, oom),
	COUNTED(oom_count),
	LIST(nccl, nccl_count, nccl_note),
	COUNTED(nccl_count),
	SKIPPED(xids, "of commands that record nothing"),
	SKIPPED(gpu_times, "as lists, in struct recorded_reading"),
	SKIPPED(nccl_jobs, "the monitor's page has it, which records nothing"),
	SKIPPED(nccl_lost, "as nccl_jobs"),
};
RECORDED_TYPE(model, 0);
#undef T

#define T struct slow_row
static const struct recorded_field slow_row_fields[] = {
	ROW(row),
};
RECORDED_TYPE(slow_row, 1);
#undef T

#define T struct recorded_reading
static const struct recorded_field recorded_reading_fields[] = {
	POINTER(model, model),	 LIST(slow_rows, slow_row_count, slow_row),
	COUNTED(slow_row_count), POINTER(gpu_times, recorded_gpu_times),
	VALUE(began_ns),	 VALUE(needs),
	VALUE(getters),
};
RECORDED_TYPE(recorded_reading, 0);
#undef T
