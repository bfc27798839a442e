// SPDX-License-Identifier: BSD-2-Clause
// What findings ask of GPU times, see gpu_times.h.
#include "base/saturate.h"
#include "model/gpu_times.h"

/* Whether all work is known, as far as is known. */
static bool is_whole(const struct gpu_times *times, const struct gpu_process_times *process)
{
	uint64_t untimed =
		process->all_kernels.untimed + process->sets.untimed + process->graphs.untimed;

	for (size_t i = 0; i < GPU_COPY_KINDS; i++)
		untimed += process->copies[i].untimed;
	return !(times->share > 0) && !untimed && !process->failed && !process->dropped &&
	       !process->unknown_devices && !process->refused && !times->unread_work &&
	       !times->lost_work;
}

/* By CUPTI's clock; 0 if the clocks were never compared. */
static uint64_t on_cuptis_clock(const struct gpu_process_times *process, uint64_t boot_ns)
{
	int64_t offset_ns;

	if (!boot_ns || !process->join || !gpu_join__clock(process->join, &offset_ns))
		return 0;
	return boot_ns - (uint64_t)offset_ns;
}

static void look_at(const struct gpu_process_times *process, unsigned int device, uint64_t since_ns,
		    struct gpu_busy *found)
{
	const struct busy_time *busy = &process->busy[device];
	uint64_t from_ns = since_ns, from_too_ns = since_ns, without_copies_ns;
	struct gpu_busy here = {.device = device, .ns = busy_time__ns_since(busy, &from_ns)};

	if (busy->late || from_ns >= busy->last_ns)
		return;
	here.window_ns = busy->last_ns - from_ns;
	without_copies_ns = busy_time__ns_since(&process->without_copies[device], &from_too_ns);
	here.only_copies_ns = saturate__difference(here.ns, without_copies_ns);
	here.gaps = &process->callers.gaps[device];
	if (!found->window_ns || here.ns > found->ns)
		*found = here;
}

bool gpu_times__busiest(const struct gpu_times *times, const struct gpu_process_times *process,
			uint64_t since_ns, struct gpu_busy *busy)
{
	*busy = (struct gpu_busy){0};
	if (!process || !is_whole(times, process))
		return false;
	for (unsigned int i = 0; i < GPU_TIMES_DEVICES; i++)
		if (process->busy[i].spans)
			look_at(process, i, on_cuptis_clock(process, since_ns), busy);
	return busy->window_ns > 0;
}

uint64_t gpu_process_times__all_ns(const struct gpu_process_times *process)
{
	uint64_t ns = saturate__sum(process->all_kernels.ns,
				    saturate__sum(process->sets.ns, process->graphs.ns));

	for (size_t i = 0; i < GPU_COPY_KINDS; i++)
		saturate__add(&ns, process->copies[i].ns);
	return ns;
}

const struct stack *gpu_times__stack(const struct gpu_times *times, uint64_t id)
{
	return id && times->find_stack ? times->find_stack(times->find_arg, id) : NULL;
}

const struct stack *gpu_times__main_stack(const struct gpu_times *times,
					  const struct gpu_process_times *process,
					  const struct gpu_kernel_time *kernel)
{
	const struct gpu_site *site, *next, *most = NULL;

	HASH_ITER (hh, process->callers.sites, site, next) {
		if (kernel &&
		    (site->key.kind != GPU_WORK_KERNEL || site->key.name != kernel->number))
			continue;
		if (!most || site->sum.ns > most->sum.ns)
			most = site;
	}
	return most ? gpu_times__stack(times, most->key.stack) : NULL;
}

uint64_t gpu_process_times__work(const struct gpu_process_times *process, uint64_t *uncalled)
{
	const struct gpu_time_sum *others[] = {&process->all_kernels, &process->sets,
					       &process->graphs};
	uint64_t count = 0;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		count += others[i]->count - others[i]->untimed;
	for (size_t i = 0; i < GPU_COPY_KINDS; i++)
		count += process->copies[i].count - process->copies[i].untimed;
	*uncalled = saturate__difference(count, process->callers.all.count);
	return count;
}
