// SPDX-License-Identifier: BSD-2-Clause
// Files of speedscope, see forms.h.
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "output/flame/forms.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct writer {
	struct json json;
	const struct flame_graph *graph;
	const struct flame_node **path;
};

static void write_frames(struct json *j, const struct flame_graph *graph)
{
	json__key(j, "shared");
	json__object_begin(j);
	json__key(j, "frames");
	json__array_begin(j);
	for (const struct flame_frame *frame = graph->frames; frame; frame = frame->next) {
		if (frame->kind == FLAME_PROCESS)
			continue;
		json__object_begin(j);
		json__key_string(j, "name", frame->label);
		if (frame->file)
			json__key_string(j, "file", frame->file);
		if (frame->file && frame->line)
			json__key_u64(j, "line", frame->line);
		json__object_end(j);
	}
	json__array_end(j);
	json__object_end(j);
}

/* Units that speedscope knows; it has none for counts. */
static const char *unit_of(enum flame_by by)
{
	switch (by) {
	case FLAME_BYTES:
	case FLAME_LIVE_BYTES:
	case FLAME_TENSOR_BYTES:
	case FLAME_LIVE_TENSOR_BYTES: return "bytes";
	case FLAME_GPU_TIME:
	case FLAME_WAIT_TIME: return "nanoseconds";
	default: return "none";
	}
}

static void write_sample(struct writer *writer, const struct flame_node *top,
			 const struct flame_node *node)
{
	struct json *j = &writer->json;

	json__array_begin(j);
	for (unsigned int depth = top->depth + 1; depth <= node->depth; depth++)
		json__u64(j, writer->path[depth]->frame->number);
	json__array_end(j);
}

static void write_samples(struct writer *writer, const struct flame_node *top)
{
	const struct flame_node *end = flame_node__after(top);
	struct json *j = &writer->json;

	json__key(j, "samples");
	json__array_begin(j);
	for (const struct flame_node *node = top; node != end; node = flame_node__next(node)) {
		writer->path[node->depth] = node;
		if (node->self)
			write_sample(writer, top, node);
	}
	json__array_end(j);
	json__key(j, "weights");
	json__array_begin(j);
	for (const struct flame_node *node = top; node != end; node = flame_node__next(node))
		if (node->self)
			json__u64(j, node->self);
	json__array_end(j);
}

static void write_profile(struct writer *writer, const struct flame_node *top, const char *name)
{
	struct json *j = &writer->json;

	json__object_begin(j);
	json__key_string(j, "type", "sampled");
	json__key_string(j, "name", name);
	json__key_string(j, "unit", unit_of(writer->graph->by));
	json__key_u64(j, "startValue", 0);
	json__key_u64(j, "endValue", top->total);
	write_samples(writer, top);
	json__object_end(j);
}

/* Writes a profile even if the graph is empty: speedscope requires one. */
static void write_profiles(struct writer *writer, const char *name)
{
	const struct flame_graph *graph = writer->graph;

	json__key(&writer->json, "profiles");
	json__array_begin(&writer->json);
	if (!graph->root->child)
		write_profile(writer, graph->root, name);
	for (const struct flame_node *node = graph->root->child; node; node = node->next)
		write_profile(writer, node, node->frame->label);
	json__array_end(&writer->json);
}

int flame_speedscope__print(FILE *out, const struct flame_graph *graph,
			    const struct flame_caption *caption)
{
	const char *name = caption->title ? caption->title : flame_by__title(graph->by);
	struct writer writer = {.graph = graph,
				.path = calloc(graph->depth + 1, sizeof(struct flame_node *))};
	struct json *j = &writer.json;

	if (!writer.path)
		return -ENOMEM;
	json__init(j, out);
	json__object_begin(j);
	json__key_string(j, "$schema", SCHEMA);
	json__key_string(j, "name", name);
	json__key_string(j, "exporter", "gpuprobe " GPUPROBE_VERSION);
	json__key_u64(j, "activeProfileIndex", 0);
	write_frames(j, graph);
	write_profiles(&writer, name);
	json__object_end(j);
	fputc('\n', out);
	free(writer.path);
	return 0;
}
