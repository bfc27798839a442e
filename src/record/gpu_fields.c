// SPDX-License-Identifier: BSD-2-Clause
// Which members of GPU times are recorded, see fields.h.
#include "record/gpu_reading.h"
#include "record/types.h"

#define T struct gpu_time_sum
static const struct recorded_field gpu_time_sum_fields[] = {
	TOTAL(count),
	TOTAL(untimed),
	TOTAL(ns),
	VALUE(min_ns),
	VALUE(max_ns),
	TOTAL(bytes),
	SKIPPED(sample, "bursts are not recorded"),
};
RECORDED_TYPE(gpu_time_sum, 0);
#undef T

#define T struct gpu_delay
static const struct recorded_field gpu_delay_fields[] = {
	TOTAL(count),
	TOTAL(ns),
	VALUE(max_ns),
};
RECORDED_TYPE(gpu_delay, 0);
#undef T

#define T struct gpu_gaps
static const struct recorded_field gpu_gaps_fields[] = {
	VALUE(end_ns),
	TOTAL(before_call_ns),
	TOTAL(after_call_ns),
	TOTAL(count),
};
RECORDED_TYPE(gpu_gaps, 0);
#undef T

#define T struct recorded_gpu_kernel
static const struct recorded_field recorded_gpu_kernel_fields[] = {
	VALUE(number),
	HIDDEN_STRING(name, "kernel-name"),
	STRUCTS(sum, gpu_time_sum),
	STRUCTS(delay, gpu_delay),
};
RECORDED_TYPE(recorded_gpu_kernel, 1);
#undef T

#define T struct recorded_gpu_device
static const struct recorded_field recorded_gpu_device_fields[] = {
	BELOW(device, GPU_TIMES_DEVICES),
	VALUE(first_ns),
	VALUE(last_ns),
	TOTAL(busy_ns),
	TOTAL(late),
	STRUCTS(gaps, gpu_gaps),
};
RECORDED_TYPE(recorded_gpu_device, 1);
#undef T

#define T struct recorded_gpu_thread
static const struct recorded_field recorded_gpu_thread_fields[] = {
	VALUE(tid),
	STRUCTS(sum, gpu_time_sum),
	STRUCTS(delay, gpu_delay),
};
RECORDED_TYPE(recorded_gpu_thread, 1);
#undef T

#define T struct recorded_gpu_process
static const struct recorded_field recorded_gpu_process_fields[] = {
	VALUE(pid),
	VALUE(start_ns),
	VALUE(heard),
	VALUE(failed),
	VALUE(code),
	TEXT(reason),
	LIST(kernels, kernel_count, recorded_gpu_kernel),
	COUNTED(kernel_count),
	STRUCTS(other_kernels, gpu_time_sum),
	STRUCTS(all_kernels, gpu_time_sum),
	STRUCTS(graph_kernels, gpu_time_sum),
	STRUCTS(copies, gpu_time_sum),
	STRUCTS(sets, gpu_time_sum),
	STRUCTS(graphs, gpu_time_sum),
	LIST(devices, device_count, recorded_gpu_device),
	COUNTED(device_count),
	LIST(threads, thread_count, recorded_gpu_thread),
	COUNTED(thread_count),
	STRUCTS(called, gpu_time_sum),
	STRUCTS(other_threads, gpu_time_sum),
	STRUCTS(delay, gpu_delay),
	TOTAL(unknown_devices),
	TOTAL(dropped),
	TOTAL(refused),
};
RECORDED_TYPE(recorded_gpu_process, 2);
#undef T

#define T struct recorded_gpu_times
static const struct recorded_field recorded_gpu_times_fields[] = {
	LIST(processes, process_count, recorded_gpu_process),
	COUNTED(process_count),
	TOTAL(lost_work),
	TOTAL(lost_names),
	TOTAL(unread_work),
	TOTAL(unread_names),
};
RECORDED_TYPE(recorded_gpu_times, 0);
#undef T
