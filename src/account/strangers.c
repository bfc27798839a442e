// SPDX-License-Identifier: BSD-2-Clause
// Processes that only NVML lists, see strangers.h.
#include "account/strangers.h"

#include "base/array.h"

static struct process *process_of(struct model *strangers, int32_t pid)
{
	/* Its user and control group are not known, and will not be. */
	const struct process fresh = {
		.pid = pid, .since_attach = true, .identified = true, .cgroup_known = true};

	for (size_t i = 0; i < strangers->process_count; i++)
		if (strangers->processes[i].pid == pid)
			return &strangers->processes[i];
	if (ARRAY_APPEND(strangers->processes, strangers->process_count, fresh))
		return NULL;
	return &strangers->processes[strangers->process_count - 1];
}

static int add(struct model *strangers, int gpu, const struct gpu_stranger *stranger)
{
	struct process *process = process_of(strangers, stranger->pid);
	const struct process_gpu on = {
		.ordinal = GPU_NONE,
		.gpu = gpu,
		.used_bytes = stranger->bytes ? stranger->bytes : GPU_UNKNOWN_BYTES,
		.untracked_bytes = GPU_UNKNOWN_BYTES,
	};

	if (!process || ARRAY_APPEND(process->gpus, process->gpu_count, on))
		return -ENOMEM;
	return 0;
}

int strangers__find(const struct model *model, struct model *strangers)
{
	int ret = 0;

	*strangers = (struct model){.now_ns = model->now_ns};
	for (size_t i = 0; i < model->gpu_count; i++) {
		const struct gpu *gpu = &model->gpus[i];

		for (size_t k = 0; k < gpu->stranger_count && k < GPU_STRANGERS && !ret; k++)
			ret = add(strangers, (int)i, &gpu->strangers[k]);
	}
	return ret;
}
