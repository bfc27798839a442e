// SPDX-License-Identifier: BSD-2-Clause
// Launches in the JSON report: by kernel, of graphs, of host functions; see parts.h.
#include "output/json/parts.h"

/* Three numbers, or null if the function does not report them. */
static void write_dimensions(struct json *j, const char *key, const __u32 dimensions[DIMENSIONS])
{
	json__key(j, key);
	if (!dimensions[0] && !dimensions[1] && !dimensions[2]) {
		json__null(j);
		return;
	}
	json__array_begin(j);
	for (int i = 0; i < DIMENSIONS; i++)
		json__u64(j, dimensions[i]);
	json__array_end(j);
}

static void write_range(struct json *j, const char *key, uint64_t min, uint64_t max)
{
	json__key(j, key);
	json__array_begin(j);
	json__u64(j, min);
	json__u64(j, max);
	json__array_end(j);
}

/* Time since the return of the thread's previous launch; known if a profile is kept. */
static void write_gaps(struct json *j, const struct shape_record *shape)
{
	if (!shape->gaps)
		return;
	json__key_u64(j, "gaps", shape->gaps);
	json__key_u64(j, "gap_ns", shape->gap_ns);
	write_range(j, "gap_range_ns", shape->gap_min, shape->gap_max);
}

static void write_shape(struct json *j, const struct shape_record *shape)
{
	json__key(j, "shape");
	if (!shape->samples) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_u64(j, "samples", shape->samples);
	json__key(j, "latest");
	json__object_begin(j);
	write_dimensions(j, "grid", shape->latest.grid);
	write_dimensions(j, "block", shape->latest.block);
	json__key_u64(j, "shared_bytes", shape->latest.shared_bytes);
	json__key_hex(j, "stream", shape->stream);
	json__object_end(j);
	write_range(j, "blocks", shape->blocks_min, shape->blocks_max);
	write_range(j, "threads", shape->threads_min, shape->threads_max);
	write_range(j, "shared_bytes", shape->shared_min, shape->shared_max);
	write_gaps(j, shape);
	json__object_end(j);
}

static void write_kernels(struct json *j, const struct process *p)
{
	size_t i;

	json__key(j, "kernels");
	json__array_begin(j);
	for (i = 0; i < p->kernel_count; i++) {
		const struct kernel *k = &p->kernels[i];

		json__object_begin(j);
		if (k->is_rest)
			json__key_string(j, "handle", NULL);
		else
			json__key_hex(j, "handle", k->handle);
		json__key_string(j, "name", k->name);
		json__key_string(j, "short_name", k->short_name);
		json__key_string(j, "label", k->label);
		json__key_u64(j, "launches", k->launches);
		json__key_u64(j, "captured", k->captured);
		if (process__is_estimated(p, RATE_LAUNCH))
			json__key_u64(j, "missed", k->missed);
		json_sampling__key_estimated(j, p, RATE_LAUNCH);
		json__key_u64(j, "serial", k->serial);
		write_shape(j, &k->shape);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_run(struct json *j, const struct graph_run *run)
{
	json__object_begin(j);
	json__key_known_u64(j, "kernels", run->kernels, !run->unknown);
	json__key_u64(j, "launches", run->launches);
	json__object_end(j);
}

static void write_graphs(struct json *j, const struct process *p)
{
	size_t i;

	json__key_u64(j, "graph_launches", p->graph_launches);
	json__key_u64(j, "graph_kernels", p->graph_kernels);
	json__key_u64(j, "graph_launches_of_unknown_size", p->graph_launches_of_unknown_size);
	json__key(j, "graph_sizes");
	json__array_begin(j);
	for (i = 0; i < p->graph_run_count; i++)
		write_run(j, &p->graph_runs[i]);
	json__array_end(j);
}

/* Launches captured into graphs instead of executed. */
static void write_captured(struct json *j, const struct process *p)
{
	json__key(j, "captured");
	json__object_begin(j);
	json__key_u64(j, "launches", p->captured_launches);
	json__key_u64(j, "graph_launches", p->captured_graph_launches);
	json__key_u64(j, "host_functions", p->captured_host_functions);
	json__object_end(j);
}

/* First launches; known if returns of launches are probed. */
static void write_first(struct json *j, const struct model *model, const struct process *p)
{
	json__key(j, "first_launches");
	if (!model->launch_sample) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_u64(j, "calls", p->first_launches.calls);
	json__key_u64(j, "ns", p->first_launches.ns);
	json__object_end(j);
}

void json_launch__write(struct json *j, const struct model *model, const struct process *p)
{
	json__key_u64(j, "launches", p->launches);
	write_graphs(j, p);
	json__key_u64(j, "host_functions", p->host_functions);
	write_captured(j, p);
	write_first(j, model, p);
	write_kernels(j, p);
}
