// SPDX-License-Identifier: BSD-2-Clause
/* The steps of an instantiated graph and their times with the device clock, see step.h. */
#include "cuda/step.h"
#include "cuda/durations.h"

#include <stdlib.h>

static size_t count_steps(const struct CUgraph_st *graph)
{
	size_t count = graph->nr_nodes;

	for (const struct CUgraphNode_st *node = graph->first; node; node = node->next)
		if (node->type == CU_GRAPH_NODE_TYPE_GRAPH && node->child)
			count += count_steps(node->child);
	return count;
}

static uint64_t kernel_name(const CUDA_KERNEL_NODE_PARAMS *params)
{
	const void *handle = params->func ? (void *)params->func : (void *)params->kern;

	return kernel__name_id(handle);
}

static enum work work_of(CUgraphNodeType type)
{
	switch ((int)type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return WORK_KERNEL;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return WORK_COPY;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return WORK_SET;
	}
	return WORK_OTHER;
}

static uint64_t amount_of(const struct CUgraphNode_st *node)
{
	const CUDA_MEMSET_NODE_PARAMS *set = &node->set;
	const CUDA_MEMCPY3D *copy = &node->copy;

	switch ((int)node->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return kernel_name(&node->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return node->bytes ?: copy->WidthInBytes * copy->Height * copy->Depth;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return node->bytes ?: set->elementSize * set->width * set->height;
	}
	return 0;
}

/* A captured copy is of unknown kind. */
static enum sim_copy_kind copy_of(const struct CUgraphNode_st *node)
{
	bool from_host = node->copy.srcMemoryType == CU_MEMORYTYPE_HOST;
	bool to_host = node->copy.dstMemoryType == CU_MEMORYTYPE_HOST;

	if (node->type != CU_GRAPH_NODE_TYPE_MEMCPY || node->bytes)
		return SIM_DEFAULT;
	if (to_host)
		return from_host ? SIM_H2H : SIM_D2H;
	return from_host ? SIM_H2D : SIM_D2D;
}

/* With the device clock. */
static uint64_t work_ns(enum work work, uint64_t amount)
{
	return work == WORK_OTHER ? 0 : durations__of(work, amount) + durations__of_node();
}

static struct step *fill_steps(struct step *step, const struct CUgraph_st *graph)
{
	for (const struct CUgraphNode_st *node = graph->first; node; node = node->next) {
		*step = (struct step){
			.node = node, .id = node->id, .kernels = node->kernels,
			.type = node->type, .enabled = true,
		};
		if (node->type == CU_GRAPH_NODE_TYPE_HOST)
			step->host = node->host;
		if (node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
			step->event = node->event;
		if (node->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
			step->awaited = node->event;
		if (driver.clock) {
			step->amount = amount_of(node);
			step->copy = copy_of(node);
			/* the nodes of a child graph are separate steps */
			step->device_ns = node->type == CU_GRAPH_NODE_TYPE_GRAPH ?
						  node->device_ns :
						  work_ns(work_of(node->type), step->amount);
		}
		if (node->owns_memory)
			step->allocates = node->allocation.dptr;
		step++;
		if (node->type == CU_GRAPH_NODE_TYPE_GRAPH && node->child)
			step = fill_steps(step, node->child);
	}
	return step;
}

struct step *steps__new(struct CUgraph_st *graph, size_t *count)
{
	struct step *steps;

	pthread_mutex_lock(&driver.lock);
	*count = count_steps(graph);
	steps = calloc(*count + 1, sizeof(*steps));
	if (steps)
		fill_steps(steps, graph);
	pthread_mutex_unlock(&driver.lock);
	return steps;
}

void step__set_kernel(struct step *step, const CUDA_KERNEL_NODE_PARAMS *params)
{
	step->amount = kernel_name(params);
	step->device_ns = work_ns(WORK_KERNEL, step->amount);
}

void steps__tell(const struct step *steps, size_t count, const struct CUstream_st *stream,
		 uint64_t begin)
{
	for (size_t i = 0; i < count; i++) {
		const struct step *step = &steps[i];
		enum work work = work_of(step->type);

		if (!step->enabled)
			continue;
		if (work != WORK_OTHER)
			listener__node(stream, work, step->copy, step->amount,
				       begin + durations__of_node(), begin + step->device_ns);
		begin += step->device_ns;
	}
}
