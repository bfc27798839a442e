// SPDX-License-Identifier: BSD-2-Clause
// Processes that use CUDA and have made no call since attach, see quiet.h.
#include "ps/quiet.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "target/proc.h"

struct ps_quiet {
	const struct ps_request *request;
	struct ps *ps;
};

int ps_quiet__new(const struct ps_request *request, struct ps_quiet **out, struct error *err)
{
	struct ps_quiet *quiet = calloc(1, sizeof(*quiet));
	int ret;

	if (!quiet)
		return error__set(err, -ENOMEM, "out of memory");
	quiet->request = request;
	ret = ps_list__find(request, &quiet->ps, err);
	if (ret)
		ps_quiet__free(quiet);
	else
		*out = quiet;
	return ret;
}

void ps_quiet__free(struct ps_quiet *quiet)
{
	if (!quiet)
		return;
	ps__free(quiet->ps);
	free(quiet);
}

/* --- which are left --- */

/* Those that have not ended, in order; NULL without memory. */
static pid_t *sort_pids(const struct model *watched, size_t *count)
{
	pid_t *pids = calloc(watched->process_count + 1, sizeof(*pids));

	*count = 0;
	for (size_t i = 0; pids && i < watched->process_count; i++)
		if (!watched->processes[i].ended)
			pids[(*count)++] = watched->processes[i].pid;
	if (pids)
		qsort(pids, *count, sizeof(*pids), pid__compare);
	return pids;
}

/* /proc may show nothing of a process that only NVML lists: it stays while NVML lists it. */
static bool is_gone(const struct process *process, const struct gpu_snapshot *snapshot)
{
	struct process_info info;

	if (process->start_ns)
		return proc__info(process->pid, &info) || info.start_ns != process->start_ns ||
		       info.state == 'Z' || info.state == 'X';
	for (size_t i = 0; snapshot && i < snapshot->use_count; i++)
		if (snapshot->uses[i].pid == process->pid)
			return false;
	return true;
}

static void remove_process(struct ps *ps, size_t i)
{
	struct model *model = &ps->model;

	process__clear(&model->processes[i]);
	free(ps->rows[i].command);
	model->processes[i] = model->processes[--model->process_count];
	ps->rows[i] = ps->rows[--ps->count];
}

static int remove_others(struct ps *ps, const struct gpu_snapshot *snapshot,
			 const struct model *watched)
{
	size_t count;
	pid_t *pids = sort_pids(watched, &count);

	if (!pids)
		return -ENOMEM;
	for (size_t i = ps->count; i-- > 0;) {
		const struct process *process = &ps->model.processes[i];

		if (is_gone(process, snapshot) ||
		    bsearch(&process->pid, pids, count, sizeof(*pids), pid__compare))
			remove_process(ps, i);
	}
	free(pids);
	return 0;
}

/* --- their memory --- */

static int find_gpus(struct process *process, const struct gpu_snapshot *snapshot)
{
	int ret = 0;

	free(process->gpus);
	process->gpus = NULL;
	process->gpu_count = 0;
	/* Its memory is what NVML reports. */
	process->since_attach = true;
	for (size_t i = 0; snapshot && i < snapshot->use_count && !ret; i++)
		if (snapshot->uses[i].pid == process->pid)
			ret = ARRAY_APPEND(process->gpus, process->gpu_count,
					   (struct process_gpu){
						   .ordinal = GPU_NONE,
						   .gpu = snapshot->uses[i].gpu,
						   .used_bytes = snapshot->uses[i].bytes,
						   .untracked_bytes = GPU_UNKNOWN_BYTES,
					   });
	return ret;
}

int ps_quiet__refresh(struct ps_quiet *quiet, const struct model *watched)
{
	struct ps *ps = quiet->ps;
	int failure;
	const struct gpu_snapshot *snapshot =
		attribution__snapshot(quiet->request->attribution, 0, &failure);
	int ret = remove_others(ps, snapshot, watched);

	if (!ret && snapshot && !quiet->request->pid_count)
		ret = ps_list__add_used(quiet->request, snapshot, watched, ps);
	for (size_t i = 0; i < ps->model.process_count && !ret; i++)
		ret = find_gpus(&ps->model.processes[i], snapshot);
	return ret;
}

const struct model *ps_quiet__model(const struct ps_quiet *quiet)
{
	return quiet ? &quiet->ps->model : NULL;
}
