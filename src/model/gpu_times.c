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
	for (size_t i = 0; i < GPU_TIMES_DEVICES; i++) {
		busy_time__clear(&process->busy[i]);
		busy_time__clear(&process->without_copies[i]);
	}
	gpu_join__free(process->join);
	gpu_callers__clear(&process->callers);
	gpu_paths__clear(&process->paths);
	free(process);
}

void gpu_times__clear(struct gpu_times *times)
{
	TABLE_CLEAR(times->processes, free_process);
	*times = (struct gpu_times){.share = times->share,
				    .own_profilers = times->own_profilers,
				    .by_path = times->by_path,
				    .find_stack = times->find_stack,
				    .find_arg = times->find_arg};
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

/* The process that a record of its library is from; NULL: there is no room. */
static struct gpu_process_times *hear(struct gpu_times *times, const struct gpu_times_head *head)
{
	struct gpu_process_times *process = take_process(times, head);

	if (process)
		process->heard = true;
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

/* Returns 0, or -ENOSPC or -ENOMEM: it is left out. */
static int add_busy(struct gpu_times *times, struct busy_time *busy, const struct gpu_work *work)
{
	bool is_new = !busy->spans;
	int ret;

	if (is_new && times->device_count == GPU_TIMES_ALL_DEVICES)
		return -ENOSPC;
	ret = busy_time__add(busy, work->start_ns, work->end_ns);
	times->device_count += is_new && busy->spans;
	return ret;
}

static void add_to_device(struct gpu_times *times, struct gpu_process_times *process,
			  const struct gpu_work *work)
{
	if (!gpu_work__has_time(work))
		return;
	if (work->device >= GPU_TIMES_DEVICES ||
	    add_busy(times, &process->busy[work->device], work) ||
	    (work->kind != GPU_WORK_COPY &&
	     add_busy(times, &process->without_copies[work->device], work)))
		process->unknown_devices++;
}

static void add_kernel(struct gpu_times *times, struct gpu_process_times *process,
		       const struct gpu_work *work)
{
	bool in_graph = work->kind == GPU_WORK_GRAPH_KERNEL, sampled = work->burst;
	struct gpu_kernel_time *kernel;

	gpu_time_sum__add(&process->all_kernels, work);
	if (in_graph)
		gpu_time_sum__add(&process->graph_kernels, work);
	if (in_graph && sampled)
		return;
	kernel = take_kernel(times, process, work->name);
	gpu_time_sum__add(kernel ? &kernel->sum : &process->other_kernels, work);
}

/* NULL: there is no room. */
static struct gpu_join *take_join(struct gpu_times *times, struct gpu_process_times *process)
{
	if (!process->join && times->join_count < GPU_TIMES_JOINED) {
		process->join = gpu_join__new();
		times->join_count += process->join != NULL;
	}
	return process->join;
}

static void add_to_join(struct gpu_times *times, struct gpu_process_times *process,
			const struct gpu_work *work)
{
	struct gpu_join *join = times->own_profilers ? NULL : take_join(times, process);

	if (join && gpu_join__add_work(join, work))
		times->due = true;
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
		gpu_time_sum__add(&process->copies[work->copy < GPU_COPY_KINDS ? work->copy :
										 GPU_COPY_UNKNOWN],
				  work);
		break;
	case GPU_WORK_SET: gpu_time_sum__add(&process->sets, work); break;
	case GPU_WORK_GRAPH: gpu_time_sum__add(&process->graphs, work); break;
	case GPU_WORK_CALL: add_to_join(times, process, work); return;
	default: process->refused++; return;
	}
	add_to_device(times, process, work);
	add_to_join(times, process, work);
}

/* --- records --- */

static void take_work(struct gpu_times *times, const struct gpu_times_work *record)
{
	struct gpu_process_times *process = hear(times, &record->head);
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

static void take_clock(struct gpu_times *times, const struct gpu_times_clock *record)
{
	struct gpu_process_times *process = hear(times, &record->head);
	struct gpu_join *join = process ? take_join(times, process) : NULL;

	if (join)
		gpu_join__set_clock(join, record->cupti_ns, record->boot_ns);
}

/* A number means its first name: a program cannot rename what was counted. */
static void take_name(struct gpu_times *times, const struct gpu_times_name *record)
{
	struct gpu_process_times *process = hear(times, &record->head);
	struct gpu_kernel_time *kernel = process ? take_kernel(times, process, record->name) : NULL;

	if (kernel && !kernel->name && record->text[0])
		kernel->name = strndup(record->text, sizeof(record->text) - 1);
	if (!process || (kernel && record->text[0] && !kernel->name))
		times->lost_names++;
}

static void take_failure(struct gpu_times *times, const struct gpu_times_failure *record)
{
	struct gpu_process_times *process = hear(times, &record->head);

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
	else if (head->function == GPU_TIMES_CLOCK && size >= sizeof(struct gpu_times_clock))
		take_clock(times, record);
}

struct gpu_own_profile *gpu_times__own_profile(struct gpu_times *times, pid_t pid,
					       uint64_t start_ns)
{
	const struct gpu_times_head head = {.pid = pid, .start_ns = start_ns};
	struct gpu_process_times *process = hear(times, &head);

	return process ? &process->own : NULL;
}

/* --- calls --- */

void gpu_times__take_call(struct gpu_times *times, const struct gpu_call *call)
{
	const struct gpu_times_head head = {.pid = call->pid, .start_ns = call->process_start_ns};
	struct gpu_process_times *process = take_process(times, &head);
	struct gpu_join *join = process ? take_join(times, process) : NULL;

	if (join && gpu_join__add_call(join, call))
		times->due = true;
}

struct joining {
	struct gpu_times *times;
	struct gpu_process_times *process;
};

static void take_joined(const struct gpu_joined *joined, void *arg)
{
	const struct joining *joining = arg;
	struct gpu_process_times *process = joining->process;
	const struct gpu_work *work = joined->work;
	struct gpu_kernel_time *kernel = work->kind == GPU_WORK_KERNEL ?
						 TABLE_FIND(process->kernels, number, &work->name) :
						 NULL;

	gpu_callers__add(&process->callers, joined, &joining->times->site_count);
	if (joining->times->by_path)
		gpu_paths__add(&process->paths, joined);
	if (kernel)
		gpu_delay__add(&kernel->delay, joined->called_ns, work->start_ns);
}

void gpu_times__join(struct gpu_times *times)
{
	struct gpu_process_times *process, *next;

	HASH_ITER (hh, times->processes, process, next) {
		struct joining joining = {.times = times, .process = process};

		if (process->join)
			gpu_join__run(process->join, take_joined, &joining);
	}
	times->due = false;
}

/* --- reading --- */

const struct gpu_process_times *gpu_times__find(const struct gpu_times *times, pid_t pid,
						uint64_t start_ns)
{
	const struct gpu_process_times *process, *next;

	HASH_ITER (hh, times->processes, process, next)
		if (process->heard && process->key.pid == pid &&
		    host__is_same_start(process->key.start_ns, start_ns))
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
