// SPDX-License-Identifier: BSD-2-Clause
// Other processes that a verdict depends on, see company.h.
#include "finding/company.h"

#include <string.h>

#include "finding/host_reasons.h"
#include "model/gpu_label.h"

#define LEAST_COLLECTIVES 16 /* fewer do not show which ranks belong together */
/*
 * largest relative difference between ranks of one job in their numbers of collective operations,
 * because of startup and operations in flight
 */
#define AS_MANY 0.1
#define UNKNOWN_DEVICE (PROFILE_DEVICES - 1)
#define OTHERS_MOST 64 /* processes on a GPU: beyond this nothing is proven about it */

static double share_of(double ns, uint64_t window_ns)
{
	return ns > 0 ? ns / (double)window_ns : 0;
}

/* --- processes that use the same GPU --- */

/* The index of a process's device in the model's list of GPUs; GPU_NONE: unknown. */
static int gpu_of(const struct process *process, int device)
{
	const struct process_gpu *gpu;

	if (process->gpu_count == 1)
		return process->gpus[0].gpu;
	gpu = gpu_label__of_device(process, device == UNKNOWN_DEVICE ? DEVICE_UNKNOWN : device);
	return gpu ? gpu->gpu : GPU_NONE;
}

/* The queue of the process's device that is this GPU; NULL: the process gave it no work. */
static const struct load_queue *queue_on(const struct process *process, const struct load *window,
					 int gpu)
{
	for (int device = 0; device < PROFILE_DEVICES; device++)
		if (window->queues[device].used && gpu_of(process, device) == gpu)
			return &window->queues[device];
	return NULL;
}

/*
 * An upper bound of how long another process may have kept the GPU busy since `from_ns`; it counts
 * as busy throughout before its judged time began.
 */
static uint64_t most_busy_ns(const struct load *window, const struct load_queue *queue,
			     uint64_t began_ns, uint64_t from_ns)
{
	uint64_t before = began_ns > from_ns ? began_ns - from_ns : 0;

	return before + (queue->idle_ns < window->ns ? window->ns - queue->idle_ns : 0);
}

/* Whether the process may use the GPU. */
static bool is_on(const struct process *process, int gpu)
{
	for (size_t i = 0; i < process->gpu_count; i++)
		if (process->gpus[i].gpu == gpu)
			return true;
	return false;
}

/* What other watched processes may have done on the GPU, and which one does most. */
struct sharing {
	double busy_ns;
	bool unknown; /* nothing is proven about one of them */
	const struct process *most;
	uint64_t launches;
};

static void add(struct sharing *sharing, const struct process *other, uint64_t launches)
{
	if (sharing->most && sharing->launches >= launches)
		return;
	sharing->most = other;
	sharing->launches = launches;
}

static void look_at(const struct company_times *times, const struct process *other, int gpu,
		    uint64_t from_ns, struct sharing *sharing)
{
	const struct load_queue *queue;
	struct load window;
	uint64_t began_ns;

	if (!times->find(times, other, &window, &began_ns)) {
		sharing->unknown |= other->launches > 0;
		if (other->launches)
			add(sharing, other, 0);
		return;
	}
	if (!window.launches && !window.copies)
		return;
	queue = queue_on(other, &window, gpu);
	if (!queue) {
		/* Its work may be on this GPU or another one. */
		if (!window.queues[UNKNOWN_DEVICE].used ||
		    gpu_of(other, UNKNOWN_DEVICE) != GPU_NONE)
			return;
		sharing->unknown = true;
		add(sharing, other, window.launches);
		return;
	}
	sharing->unknown |= !window.proves;
	sharing->busy_ns += (double)most_busy_ns(&window, queue, began_ns, from_ns);
	add(sharing, other, window.launches);
}

/* Examines the watched processes. */
static void look_at_others(const struct company_times *times, const struct process *process,
			   int gpu, uint64_t from_ns, struct sharing *sharing)
{
	const struct model *model = times->model;
	size_t looked_at = 0;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *other = &model->processes[i];

		if (other == process || !is_on(other, gpu) ||
		    !process__is_alive_after(other, from_ns))
			continue;
		if (++looked_at > OTHERS_MOST) {
			sharing->unknown = true;
			return;
		}
		look_at(times, other, gpu, from_ns, sharing);
	}
}

static void name(struct verdict_other *other, const struct process *process)
{
	other->pid = process->pid;
	memcpy(other->comm, process->comm, sizeof(other->comm));
}

/*
 * Whether a process that is not watched, or another one that has made calls, uses a GPU; false
 * without NVML, which alone knows who uses which.
 */
static bool has_company(const struct model *model, const struct process *process, uint64_t from_ns)
{
	if (!model->gpu_count)
		return false;
	for (size_t i = 0; i < model->gpu_count; i++)
		if (model->gpus[i].stranger &&
		    !model__process_of(model, model->gpus[i].stranger, 0))
			return true;
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *other = &model->processes[i];

		if (other != process && other->launches && process__is_alive_after(other, from_ns))
			return true;
	}
	return false;
}

void company__find_sharing(const struct company_times *times, const struct process *process,
			   struct verdict *verdict)
{
	const struct model *model = times->model;
	struct sharing sharing = {0};
	int gpu = verdict->device < 0 ? GPU_NONE : gpu_of(process, verdict->device);

	if (!verdict->window_ns)
		return;
	if (gpu < 0 || (size_t)gpu >= model->gpu_count) {
		if (has_company(model, process, verdict->from_ns))
			verdict->idle = SHARE_UNKNOWN;
		return;
	}
	look_at_others(times, process, gpu, verdict->from_ns, &sharing);
	if (model->gpus[gpu].stranger && !model__process_of(model, model->gpus[gpu].stranger, 0)) {
		verdict->beside.pid = model->gpus[gpu].stranger;
		sharing.unknown = true;
	}
	if (sharing.most)
		name(&verdict->beside, sharing.most);
	if (verdict->idle == SHARE_UNKNOWN || !verdict->beside.pid)
		return;
	verdict->idle =
		sharing.unknown ?
			SHARE_UNKNOWN :
			share_of(verdict->idle * (double)verdict->window_ns - sharing.busy_ns,
				 verdict->window_ns);
}

/* --- processes that this one waits for --- */

static bool is_of_nccl(const struct kernel *kernel)
{
	return kernel->short_name && !strncmp(kernel->short_name, "nccl", strlen("nccl"));
}

static uint64_t collectives_of(const struct process *process)
{
	uint64_t launches = 0;

	for (size_t i = 0; i < process->kernel_count; i++)
		if (is_of_nccl(&process->kernels[i]))
			launches += process->kernels[i].launches;
	return launches;
}

static bool are_as_many(uint64_t a, uint64_t b)
{
	uint64_t more = a > b ? a : b, less = a > b ? b : a;

	return (double)(more - less) <= AS_MANY * (double)more;
}

/*
 * The share of time that a rank does not wait for its GPU, while others wait for the rank; 0 if it
 * does wait for its GPU.
 */
static double lateness_of(const struct company_times *times, const struct process *rank)
{
	struct verdict verdict;

	times->judge(times, rank, &verdict);
	return verdict.kind == VERDICT_HOST_BOUND || verdict.kind == VERDICT_NO_WORK ?
		       1 - verdict.held :
		       0;
}

/*
 * The rank of the process's job that its GPU delays least; NULL: all ranks wait for their GPUs, or
 * there are no others.
 */
static const struct process *late_rank(const struct company_times *times,
				       const struct process *process, uint64_t middle_ns)
{
	const struct model *model = times->model;
	const struct process *latest = NULL;
	uint64_t collectives = collectives_of(process);
	double most = 0;

	for (size_t i = 0; collectives >= LEAST_COLLECTIVES && i < model->process_count; i++) {
		const struct process *rank = &model->processes[i];
		double lateness;

		if (rank == process || !process__is_alive_after(rank, middle_ns) ||
		    !are_as_many(collectives_of(rank), collectives))
			continue;
		lateness = lateness_of(times, rank);
		if (lateness <= most)
			continue;
		most = lateness;
		latest = rank;
	}
	return latest;
}

/*
 * Another process with GPU work that this one waits for through a queue, a socket or a lock; NULL:
 * none.
 */
static const struct process *who_hands_over(const struct model *model,
					    const struct process *process,
					    const struct host_reasons *reasons, uint64_t middle_ns)
{
	const struct host_reason *reason = host_reasons__main_wait(reasons);
	const struct process *other = NULL;
	struct host_other hops[HOST_HOPS];

	if (reason && host_reasons__hops(reasons, reason, hops) && hops[0].who->pid != process->pid)
		other = model__process_of(model, hops[0].who->pid, middle_ns);
	return other && other->launches ? other : NULL;
}

static void await(const struct process *other, bool collectives, struct verdict *verdict)
{
	if (!other)
		return;
	verdict->kind = VERDICT_OTHERS;
	verdict->collectives = collectives;
	name(&verdict->awaited, other);
}

/* The program is slower than its GPU, maybe because another process is. */
static void look_at_waits(const struct model *model, const struct process *process,
			  uint64_t middle_ns, struct verdict *verdict)
{
	struct host_reasons reasons;

	if (!process->host || host_reasons__of(process, model->now_ns, &reasons))
		return;
	await(who_hands_over(model, process, &reasons, middle_ns), false, verdict);
	if (verdict->kind == VERDICT_HOST_BOUND && host_reasons__awaits_requests(&reasons)) {
		verdict->kind = VERDICT_NO_WORK;
		verdict->requests = true;
	}
	host_reasons__clear(&reasons);
}

void company__find_awaited(const struct company_times *times, const struct process *process,
			   struct verdict *verdict)
{
	uint64_t middle_ns = verdict->from_ns + verdict->window_ns / 2;

	if (verdict->kind == VERDICT_GPU_BOUND)
		await(late_rank(times, process, middle_ns), true, verdict);
	else if (verdict->kind == VERDICT_HOST_BOUND)
		look_at_waits(times->model, process, middle_ns, verdict);
}
