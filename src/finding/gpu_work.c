// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the GPU's own clock shows (--gpu-times): copies while no kernel runs, kernels too small for
 * the GPU, and work that the GPU begins late although it has nothing else to do.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "finding/rules.h"
#include "finding/verdict.h"
#include "model/gpu_times.h"
#include "symbol/kernel_label.h"

/* The process's times, and its busiest GPU's; NULL: they are not known, or not whole. */
static const struct gpu_process_times *
times_of(const struct finding_input *input, const struct process *process, struct gpu_busy *busy)
{
	const struct gpu_times *all = input->model->gpu_times;
	const struct gpu_process_times *times =
		all ? gpu_times__find(all, process->pid, process->start_ns) : NULL;

	return times && gpu_times__busiest(all, times, 0, busy) ? times : NULL;
}

static double share_of(uint64_t ns, uint64_t whole_ns)
{
	return whole_ns ? (double)ns / (double)whole_ns : 0;
}

static uint64_t idle_ns(const struct gpu_busy *busy)
{
	return busy->window_ns > busy->ns ? busy->window_ns - busy->ns : 0;
}

/* --- no-overlap --- */

enum {
	COPY_SHARE,
	COPY_CALLS,
	COPY_OVERLAP,
	COPY_KERNELS,
};

static struct gpu_time_sum all_copies(const struct gpu_process_times *times)
{
	struct gpu_time_sum all = {0};

	for (size_t i = 0; i < GPU_COPY_KINDS; i++) {
		all.count += times->copies[i].count;
		all.ns += times->copies[i].ns;
		all.bytes += times->copies[i].bytes;
	}
	return all;
}

/* Copies that run beside kernels take no time of their own. */
static bool copies_stand_alone(const double *thresholds, const struct gpu_busy *busy,
			       const struct gpu_time_sum *copies)
{
	uint64_t kernels_ns = busy->ns > busy->only_copies_ns ? busy->ns - busy->only_copies_ns : 0;

	return (double)copies->count >= thresholds[COPY_CALLS] &&
	       share_of(busy->only_copies_ns, busy->window_ns) >= thresholds[COPY_SHARE] &&
	       1 - share_of(busy->only_copies_ns, copies->ns) <= thresholds[COPY_OVERLAP] &&
	       share_of(kernels_ns, busy->window_ns) >= thresholds[COPY_KERNELS];
}

static int detect_no_overlap(const struct finding_input *input, const struct process *process,
			     struct finding_list *out)
{
	struct gpu_busy busy;
	const struct gpu_process_times *times = times_of(input, process, &busy);
	struct gpu_time_sum copies;
	struct finding *finding;
	uint64_t kernels_ns;

	if (!times)
		return 0;
	copies = all_copies(times);
	if (!copies_stand_alone(input->thresholds, &busy, &copies))
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	kernels_ns = busy.ns - busy.only_copies_ns;
	finding__number(finding, "copies", (double)copies.count, UNIT_COUNT);
	finding__number(finding, "copies_ns", (double)copies.ns, UNIT_NS);
	finding__number(finding, "alone_ns", (double)busy.only_copies_ns, UNIT_NS);
	finding__number(finding, "kernels_ns", (double)kernels_ns, UNIT_NS);
	finding__cost(finding, busy.only_copies_ns, busy.window_ns);
	finding__saving(finding,
			busy.only_copies_ns < kernels_ns ? busy.only_copies_ns : kernels_ns,
			"all copies run beside kernels");
	return finding__evidence(
		finding,
		"%s copies took %s on GPU %u, and no kernel ran for %s of it, %s "
		"of %s (exact, by GPU times); kernels ran for %s",
		quantity__amount((double)copies.count).text, quantity__time((double)copies.ns).text,
		busy.device, quantity__time((double)busy.only_copies_ns).text,
		quantity__share(share_of(busy.only_copies_ns, busy.window_ns)).text,
		quantity__time((double)busy.window_ns).text,
		quantity__time((double)kernels_ns).text);
}

const struct finding_kind no_overlap_kind = {
	.id = "no-overlap",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_GPU_TIMES,
	.title = "copies never run beside kernels",
	.advice = "Let copies of the next step run while the kernels of this one do: put copies "
		  "in a stream of their own, made with cudaStreamNonBlocking, copy pinned memory "
		  "by cudaMemcpyAsync, use two buffers in turn, and order both streams by events. "
		  "In PyTorch use pin_memory=True, .to(device, non_blocking=True) and a prefetch "
		  "of the next batch in a torch.cuda.Stream. A copy whose kernel is the next work "
		  "of all cannot overlap: nothing else is left to run meanwhile.",
	.cost = "copies while no kernel ran",
	.thresholds =
		{
			{"share", 0.1, UNIT_SHARE,
			 "minimum share of the time in which copies run alone"},
			{"calls", 100, UNIT_COUNT, "minimum copies"},
			{"overlap", 0.1, UNIT_SHARE,
			 "maximum share of the copies' time beside kernels"},
			{"kernels", 0.1, UNIT_SHARE,
			 "minimum share of the time in which kernels run"},
		},
	.detect = detect_no_overlap,
};

/* --- small-kernels --- */

enum {
	SMALL_SHARE,
	SMALL_TIME,
	SMALL_KERNELS,
	SMALL_IDLE,
};

struct small {
	uint64_t count, ns;
	const struct gpu_kernel_time *most; /* of the most launches */
};

static struct small small_kernels(const struct gpu_process_times *times, double most_ns)
{
	const struct gpu_kernel_time *kernel, *next;
	struct small small = {0};

	HASH_ITER (hh, times->kernels, kernel, next) {
		if (!kernel->sum.count || (double)gpu_time_sum__mean(&kernel->sum) >= most_ns)
			continue;
		small.count += kernel->sum.count;
		small.ns += kernel->sum.ns;
		if (!small.most || kernel->sum.count > small.most->sum.count)
			small.most = kernel;
	}
	return small;
}

static int name_kernel(const struct finding_input *input, const struct gpu_kernel_time *kernel,
		       struct finding *finding)
{
	uint64_t spent_ns = 0;
	char *text;
	int ret;

	if (!kernel->name)
		return 0;
	text = kernel_label__text(&spent_ns, kernel->name, findings__has_full_names(input->state));
	ret = text ? finding__subject(finding, "%s", text) : -ENOMEM;
	free(text);
	return ret;
}

static int detect_small_kernels(const struct finding_input *input, const struct process *process,
				struct finding_list *out)
{
	const double *thresholds = input->thresholds;
	struct gpu_busy busy;
	const struct gpu_process_times *times = times_of(input, process, &busy);
	struct finding *finding;
	struct small small;
	double share, idle;

	if (!times)
		return 0;
	small = small_kernels(times, thresholds[SMALL_TIME]);
	share = share_of(small.count, times->all_kernels.count);
	idle = share_of(idle_ns(&busy), busy.window_ns);
	if (!small.most || share < thresholds[SMALL_SHARE] ||
	    (double)small.count < thresholds[SMALL_KERNELS] || idle < thresholds[SMALL_IDLE])
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding || name_kernel(input, small.most, finding))
		return -ENOMEM;
	finding->stack = gpu_times__main_stack(input->model->gpu_times, times, small.most);
	finding->weight = (double)small.count;
	finding__number(finding, "kernels", (double)small.count, UNIT_COUNT);
	finding__number(finding, "share", share, UNIT_SHARE);
	finding__number(finding, "mean", (double)(small.ns / small.count), UNIT_NS);
	finding__number(finding, "idle", idle, UNIT_SHARE);
	return finding__evidence(finding,
				 "%s of %s kernels ran for %s on average, and GPU %u was idle %s "
				 "of %s (exact, by GPU times)",
				 quantity__share(share).text,
				 quantity__amount((double)times->all_kernels.count).text,
				 quantity__time((double)small.ns / (double)small.count).text,
				 busy.device, quantity__share(idle).text,
				 quantity__time((double)busy.window_ns).text);
}

const struct finding_kind small_kernels_kind = {
	.id = "small-kernels",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_GPU_TIMES,
	.title = "kernels are too small for the GPU",
	.advice = "The GPU is done with a kernel before the program has launched the next one. "
		  "Give each kernel more work (a larger batch, several items in one launch), fuse "
		  "kernels (torch.compile, a library's fused operation), or launch many at once "
		  "as a CUDA graph.",
	.thresholds =
		{
			{"share", 0.5, UNIT_SHARE, "minimum share of the kernels"},
			{"time", 10e3, UNIT_NS, "mean time below which a kernel is small"},
			{"kernels", 1000, UNIT_COUNT, "minimum of them"},
			{"idle", 0.3, UNIT_SHARE, "minimum share of the time without work"},
		},
	.detect = detect_small_kernels,
};

/* --- launch-latency --- */

enum {
	LATENCY_SHARE,
	LATENCY_GAPS,
	LATENCY_MEAN,
	LATENCY_KNOWN,
};

/* Work may then start late because the GPU does the other process's. */
static bool shares_its_gpu(const struct model *model, const struct process *process)
{
	struct verdict verdict;

	verdict__judge(model, process, &verdict);
	return verdict.beside.pid;
}

static int detect_launch_latency(const struct finding_input *input, const struct process *process,
				 struct finding_list *out)
{
	const double *thresholds = input->thresholds;
	struct gpu_busy busy;
	const struct gpu_process_times *times = times_of(input, process, &busy);
	uint64_t uncalled, count, late_ns;
	struct finding *finding;
	double mean_ns;

	if (!times || !busy.gaps->count)
		return 0;
	count = gpu_process_times__work(times, &uncalled);
	late_ns = busy.gaps->after_call_ns;
	mean_ns = (double)late_ns / (double)busy.gaps->count;
	if (share_of(late_ns, busy.window_ns) < thresholds[LATENCY_SHARE] ||
	    (double)busy.gaps->count < thresholds[LATENCY_GAPS] ||
	    mean_ns < thresholds[LATENCY_MEAN] ||
	    1 - share_of(uncalled, count) < thresholds[LATENCY_KNOWN] ||
	    shares_its_gpu(input->model, process))
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding)
		return -ENOMEM;
	finding->stack = gpu_times__main_stack(input->model->gpu_times, times, NULL);
	finding__number(finding, "gaps", (double)busy.gaps->count, UNIT_COUNT);
	finding__number(finding, "late_ns", (double)late_ns, UNIT_NS);
	finding__number(finding, "mean", mean_ns, UNIT_NS);
	finding__number(finding, "before_call_ns", (double)busy.gaps->before_call_ns, UNIT_NS);
	finding__cost(finding, late_ns, busy.window_ns);
	return finding__evidence(
		finding,
		"%s times GPU %u was idle although its next work had been called: %s from the call "
		"to the start on average, together %s of %s; %s more until the next call (exact, "
		"by GPU times)",
		quantity__amount((double)busy.gaps->count).text, busy.device,
		quantity__time(mean_ns).text,
		quantity__share(share_of(late_ns, busy.window_ns)).text,
		quantity__time((double)busy.window_ns).text,
		quantity__time((double)busy.gaps->before_call_ns).text);
}

const struct finding_kind launch_latency_kind = {
	.id = "launch-latency",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_GPU_TIMES,
	.title = "the idle GPU begins called work late",
	.advice = "The GPU has nothing to do, and yet work starts some time after its call. That "
		  "is what a launch takes until it reaches the GPU, or a wait for an event of "
		  "another stream. Call further ahead: wait less often, so that the next work is "
		  "queued before the GPU is done, or launch CUDA graphs.",
	.cost = "idle times of the GPU between a call and the start of its work",
	.thresholds =
		{
			{"share", 0.1, UNIT_SHARE, "minimum share of the time"},
			{"gaps", 100, UNIT_COUNT, "minimum idle times"},
			{"mean", 30e3, UNIT_NS, "minimum mean time of one"},
			{"known", 0.9, UNIT_SHARE, "minimum share of the work whose call is known"},
		},
	.detect = detect_launch_latency,
};
