/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GPU times of all work from a sample of it (--gpu-times=SHARE): how often kernels ran is known
 * exactly from the calls, how long one takes from the bursts.
 */
#ifndef MODEL_GPU_ESTIMATE_H
#define MODEL_GPU_ESTIMATE_H

#include <stdbool.h>

#include "model/gpu_times.h"
#include "model/model.h"

struct gpu_estimate {
	bool known;	/* the number of calls is; otherwise the others are 0 */
	uint64_t calls; /* launches, copies or sets of the whole run */
	uint64_t ns;	/* that all of these took */
	double error;	/* half of the 95 % interval of `ns`, as a part of it; negative: unknown */
};

/* What `calls` of this work took. */
struct gpu_estimate gpu_estimate__of(const struct gpu_time_sum *sum, uint64_t calls);

/*
 * What the process's copies of this kind took (enum gpu_copy_kind). Not known for arrays, nor if
 * the program left the direction of some copies to their addresses.
 */
struct gpu_estimate gpu_estimate__copies(const struct gpu_process_times *times,
					 const struct process *process, unsigned int kind);
struct gpu_estimate gpu_estimate__sets(const struct gpu_process_times *times,
				       const struct process *process);

/* What all kernels in graphs took. Not known if graphs of unknown size were launched. */
struct gpu_estimate gpu_estimate__graphs(const struct gpu_process_times *times,
					 const struct process *process);

struct gpu_kernel_estimate {
	const struct gpu_kernel_time *kernel;
	char *name; /* demangled; NULL: unknown */
	struct gpu_estimate estimate;
};

struct gpu_kernel_estimates {
	struct gpu_kernel_estimate *list; /* most time first; those that are unknown last */
	size_t count;
	uint64_t unseen_launches; /* of kernels that no burst has */
};

/*
 * The process's kernels that bursts have. Returns 0 or -ENOMEM. The caller clears it; `times` must
 * outlive it.
 */
int gpu_kernel_estimates__make(const struct gpu_process_times *times, const struct process *process,
			       struct gpu_kernel_estimates *out);
void gpu_kernel_estimates__clear(struct gpu_kernel_estimates *estimates);

#endif
