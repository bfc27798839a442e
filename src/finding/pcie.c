// SPDX-License-Identifier: BSD-2-Clause
// The link between host and GPU, see pcie.h.
#include "finding/pcie.h"

double pcie__bandwidth(const struct model *model, const struct process *process)
{
	double least = 0, rate;

	for (size_t i = 0; i < process->gpu_count; i++) {
		int gpu = process->gpus[i].gpu;

		if (gpu < 0 || (size_t)gpu >= model->gpu_count)
			continue;
		rate = (double)model->gpus[gpu].link_bytes_per_second;
		if (rate && (!least || rate < least))
			least = rate;
	}
	return least;
}
