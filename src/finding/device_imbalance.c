// SPDX-License-Identifier: BSD-2-Clause
/*
 * Devices of one process, or ranks of one job, whose work is unequal, measured in launches or
 * copied bytes per second. A device or rank with a tenth of the highest rate or less does a
 * different job and is left out.
 *
 * Processes are ranks of one job if they have the same name and parent, or container, launch the
 * same kernels, and each has a device of its own.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "finding/device_history.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"

#define LEAST_RATIO 0
#define LEAST_LAUNCHES 1
#define LEAST_BYTES 2

/* Smallest share of the highest rate that counts as the same work. */
#define SAME_WORK 0.1
/* Smallest share of each one's time that they must have in common. */
#define COMMON_TIME 0.5
/*
 * Smallest share of one's launches that must be of kernels that the other launches too, among its
 * most launched ones.
 */
#define SAME_KERNELS 0.5
#define KERNELS_COMPARED 64
/*
 * Comparisons of two processes: among thousands of unrelated processes with one name, some are left
 * out.
 */
#define COMPARISONS 65536

/* An item to compare: a rank, or a device of a process. */
struct worker {
	const struct process *process;
	const struct gpu *gpu; /* NULL: unknown */
	uint8_t device;	       /* device number in the process */
	uint64_t from_ns, to_ns;
	double launches, bytes; /* totals */
	bool done;		/* already in a group */
};

/* The spread of the rates in a group. */
struct difference {
	const struct worker *most, *least;
	double high, low, ratio; /* per second */
	size_t count;		 /* items that do the same work */
};

static double seconds_of(const struct worker *worker)
{
	return (double)(worker->to_ns - worker->from_ns) / (double)NS_PER_S;
}

static double rate_of(const struct worker *worker, bool of_bytes)
{
	return (of_bytes ? worker->bytes : worker->launches) / seconds_of(worker);
}

/* `least`: total that each must have. */
static void compare(const struct worker *const *workers, size_t count, bool of_bytes, double least,
		    struct difference *difference)
{
	double high = 0;

	*difference = (struct difference){.low = INFINITY};
	for (size_t i = 0; i < count; i++)
		if (rate_of(workers[i], of_bytes) > high)
			high = rate_of(workers[i], of_bytes);
	for (size_t i = 0; i < count; i++) {
		double rate = rate_of(workers[i], of_bytes);

		if (rate <= SAME_WORK * high ||
		    (of_bytes ? workers[i]->bytes : workers[i]->launches) < least)
			continue;
		difference->count++;
		if (rate > difference->high) {
			difference->high = rate;
			difference->most = workers[i];
		}
		if (rate < difference->low) {
			difference->low = rate;
			difference->least = workers[i];
		}
	}
	difference->ratio = difference->count > 1 ? difference->high / difference->low : 1;
}

/* --- texts --- */

static struct quantity name_of(const struct worker *worker, bool of_ranks)
{
	struct quantity name;
	char label[GPU_LABEL_SIZE];

	if (of_ranks) {
		snprintf(name.text, sizeof(name.text), "process %d", worker->process->pid);
	} else if (worker->gpu) {
		gpu_label(worker->gpu, label);
		snprintf(name.text, sizeof(name.text), "GPU %.20s", label);
	} else {
		snprintf(name.text, sizeof(name.text), "device %u", worker->device);
	}
	return name;
}

static struct quantity rate_text(double rate, bool of_bytes)
{
	return of_bytes ? quantity__bandwidth(rate) : quantity__rate(rate);
}

static int report(struct finding *finding, const struct difference *difference, bool of_ranks,
		  bool of_bytes)
{
	const struct worker *most = difference->most, *least = difference->least;

	if (of_ranks && finding__subject(finding, "%zu processes called %.15s", difference->count,
					 most->process->comm))
		return -ENOMEM;
	if (!of_ranks && finding__subject(finding, "%zu devices of the process", difference->count))
		return -ENOMEM;
	finding->weight = difference->ratio;
	finding__number(finding, "ratio", difference->ratio, UNIT_RATIO);
	finding__number(finding, of_bytes ? "most_bytes" : "most_launches", difference->high,
			of_bytes ? UNIT_BYTES_PER_SECOND : UNIT_PER_SECOND);
	finding__number(finding, of_bytes ? "least_bytes" : "least_launches", difference->low,
			of_bytes ? UNIT_BYTES_PER_SECOND : UNIT_PER_SECOND);
	finding__number(finding, "compared", (double)difference->count, UNIT_COUNT);
	finding__number(finding, of_ranks ? "most_pid" : "most_device",
			of_ranks ? most->process->pid : most->device, UNIT_COUNT);
	finding__number(finding, of_ranks ? "least_pid" : "least_device",
			of_ranks ? least->process->pid : least->device, UNIT_COUNT);
	return finding__evidence(
		finding, "%s %s %s, %s %s: %s times as %s; %zu that do the same work were compared",
		name_of(most, of_ranks).text, of_bytes ? "copied" : "made launches at",
		rate_text(difference->high, of_bytes).text, name_of(least, of_ranks).text,
		rate_text(difference->low, of_bytes).text, quantity__ratio(difference->ratio).text,
		of_bytes ? "much" : "many", difference->count);
}

/* Adds a finding for the launches, or otherwise for the bytes, of one group. */
static int judge(const struct finding_input *input, const struct worker *const *workers,
		 size_t count, bool of_ranks, struct finding_list *out)
{
	for (int of_bytes = 0; of_bytes < 2; of_bytes++) {
		struct difference difference;
		struct finding *finding;

		compare(workers, count, of_bytes,
			input->thresholds[of_bytes ? LEAST_BYTES : LEAST_LAUNCHES], &difference);
		if (!difference.most || !difference.least || difference.count < 2 ||
		    difference.ratio < input->thresholds[LEAST_RATIO])
			continue;
		finding = finding_list__add(out, input, of_ranks ? NULL : difference.most->process);
		return finding ? report(finding, &difference, of_ranks, of_bytes) : -ENOMEM;
	}
	return 0;
}

/* --- devices of one process --- */

static void fill(const struct finding_input *input, const struct process *process,
		 const struct device_totals *device, struct worker *worker)
{
	*worker = (struct worker){
		.process = process,
		.gpu = device_history__gpu(input->model, process, device->device),
		.device = device->device,
		.from_ns =
			process->start_ns > input->began_ns ? process->start_ns : input->began_ns,
		.to_ns = process->ended ? process->ended_ns : input->model->now_ns,
		.launches = (double)device->launches,
		.bytes = (double)device->copy_bytes,
	};
}

static bool is_used(const struct device_totals *device)
{
	return device->device != DEVICE_UNKNOWN && device->launches;
}

static int detect_devices(const struct finding_input *input, const struct process *process,
			  struct finding_list *out)
{
	struct worker workers[DEVICE_UNKNOWN];
	const struct worker *group[DEVICE_UNKNOWN];
	size_t count = 0;

	for (size_t i = 0; i < process->device_count && count < DEVICE_UNKNOWN; i++) {
		if (!is_used(&process->devices[i]))
			continue;
		fill(input, process, &process->devices[i], &workers[count]);
		group[count] = &workers[count];
		count++;
	}
	if (count < 2 || workers[0].to_ns <= workers[0].from_ns)
		return 0;
	return judge(input, group, count, false, out);
}

/* --- ranks of one job --- */

/* A rank is a process with all its launches on one device. */
static bool fill_rank(const struct finding_input *input, const struct process *process,
		      struct worker *rank)
{
	const struct device_totals *only = NULL;

	for (size_t i = 0; i < process->device_count; i++) {
		if (!process->devices[i].launches)
			continue;
		if (only)
			return false;
		only = &process->devices[i];
	}
	if (!only || only->device == DEVICE_UNKNOWN)
		return false;
	fill(input, process, only, rank);
	return rank->to_ns > rank->from_ns;
}

static bool is_on_other_device(const struct worker *a, const struct worker *b)
{
	if (a->gpu && b->gpu)
		return a->gpu != b->gpu;
	/* Each process may number its own device 0. */
	return !a->gpu && !b->gpu && a->device != b->device;
}

static bool is_of_same_job(const struct process *a, const struct process *b)
{
	if (strncmp(a->comm, b->comm, sizeof(a->comm)) || !a->identified || !b->identified)
		return false;
	/* Unrelated processes may all have init as their parent. */
	if (a->parent > 1 && a->parent == b->parent)
		return true;
	return a->container[0] && !strcmp(a->container, b->container);
}

static bool has_kernel(const struct process *process, const char *name)
{
	for (size_t i = 0; i < process->kernel_count && i < KERNELS_COMPARED; i++)
		if (process->kernels[i].name && !strcmp(process->kernels[i].name, name))
			return true;
	return false;
}

static bool launches_same(const struct process *a, const struct process *b)
{
	uint64_t all = 0, same = 0;

	for (size_t i = 0; i < a->kernel_count && i < KERNELS_COMPARED; i++) {
		all += a->kernels[i].launches;
		if (a->kernels[i].name && has_kernel(b, a->kernels[i].name))
			same += a->kernels[i].launches;
	}
	return all && (double)same >= SAME_KERNELS * (double)all;
}

static bool is_at_same_time(const struct worker *a, const struct worker *b)
{
	uint64_t from = a->from_ns > b->from_ns ? a->from_ns : b->from_ns;
	uint64_t to = a->to_ns < b->to_ns ? a->to_ns : b->to_ns;
	double common = to > from ? (double)(to - from) / (double)NS_PER_S : 0;

	return common >= COMMON_TIME * seconds_of(a) && common >= COMMON_TIME * seconds_of(b);
}

/* `left`: comparisons that may still be made. */
static bool are_ranks(const struct worker *a, const struct worker *b, size_t *left)
{
	if (!*left)
		return false;
	--*left;
	return is_of_same_job(a->process, b->process) && is_on_other_device(a, b) &&
	       is_at_same_time(a, b) && launches_same(a->process, b->process);
}

/* Groups processes by name, and within that by parent. */
static int by_job(const void *a, const void *b)
{
	const struct worker *x = a, *y = b;
	int order = strncmp(x->process->comm, y->process->comm, sizeof(x->process->comm));

	if (order)
		return order;
	if (x->process->parent != y->process->parent)
		return x->process->parent < y->process->parent ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static int detect_group(const struct finding_input *input, struct worker *ranks, size_t count,
			size_t first, const struct worker **group, size_t *left,
			struct finding_list *out)
{
	const char *comm = ranks[first].process->comm;
	size_t size = 0;

	group[size++] = &ranks[first];
	for (size_t i = first + 1;
	     *left && i < count &&
	     !strncmp(ranks[i].process->comm, comm, sizeof(ranks[i].process->comm));
	     i++) {
		if (ranks[i].done || !are_ranks(&ranks[first], &ranks[i], left))
			continue;
		ranks[i].done = true;
		group[size++] = &ranks[i];
	}
	return size > 1 ? judge(input, group, size, true, out) : 0;
}

static int detect_ranks(const struct finding_input *input, struct worker *ranks,
			const struct worker **group, struct finding_list *out)
{
	size_t count = 0, left = COMPARISONS;
	int ret = 0;

	for (size_t i = 0; i < input->model->process_count; i++)
		count += fill_rank(input, &input->model->processes[i], &ranks[count]);
	qsort(ranks, count, sizeof(*ranks), by_job);
	for (size_t i = 0; i < count && !ret; i++)
		if (!ranks[i].done)
			ret = detect_group(input, ranks, count, i, group, &left, out);
	return ret;
}

static int detect(const struct finding_input *input, struct finding_list *out)
{
	size_t count = input->model->process_count;
	struct worker *ranks = calloc(count + 1, sizeof(*ranks));
	const struct worker **group = calloc(count + 1, sizeof(*group));
	int ret = ranks && group ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !ret; i++)
		ret = detect_devices(input, &input->model->processes[i], out);
	if (!ret)
		ret = detect_ranks(input, ranks, group, out);
	free(ranks);
	free(group);
	return ret;
}

const struct finding_kind device_imbalance_kind = {
	.id = "device-imbalance",
	.severity = SEVERITY_WARNING,
	.every = EVERY_CALL,
	.title = "devices or ranks of one job do unequal work",
	.advice = "In a job whose ranks wait for each other at each step, all run at the pace of "
		  "the slowest, so give each the same work: the same number of samples "
		  "(torch.utils.data.DistributedSampler, drop_last), sequences of about the same "
		  "length in each batch (sorted or bucketed by length), experts or table shards "
		  "of the same size. Check whether one rank does more than its share: evaluation, "
		  "logging, checkpoints, data for the others. If the launches are equal and one "
		  "rank is late all the same, its GPU may be slower (nvidia-smi -q -d "
		  "PERFORMANCE: clocks, power, heat), or its CPU may be shared or on the other "
		  "NUMA node. Pipeline stages, and processes that do different things on purpose, "
		  "have different rates without harm: raise the threshold.",
	.thresholds =
		{
			{"ratio", 1.2, UNIT_RATIO, "minimum ratio of the rates", .least = 1},
			{"launches", 1000, UNIT_COUNT, "minimum launches of each"},
			{"bytes", 268435456, UNIT_BYTES,
			 "minimum bytes copied by each, if these are compared"},
		},
	.detect_all = detect,
};
