// SPDX-License-Identifier: BSD-2-Clause
// Times of all work from a sample of it, see gpu_estimate.h.
#include "model/gpu_estimate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "symbol/kernel_name.h"

struct gpu_estimate gpu_estimate__of(const struct gpu_time_sum *sum, uint64_t calls)
{
	uint64_t timed = sum->count - sum->untimed;

	if (!timed)
		return (struct gpu_estimate){.error = -1};
	return (struct gpu_estimate){
		.known = true,
		.calls = calls,
		.ns = saturate__double((double)sum->ns / (double)timed * (double)calls),
		.error = gpu_sample__error(&sum->sample),
	};
}

static uint64_t calls_of(const struct process *process, enum copy_kind kind)
{
	uint64_t calls = 0;

	for (int async = 0; async < 2; async++)
		calls += process->copies[kind][async].calls +
			 process->copies[kind][async].unfollowed_calls;
	return calls;
}

struct gpu_estimate gpu_estimate__copies(const struct gpu_process_times *times,
					 const struct process *process, unsigned int kind)
{
	static const struct {
		bool known;
		enum copy_kind kind;
	} kinds[GPU_COPY_KINDS] = {
		[GPU_COPY_H2D] = {true, COPY_H2D}, [GPU_COPY_D2H] = {true, COPY_D2H},
		[GPU_COPY_D2D] = {true, COPY_D2D}, [GPU_COPY_H2H] = {true, COPY_H2H},
		[GPU_COPY_P2P] = {true, COPY_P2P},
	};

	if (!kinds[kind].known || calls_of(process, COPY_DEFAULT))
		return (struct gpu_estimate){.error = -1};
	return gpu_estimate__of(&times->copies[kind], calls_of(process, kinds[kind].kind));
}

struct gpu_estimate gpu_estimate__sets(const struct gpu_process_times *times,
				       const struct process *process)
{
	return gpu_estimate__of(&times->sets, calls_of(process, COPY_SET));
}

struct gpu_estimate gpu_estimate__graphs(const struct gpu_process_times *times,
					 const struct process *process)
{
	if (process->graph_launches_of_unknown_size)
		return (struct gpu_estimate){.error = -1};
	return gpu_estimate__of(&times->graph_kernels, process->graph_kernels);
}

/* --- kernels --- */

/* A kernel by its calls. */
struct counted {
	const struct kernel *kernel;
	bool seen; /* a burst has it */
};

static int by_name(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	return strcmp(x->kernel->name, y->kernel->name);
}

/* The kernels with names, sorted by these. NULL without memory. */
static struct counted *sort_counted(const struct process *process, size_t *count)
{
	struct counted *sorted = calloc(process->kernel_count + 1, sizeof(*sorted));

	*count = 0;
	for (size_t i = 0; sorted && i < process->kernel_count; i++)
		if (process->kernels[i].name)
			sorted[(*count)++].kernel = &process->kernels[i];
	if (sorted)
		qsort(sorted, *count, sizeof(*sorted), by_name);
	return sorted;
}

static struct counted *find(struct counted *sorted, size_t count, char *name)
{
	const struct kernel kernel = {.name = name};
	const struct counted key = {.kernel = &kernel};

	return name ? bsearch(&key, sorted, count, sizeof(*sorted), by_name) : NULL;
}

static int by_estimate(const void *a, const void *b)
{
	const struct gpu_kernel_estimate *x = a, *y = b;

	if (x->estimate.ns != y->estimate.ns)
		return x->estimate.ns < y->estimate.ns ? 1 : -1;
	return x->kernel->number < y->kernel->number ? -1 : x->kernel->number > y->kernel->number;
}

int gpu_kernel_estimates__make(const struct gpu_process_times *times, const struct process *process,
			       struct gpu_kernel_estimates *out)
{
	size_t count, counted_count;
	const struct gpu_kernel_time **sorted = gpu_times__sort(times, &count);
	struct counted *counted = sort_counted(process, &counted_count);
	uint64_t spent_ns = 0;

	*out = (struct gpu_kernel_estimates){.list = calloc(count + 1, sizeof(*out->list)),
					     .unseen_launches = process->launches};
	for (size_t i = 0; sorted && counted && out->list && i < count; i++) {
		struct gpu_kernel_estimate *made = &out->list[out->count++];
		struct counted *found;

		made->kernel = sorted[i];
		if (sorted[i]->name)
			made->name = kernel_name__demangle_within(&spent_ns, sorted[i]->name);
		made->estimate.error = -1;
		found = find(counted, counted_count, made->name);
		if (!found || found->seen)
			continue;
		found->seen = true;
		made->estimate = gpu_estimate__of(&sorted[i]->sum, found->kernel->launches);
		out->unseen_launches =
			saturate__difference(out->unseen_launches, found->kernel->launches);
	}
	free(sorted);
	free(counted);
	if (!sorted || !counted || !out->list) {
		gpu_kernel_estimates__clear(out);
		return -ENOMEM;
	}
	qsort(out->list, out->count, sizeof(*out->list), by_estimate);
	return 0;
}

void gpu_kernel_estimates__clear(struct gpu_kernel_estimates *estimates)
{
	for (size_t i = 0; i < estimates->count; i++)
		free(estimates->list[i].name);
	free(estimates->list);
	*estimates = (struct gpu_kernel_estimates){0};
}
