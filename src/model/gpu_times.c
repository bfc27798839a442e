// SPDX-License-Identifier: BSD-2-Clause
// Sums up GPU times, see gpu_times.h.
#include "model/gpu_times.h"

#include "base/saturate.h"
#include "model/host.h"

/* --- the processes --- */

static void free_kernel(struct gpu_kernel_time *kernel)
{
	free(kernel->name);
	free(kernel);
}

static void free_process(struct gpu_process_times *process)
{
	TABLE_CLEAR(process->kernels, free_kernel);
	for (size_t i = 0; i < GPU_TIMES_DEVICES; i++)
		busy_time__clear(&process->busy[i]);
	free(process);
}

void gpu_times__clear(struct gpu_times *times)
{
	TABLE_CLEAR(times->processes, free_process);
	*times = (struct gpu_times){.share = times->share};
}

/* NULL: there is no room. */
static struct gpu_process_times *take_process(struct gpu_times *times,
					      const struct gpu_times_head *head)
{
	const struct gpu_times_key key = {head->pid, head->start_ns};
	struct gpu_process_times *process = TABLE_FIND(times->processes, key, &key);

	if (process || times->process_count == GPU_TIMES_PROCESSES)
		return process;
	process = TABLE_ADD_NEW(times->processes, key, &key);
	if (process)
		times->process_count++;
	return process;
}

/* NULL: there is no room. */
static struct gpu_kernel_time *take_kernel(struct gpu_times *times,
					   struct gpu_process_times *process, uint64_t number)
{
	struct gpu_kernel_time *kernel = TABLE_FIND(process->kernels, number, &number);

	if (kernel || process->kernel_count == GPU_TIMES_KERNELS ||
	    times->kernel_count == GPU_TIMES_ALL_KERNELS)
		return kernel;
	kernel = TABLE_ADD_NEW(process->kernels, number, &number);
	if (kernel) {
		process->kernel_count++;
		times->kernel_count++;
	}
	return kernel;
}

/* --- work --- */

static bool has_time(const struct gpu_work *work)
{
	return work->start_ns && work->end_ns >= work->start_ns;
}

static void add(struct gpu_time_sum *sum, const struct gpu_work *work)
{
	uint64_t ns = work->end_ns - work->start_ns;

	saturate__add(&sum->bytes, work->bytes);
	sum->count++;
	if (!has_time(work)) {
		sum->untimed++;
		return;
	}
	if (sum->count - sum->untimed == 1 || ns < sum->min_ns)
		sum->min_ns = ns;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
	saturate__add(&sum->ns, ns);
	if (work->burst)
		gpu_sample__add(&sum->sample, work->burst, ns);
}

static void add_busy(struct gpu_times *times, struct gpu_process_times *process,
		     const struct gpu_work *work)
{
	struct busy_time *busy =
		work->device < GPU_TIMES_DEVICES ? &process->busy[work->device] : NULL;

	if (!has_time(work))
		return;
	if (busy && !busy->spans && times->device_count < GPU_TIMES_ALL_DEVICES) {
		if (!busy_time__add(busy, work->start_ns, work->end_ns))
			times->device_count++;
		else
			process->unknown_devices++;
	} else if (!busy || !busy->spans) {
		process->unknown_devices++;
	} else {
		busy_time__add(busy, work->start_ns, work->end_ns);
	}
}

static void add_kernel(struct gpu_times *times, struct gpu_process_times *process,
		       const struct gpu_work *work)
{
	bool in_graph = work->kind == GPU_WORK_GRAPH_KERNEL, sampled = work->burst;
	struct gpu_kernel_time *kernel;

	add(&process->all_kernels, work);
	if (in_graph)
		add(&process->graph_kernels, work);
	if (in_graph && sampled)
		return;
	kernel = take_kernel(times, process, work->name);
	add(kernel ? &kernel->sum : &process->other_kernels, work);
}

static void add_work(struct gpu_times *times, struct gpu_process_times *process,
		     const struct gpu_work *work)
{
	if (work->burst && work->burst != process->burst) {
		process->burst = work->burst;
		process->bursts++;
	}
	switch (work->kind) {
	case GPU_WORK_KERNEL:
	case GPU_WORK_GRAPH_KERNEL: add_kernel(times, process, work); break;
	case GPU_WORK_COPY:
		add(&process->copies[work->copy < GPU_COPY_KINDS ? work->copy : GPU_COPY_UNKNOWN],
		    work);
		break;
	case GPU_WORK_SET: add(&process->sets, work); break;
	case GPU_WORK_GRAPH: add(&process->graphs, work); break;
	default: process->refused++; return;
	}
	add_busy(times, process, work);
}

/* --- records --- */

static void take_work(struct gpu_times *times, const struct gpu_times_work *record)
{
	struct gpu_process_times *process = take_process(times, &record->head);
	uint64_t count = record->count < GPU_TIMES_BATCH ? record->count : GPU_TIMES_BATCH;

	if (!process) {
		saturate__add(&times->lost_work, count);
		saturate__add(&times->lost_work, record->dropped);
		return;
	}
	saturate__add(&process->dropped, record->dropped);
	for (uint64_t i = 0; i < count; i++)
		add_work(times, process, &record->work[i]);
}

/* A number means its first name: a program cannot rename what was counted. */
static void take_name(struct gpu_times *times, const struct gpu_times_name *record)
{
	struct gpu_process_times *process = take_process(times, &record->head);
	struct gpu_kernel_time *kernel = process ? take_kernel(times, process, record->name) : NULL;

	if (kernel && !kernel->name && record->text[0])
		kernel->name = strndup(record->text, sizeof(record->text) - 1);
	if (!process || (kernel && record->text[0] && !kernel->name))
		times->lost_names++;
}

static void take_failure(struct gpu_times *times, const struct gpu_times_failure *record)
{
	struct gpu_process_times *process = take_process(times, &record->head);

	if (!process) {
		times->lost_names++;
		return;
	}
	process->failed = true;
	process->code = record->code;
	memcpy(process->reason, record->text, sizeof(process->reason));
	process->reason[sizeof(process->reason) - 1] = '\0';
}

void gpu_times__take(struct gpu_times *times, const void *record, size_t size)
{
	const struct gpu_times_head *head = record;

	if (size < sizeof(*head))
		return;
	if (head->function == GPU_TIMES_WORK && size >= sizeof(struct gpu_times_work))
		take_work(times, record);
	else if (head->function == GPU_TIMES_NAME && size >= sizeof(struct gpu_times_name))
		take_name(times, record);
	else if (head->function == GPU_TIMES_FAILURE && size >= sizeof(struct gpu_times_failure))
		take_failure(times, record);
}

/* --- reading --- */

const struct gpu_process_times *gpu_times__find(const struct gpu_times *times, pid_t pid,
						uint64_t start_ns)
{
	const struct gpu_process_times *process, *next;

	HASH_ITER (hh, times->processes, process, next)
		if (process->key.pid == pid && host__is_same_start(process->key.start_ns, start_ns))
			return process;
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	const struct gpu_kernel_time *x = *(const struct gpu_kernel_time *const *)a,
				     *y = *(const struct gpu_kernel_time *const *)b;

	if (x->sum.ns != y->sum.ns)
		return x->sum.ns < y->sum.ns ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

const struct gpu_kernel_time **gpu_times__sort(const struct gpu_process_times *process,
					       size_t *count)
{
	const struct gpu_kernel_time **sorted =
		malloc((process->kernel_count + 1) * sizeof(*sorted));
	const struct gpu_kernel_time *kernel, *next;

	*count = 0;
	if (!sorted)
		return NULL;
	HASH_ITER (hh, process->kernels, kernel, next)
		if (kernel->sum.count)
			sorted[(*count)++] = kernel;
	qsort(sorted, *count, sizeof(*sorted), by_time);
	return sorted;
}

uint64_t gpu_time_sum__mean(const struct gpu_time_sum *sum)
{
	return sum->count > sum->untimed ? sum->ns / (sum->count - sum->untimed) : 0;
}
