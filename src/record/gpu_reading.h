/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GPU times (model/gpu_times.h) in a recorded reading: the model has tables, a reading has lists.
 * Left out is what reports of a recording do not need: call sites, single times of work, and what
 * still waits for its partner.
 */
#ifndef RECORD_GPU_READING_H
#define RECORD_GPU_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/gpu_times.h"

struct recorded_gpu_kernel {
	uint64_t number;
	const char *name; /* mangled, raw; NULL: it was lost */
	struct gpu_time_sum sum;
	struct gpu_delay delay;
};

/* A GPU that worked. In a difference the first work is the last one of before. */
struct recorded_gpu_device {
	uint32_t device;
	uint64_t first_ns, last_ns; /* begin of the first work and end of the last, CUPTI's clock */
	uint64_t busy_ns;	    /* the union of the times */
	uint64_t late;		    /* as in struct busy_time */
	struct gpu_gaps gaps;
};

struct recorded_gpu_thread {
	uint32_t tid;
	struct gpu_time_sum sum;
	struct gpu_delay delay;
};

struct recorded_gpu_process {
	int64_t pid;
	uint64_t start_ns;
	bool heard, failed;
	int64_t code;
	char reason[GPU_TIMES_REASON_SIZE];
	struct recorded_gpu_kernel *kernels;
	size_t kernel_count;
	struct gpu_time_sum other_kernels, all_kernels, graph_kernels;
	struct gpu_time_sum copies[GPU_COPY_KINDS];
	struct gpu_time_sum sets, graphs;
	struct recorded_gpu_device *devices;
	size_t device_count;
	struct recorded_gpu_thread *threads;
	size_t thread_count;
	struct gpu_time_sum called, other_threads; /* the former: all whose call is known */
	struct gpu_delay delay;
	uint64_t unknown_devices, dropped, refused;
};

struct recorded_gpu_times {
	struct recorded_gpu_process *processes;
	size_t process_count;
	uint64_t lost_work, lost_names, unread_work, unread_names;
};

/*
 * Makes the lists of the tables, of which names are those of `times`. Returns 0 or -ENOMEM;
 * recorded_gpu_times__clear in any case.
 */
int recorded_gpu_times__make(const struct gpu_times *times, struct recorded_gpu_times *made);
void recorded_gpu_times__clear(struct recorded_gpu_times *made);

/*
 * Makes the tables again, of any lists, within the model's limits. Returns 0 or -ENOMEM;
 * gpu_times__clear in any case.
 */
int recorded_gpu_times__restore(const struct recorded_gpu_times *recorded, struct gpu_times *times);

#endif
