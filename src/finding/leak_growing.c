// SPDX-License-Identifier: BSD-2-Clause
// leak-growing: live memory of a process that still runs only grows.
#include <errno.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "finding/history.h"
#include "finding/kept.h"
#include "finding/rules.h"
#include "model/devices.h"

/* Time until the device is full; 0: unknown. */
static double seconds_left(const struct finding_input *input, const struct kept *kept)
{
	const struct gpu *gpu =
		kept->device == DEVICE_UNKNOWN ?
			NULL :
			device_history__gpu(input->model, kept->process, kept->device);

	if (!gpu || gpu->total_bytes == GPU_UNKNOWN_BYTES || gpu->used_bytes == GPU_UNKNOWN_BYTES ||
	    gpu->used_bytes > gpu->total_bytes || kept->growth.slope <= 0)
		return 0;
	return (double)(gpu->total_bytes - gpu->used_bytes) / kept->growth.slope;
}

static int detect_one(const struct finding_input *input, const struct kept *kept, const void *known,
		      struct finding_list *out)
{
	double left = seconds_left(input, kept);
	struct finding *finding;

	(void)known;
	kept__follow(input, kept, false, out);
	if (kept->growth.verdict != GROWTH_GROWING ||
	    (double)kept->growth.grown < input->thresholds[LEAK_LEAST_BYTES])
		return 0;
	finding = kept__add(input, kept, out);
	if (!finding)
		return -ENOMEM;
	finding->weight = (double)kept->growth.grown;
	if (!left)
		return kept__report_growth(finding, kept, "", "");
	finding__number(finding, "full_in", left * (double)NS_PER_S, UNIT_NS);
	return kept__report_growth(finding, kept, "; at this pace its device is full in ",
				   quantity__time(left * (double)NS_PER_S).text);
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	/* For an ended process leak-at-exit applies. */
	return process->ended ? 0 : kept__each(input, process, detect_one, out);
}

const struct finding_kind leak_growing_kind = {
	.id = "leak-growing",
	.severity = SEVERITY_WARNING,
	.title = "live memory only grows",
	.advice = "Something is allocated here again and again and never freed. Look at what "
		  "holds the memory: a list or cache that only grows, an error path that returns "
		  "before its cudaFree, a buffer that is reallocated when it is too small without "
		  "freeing the old one. gpuprobe memleak -p PID lists the live allocations of "
		  "each call site with their ages. In PyTorch memory grows when tensors are kept "
		  "with their graph: sum up loss.item() or loss.detach() rather than loss, and "
		  "clear lists of outputs. torch.cuda.memory._record_memory_history() shows which "
		  "tensors they are; the calls only show the caching allocator's segments. A "
		  "cache with a limit looks the same until it is full.",
	.thresholds =
		{
			{"bytes", 1048576, UNIT_BYTES, "minimum growth"},
		},
	.detect = detect,
};
