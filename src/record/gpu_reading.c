// SPDX-License-Identifier: BSD-2-Clause
// GPU times as lists and back, see gpu_reading.h.
#include "record/gpu_reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- lists of tables --- */

static int list_kernels(const struct gpu_process_times *process, struct recorded_gpu_process *made)
{
	const struct gpu_kernel_time *kernel, *next;

	made->kernels = calloc(HASH_COUNT(process->kernels) + 1, sizeof(*made->kernels));
	if (!made->kernels)
		return -ENOMEM;
	HASH_ITER (hh, process->kernels, kernel, next)
		made->kernels[made->kernel_count++] = (struct recorded_gpu_kernel){
			.number = kernel->number,
			.name = kernel->name,
			.sum = kernel->sum,
			.delay = kernel->delay,
		};
	return 0;
}

static int list_threads(const struct gpu_callers *callers, struct recorded_gpu_process *made)
{
	const struct gpu_thread *thread, *next;

	made->threads = calloc(HASH_COUNT(callers->threads) + 1, sizeof(*made->threads));
	if (!made->threads)
		return -ENOMEM;
	HASH_ITER (hh, callers->threads, thread, next)
		made->threads[made->thread_count++] = (struct recorded_gpu_thread){
			.tid = thread->tid, .sum = thread->sum, .delay = thread->delay};
	return 0;
}

static int list_devices(const struct gpu_process_times *process, struct recorded_gpu_process *made)
{
	made->devices = calloc(GPU_TIMES_DEVICES, sizeof(*made->devices));
	if (!made->devices)
		return -ENOMEM;
	for (uint32_t i = 0; i < GPU_TIMES_DEVICES; i++) {
		const struct busy_time *busy = &process->busy[i];

		if (!busy->spans)
			continue;
		made->devices[made->device_count++] = (struct recorded_gpu_device){
			.device = i,
			.first_ns = busy->first_ns,
			.last_ns = busy->last_ns,
			.busy_ns = busy_time__ns(busy),
			.late = busy->late,
			.gaps = process->callers.gaps[i],
		};
	}
	return 0;
}

static int list_process(const struct gpu_process_times *process, struct recorded_gpu_process *made)
{
	*made = (struct recorded_gpu_process){
		.pid = process->key.pid,
		.start_ns = process->key.start_ns,
		.heard = process->heard,
		.failed = process->failed,
		.code = process->code,
		.other_kernels = process->other_kernels,
		.all_kernels = process->all_kernels,
		.graph_kernels = process->graph_kernels,
		.sets = process->sets,
		.graphs = process->graphs,
		.called = process->callers.all,
		.other_threads = process->callers.other_threads,
		.delay = process->callers.delay,
		.unknown_devices = process->unknown_devices,
		.dropped = process->dropped,
		.refused = process->refused,
	};
	memcpy(made->reason, process->reason, sizeof(made->reason));
	memcpy(made->copies, process->copies, sizeof(made->copies));
	return list_kernels(process, made) || list_threads(&process->callers, made) ||
			       list_devices(process, made) ?
		       -ENOMEM :
		       0;
}

int recorded_gpu_times__make(const struct gpu_times *times, struct recorded_gpu_times *made)
{
	const struct gpu_process_times *process, *next;

	*made = (struct recorded_gpu_times){
		.processes = calloc(HASH_COUNT(times->processes) + 1, sizeof(*made->processes)),
		.lost_work = times->lost_work,
		.lost_names = times->lost_names,
		.unread_work = times->unread_work,
		.unread_names = times->unread_names,
	};
	if (!made->processes)
		return -ENOMEM;
	HASH_ITER (hh, times->processes, process, next)
		if (list_process(process, &made->processes[made->process_count++]))
			return -ENOMEM;
	return 0;
}

void recorded_gpu_times__clear(struct recorded_gpu_times *made)
{
	for (size_t i = 0; i < made->process_count; i++) {
		free(made->processes[i].kernels);
		free(made->processes[i].threads);
		free(made->processes[i].devices);
	}
	free(made->processes);
	*made = (struct recorded_gpu_times){0};
}

/* --- tables of lists --- */

static int restore_kernels(const struct recorded_gpu_process *recorded, struct gpu_times *times,
			   struct gpu_process_times *process)
{
	for (size_t i = 0; i < recorded->kernel_count; i++) {
		const struct recorded_gpu_kernel *from = &recorded->kernels[i];
		struct gpu_kernel_time *kernel;

		if (process->kernel_count == GPU_TIMES_KERNELS ||
		    times->kernel_count == GPU_TIMES_ALL_KERNELS)
			break;
		if (TABLE_FIND(process->kernels, number, &from->number))
			continue;
		kernel = TABLE_ADD_NEW(process->kernels, number, &from->number);
		if (!kernel)
			return -ENOMEM;
		process->kernel_count++;
		times->kernel_count++;
		kernel->name = from->name ? strndup(from->name, GPU_TIMES_NAME_SIZE) : NULL;
		if (from->name && !kernel->name)
			return -ENOMEM;
		kernel->sum = from->sum;
		kernel->delay = from->delay;
	}
	return 0;
}

static int restore_threads(const struct recorded_gpu_process *recorded, struct gpu_callers *callers)
{
	for (size_t i = 0; i < recorded->thread_count && i < GPU_CALLERS_THREADS; i++) {
		const struct recorded_gpu_thread *from = &recorded->threads[i];
		struct gpu_thread *thread;

		if (TABLE_FIND(callers->threads, tid, &from->tid))
			continue;
		thread = TABLE_ADD_NEW(callers->threads, tid, &from->tid);
		if (!thread)
			return -ENOMEM;
		thread->sum = from->sum;
		thread->delay = from->delay;
	}
	return 0;
}

/* All spans are summed up. */
static int restore_devices(const struct recorded_gpu_process *recorded,
			   struct gpu_process_times *process)
{
	for (size_t i = 0; i < recorded->device_count; i++) {
		const struct recorded_gpu_device *from = &recorded->devices[i];
		struct busy_time *busy;

		if (from->device >= GPU_TIMES_DEVICES || process->busy[from->device].spans)
			continue;
		busy = &process->busy[from->device];
		busy->spans = calloc(1, sizeof(*busy->spans));
		if (!busy->spans)
			return -ENOMEM;
		busy->first_ns = from->first_ns;
		busy->last_ns = from->last_ns > from->first_ns ? from->last_ns : from->first_ns;
		busy->closed_ns = from->busy_ns;
		busy->closed_until_ns = busy->last_ns;
		busy->late = from->late;
		process->callers.gaps[from->device] = from->gaps;
	}
	return 0;
}

static int restore_process(const struct recorded_gpu_process *recorded, struct gpu_times *times)
{
	const struct gpu_times_key key = {recorded->pid, recorded->start_ns};
	struct gpu_process_times *process;

	if (TABLE_FIND(times->processes, key, &key))
		return 0;
	process = TABLE_ADD_NEW(times->processes, key, &key);
	if (!process)
		return -ENOMEM;
	times->process_count++;
	process->heard = recorded->heard;
	process->failed = recorded->failed;
	process->code = recorded->code;
	memcpy(process->reason, recorded->reason, sizeof(process->reason) - 1);
	process->other_kernels = recorded->other_kernels;
	process->all_kernels = recorded->all_kernels;
	process->graph_kernels = recorded->graph_kernels;
	memcpy(process->copies, recorded->copies, sizeof(process->copies));
	process->sets = recorded->sets;
	process->graphs = recorded->graphs;
	process->callers.all = recorded->called;
	process->callers.other_threads = recorded->other_threads;
	process->callers.delay = recorded->delay;
	process->unknown_devices = recorded->unknown_devices;
	process->dropped = recorded->dropped;
	process->refused = recorded->refused;
	return restore_kernels(recorded, times, process) ||
			       restore_threads(recorded, &process->callers) ||
			       restore_devices(recorded, process) ?
		       -ENOMEM :
		       0;
}

int recorded_gpu_times__restore(const struct recorded_gpu_times *recorded, struct gpu_times *times)
{
	*times = (struct gpu_times){
		.lost_work = recorded->lost_work,
		.lost_names = recorded->lost_names,
		.unread_work = recorded->unread_work,
		.unread_names = recorded->unread_names,
	};
	for (size_t i = 0; i < recorded->process_count && i < GPU_TIMES_PROCESSES; i++)
		if (restore_process(&recorded->processes[i], times))
			return -ENOMEM;
	return 0;
}
