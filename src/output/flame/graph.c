// SPDX-License-Identifier: BSD-2-Clause
// Builds a tree of weighted frames from call sites, see graph.h.
#include "output/flame/graph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "model/devices.h"
#include "model/gpu_times.h"
#include "model/tensors.h"
#include "output/flame/parts.h"
#include "output/flame/store.h"
#include "output/kernel_text.h"

/* --- where the next frame goes --- */

struct path {
	struct flame_graph *graph;
	const struct flame_graph_options *options;
	struct flame_node *at; /* NULL: out of memory */
};

/* Takes ownership of the label. */
static void enter(struct path *path, enum flame_frame_kind kind, char *label,
		  const struct stack_frame *source)
{
	const char *file = source && path->options->lines ? source->file : NULL;

	if (path->at && label)
		path->at = flame_store__child(path->graph->store, path->at, kind, label, file,
					      file ? source->line : 0);
	else
		path->at = NULL;
	free(label);
}

static void enter_text(struct path *path, enum flame_frame_kind kind, const char *text)
{
	enter(path, kind, flame_label__text(text), NULL);
}

static bool is_cuda_function(const struct stack_frame *frame)
{
	return frame->kind == FRAME_NATIVE && frame->function &&
	       api__find(frame->function, API_NEWEST) >= 0;
}

static enum flame_frame_kind kind_of(const struct stack_frame *frame)
{
	if (frame->kind == FRAME_MARK)
		return FLAME_MARK;
	if (frame->kind == FRAME_PYTHON)
		return FLAME_PYTHON;
	return is_cuda_function(frame) ? FLAME_CUDA : FLAME_NATIVE;
}

static void enter_stack(struct path *path, const struct stack *stack)
{
	if (!stack || !stack->count) {
		enter_text(path, FLAME_MARK, "[stack not known]");
		return;
	}
	for (uint32_t i = stack->count; i-- > 0;)
		enter(path, kind_of(&stack->frames[i]), flame_label__frame(&stack->frames[i]),
		      &stack->frames[i]);
}

/* If symbols do not show which CUDA function it was, the probe does. */
static void enter_function(struct path *path, const struct call_site *site)
{
	if (site->stack && site->stack->count && is_cuda_function(&site->stack->frames[0]))
		return;
	if (site->kind != SITE_LAUNCH && site->row < api_function_count)
		enter_text(path, FLAME_CUDA, api_functions[site->row].symbol);
}

static void enter_error(struct path *path, const struct call_site *site)
{
	const char *name = NULL;
	char number[32];

	if (site->row < api_function_count)
		name = api__error_name(api_functions[site->row].desc.layer, site->code);
	snprintf(number, sizeof(number), "error %d", site->code);
	enter_text(path, FLAME_ERROR, name ? name : number);
}

static void enter_process(struct path *path, const struct process *process)
{
	enter(path, FLAME_PROCESS, flame_label__process(process), NULL);
}

static void enter_kernel(struct path *path, const struct call_site *site)
{
	if (site->kernel_label)
		enter_text(path, FLAME_KERNEL,
			   kernel_text__name_at(site, path->options->full_names));
	else
		enter_text(path, FLAME_MARK, "[kernel not known]");
}

static void enter_site(struct path *path, const struct call_site *site)
{
	enter_stack(path, site->stack);
	enter_function(path, site);
	if (site->kind == SITE_LAUNCH)
		enter_kernel(path, site);
	else if (site->kind == SITE_FAILURE)
		enter_error(path, site);
}

/* --- weights --- */

/* Limits the graph's total to 64 bits, whatever a program claims to have allocated. */
static int count(struct path *path, const struct stack *stack, uint64_t weight)
{
	struct flame_graph *graph = path->graph;

	if (!path->at)
		return -ENOMEM;
	if (weight > UINT64_MAX - graph->root->total)
		weight = UINT64_MAX - graph->root->total;
	if (!stack || !stack->count)
		graph->unknown += weight;
	stack_break__note(&graph->broken, stack);
	graph->sites++;
	path->at->self += weight;
	for (struct flame_node *node = path->at; node; node = node->parent)
		node->total += weight;
	return 0;
}

static uint64_t weight_of(const struct call_site *site, enum flame_by by)
{
	switch (by) {
	case FLAME_BYTES:
		if (site->kind != SITE_ALLOCATION || site->row >= api_function_count ||
		    !memory_kind__is_device(api_functions[site->row].desc.kind))
			return 0;
		return site->amount;
	case FLAME_LAUNCHES: return site->kind == SITE_LAUNCH ? site->calls : 0;
	case FLAME_WAIT_TIME: return site->kind == SITE_WAIT ? site->amount : 0;
	case FLAME_FAILURES: return site->kind == SITE_FAILURE ? site->calls : 0;
	default: return 0;
	}
}

static bool is_live(enum flame_by by)
{
	return by == FLAME_LIVE_BYTES || by == FLAME_LIVE_TENSOR_BYTES;
}

/* What is live at the end, of memory from CUDA or of tensors. */
static const struct live_site *live_sites(const struct process *process, enum flame_by by,
					  size_t *count)
{
	const struct tensors *tensors = process->tensors;

	if (by == FLAME_LIVE_BYTES) {
		*count = process->live_site_count;
		return process->live_sites;
	}
	*count = tensors ? tensors->live_site_count : 0;
	return tensors ? tensors->live_sites : NULL;
}

static bool has_part(const struct model *model, const struct process *process, enum flame_by by)
{
	const struct tensors *tensors = process->tensors;
	size_t live_count = 0;
	const struct live_site *live = is_live(by) ? live_sites(process, by, &live_count) : NULL;

	for (size_t i = 0; i < live_count; i++)
		if (live[i].bytes)
			return true;
	if (by == FLAME_TENSOR_BYTES)
		return tensors && tensors->total.made_bytes;
	if (by == FLAME_GPU_TIME)
		return flame_gpu_time__of(model, process) > 0;
	for (size_t i = 0; i < process->site_count; i++)
		if (weight_of(&process->sites[i], by))
			return true;
	return false;
}

static int add_live(struct flame_graph *graph, const struct flame_graph_options *options,
		    struct flame_node *from, const struct process *process)
{
	size_t live_count = 0;
	const struct live_site *sites = live_sites(process, options->by, &live_count);
	int ret = 0;

	for (size_t i = 0; i < live_count && !ret; i++) {
		const struct live_site *site = &sites[i];
		struct path path = {.graph = graph, .options = options, .at = from};

		if (!site->bytes)
			continue;
		enter_stack(&path, site->stack);
		ret = count(&path, site->stack, site->bytes);
	}
	return ret;
}

static int add_tensors(struct flame_graph *graph, const struct flame_graph_options *options,
		       struct flame_node *from, const struct process *process)
{
	const struct tensors *tensors = process->tensors;
	int ret = 0;

	for (size_t i = 0; i < tensors->site_count && !ret; i++) {
		const struct tensor_site *site = &tensors->sites[i];
		struct path path = {.graph = graph, .options = options, .at = from};

		if (!site->counts.made_bytes)
			continue;
		enter_stack(&path, site->stack);
		ret = count(&path, site->stack, site->counts.made_bytes);
	}
	return ret;
}

static int add_calls(struct flame_graph *graph, const struct flame_graph_options *options,
		     struct flame_node *from, const struct process *process)
{
	int ret = 0;

	for (size_t i = 0; i < process->site_count && !ret; i++) {
		const struct call_site *site = &process->sites[i];
		struct path path = {.graph = graph, .options = options, .at = from};
		uint64_t weight = weight_of(site, options->by);

		if (!weight)
			continue;
		enter_site(&path, site);
		ret = count(&path, site->stack, weight);
	}
	return ret;
}

/* Takes ownership of the label. */
static int add_work(struct path *path, const struct stack *stack, enum flame_frame_kind kind,
		    char *label, uint64_t ns)
{
	if (!ns) {
		free(label);
		return 0;
	}
	enter_stack(path, stack);
	if (kind == FLAME_FRAME_KINDS)
		free(label);
	else
		enter(path, kind, label, NULL);
	return count(path, stack, ns);
}

static int add_gpu_time(struct flame_graph *graph, const struct flame_graph_options *options,
			struct flame_node *from, const struct model *model,
			const struct process *process)
{
	const struct gpu_times *times = model->gpu_times;
	const struct gpu_process_times *own =
		gpu_times__find(times, process->pid, process->start_ns);
	uint64_t rest_ns = gpu_process_times__all_ns(own);
	struct path path = {.graph = graph, .options = options, .at = from};
	const struct gpu_site *site, *next;
	int ret = 0;

	HASH_ITER (hh, own->callers.sites, site, next) {
		const struct stack *stack = gpu_times__stack(times, site->key.stack);
		struct path work = {.graph = graph, .options = options, .at = from};

		rest_ns -= rest_ns < site->sum.ns ? rest_ns : site->sum.ns;
		ret = ret ? ret :
			    add_work(&work, stack,
				     site->key.kind == GPU_WORK_KERNEL ? FLAME_KERNEL : FLAME_CUDA,
				     flame_label__gpu_work(own, &site->key, options->full_names),
				     site->sum.ns);
	}
	return ret ? ret : add_work(&path, NULL, FLAME_FRAME_KINDS, NULL, rest_ns);
}

static int add_process(struct flame_graph *graph, const struct flame_graph_options *options,
		       const struct model *model, const struct process *process)
{
	struct path path = {.graph = graph, .options = options, .at = graph->root};

	if (options->processes || graph->process_count > 1)
		enter_process(&path, process);
	if (!path.at)
		return -ENOMEM;
	if (is_live(options->by))
		return add_live(graph, options, path.at, process);
	if (options->by == FLAME_TENSOR_BYTES)
		return add_tensors(graph, options, path.at, process);
	if (options->by == FLAME_GPU_TIME)
		return add_gpu_time(graph, options, path.at, model, process);
	return add_calls(graph, options, path.at, process);
}

/* --- the tree --- */

const struct flame_node *flame_node__after(const struct flame_node *node)
{
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}

const struct flame_node *flame_node__next(const struct flame_node *node)
{
	return node->child ? node->child : flame_node__after(node);
}

int flame_graph__new(const struct model *model, const struct flame_graph_options *options,
		     struct flame_graph **out)
{
	struct flame_graph *graph = calloc(1, sizeof(*graph));
	int ret;

	if (!graph)
		return -ENOMEM;
	graph->by = options->by;
	graph->amounts = options->amounts;
	graph->store = flame_store__new(&graph->root);
	ret = graph->store ? 0 : -ENOMEM;
	for (size_t i = 0; i < model->process_count; i++)
		graph->process_count += has_part(model, &model->processes[i], options->by);
	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (has_part(model, &model->processes[i], options->by))
			ret = add_process(graph, options, model, &model->processes[i]);
	if (!ret)
		ret = flame_store__arrange(graph->store);
	if (ret) {
		flame_graph__free(graph);
		return ret;
	}
	graph->frames = flame_store__frames(graph->store, &graph->frame_count);
	graph->depth = flame_store__depth(graph->store);
	*out = graph;
	return 0;
}

void flame_graph__free(struct flame_graph *graph)
{
	if (!graph)
		return;
	flame_store__free(graph->store);
	free(graph);
}

/* --- words --- */

const char *flame_by__word(enum flame_by by)
{
	static const char *const words[FLAME_BYS] = {
		"bytes",    "live-bytes", "launches",	     "wait-time",
		"failures", "gpu-time",	  "bytes --tensors", "live-bytes --tensors"};

	return words[by];
}

const char *flame_by__title(enum flame_by by)
{
	static const char *const titles[FLAME_BYS] = {
		"Device memory allocated", "Live device memory",
		"Kernel launches",	   "Time waited",
		"Failed CUDA calls",	   "GPU time",
		"Tensors allocated",	   "Live tensors",
	};

	return titles[by];
}
