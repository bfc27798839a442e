// SPDX-License-Identifier: BSD-2-Clause
// The details of one process, see web.h.
#include "output/web/web.h"

#include <errno.h>
#include <string.h>

#include "base/text_stream.h"
#include "output/enum_names.h"
#include "output/flame/forms.h"
#include "output/json/parts.h"
#include "output/json/profile.h"
#include "output/kernel_text.h"
#include "output/web/parts.h"

static void write_memory(struct json *j, const struct process *process)
{
	json__key(j, "memory");
	json__object_begin(j);
	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		json_memory__write_totals(j, enum_names__memory_kind(kind), &process->memory[kind]);
	json__object_end(j);
}

static void write_kernels(struct json *j, const struct process *process)
{
	char room[KERNEL_TEXT_SIZE];

	json__key_u64(j, "launches", process->launches);
	json__key_u64(j, "kernel_count", process->kernel_count);
	json__key(j, "kernels");
	json__array_begin(j);
	for (size_t i = 0; i < process->kernel_count && i < WEB_KERNELS; i++) {
		const struct kernel *kernel = &process->kernels[i];

		json__object_begin(j);
		json__key_string(j, "label", kernel_text__name(kernel, false, room));
		json__key_string(j, "name", kernel->name);
		json__key_u64(j, "launches", kernel->launches);
		json__object_end(j);
	}
	json__array_end(j);
}

/* The call sites with the most live memory, largest first. */
static void write_sites(struct json *j, const struct process *process)
{
	json__key_u64(j, "live_site_count", process->live_site_count);
	json__key(j, "live_sites");
	json__array_begin(j);
	for (size_t i = 0; i < process->live_site_count && i < WEB_SITES; i++) {
		const struct live_site *site = &process->live_sites[i];

		json__object_begin(j);
		json__key_u64(j, "bytes", site->bytes);
		json__key_u64(j, "count", site->count);
		json_stack__write(j, site->stack);
		json__object_end(j);
	}
	json__array_end(j);
}

int web_process__print(FILE *out, const struct web_view *view, const struct process *process)
{
	unsigned int sections = view->model->sections;
	struct json j;

	json__init(&j, out);
	json__object_begin(&j);
	web_parts__write_head(&j, view);
	web_parts__write_process(&j, view, process);
	if (sections & SECTION_MEMORY)
		write_memory(&j, process);
	if (sections & SECTION_LAUNCH) {
		write_kernels(&j, process);
		json_steps__write(&j, process);
	}
	if (sections & SECTION_COPY) {
		json_copy__write(&j, process);
		json_wait__write(&j, process);
	}
	json_error__write(&j, process);
	write_sites(&j, process);
	history__write_sites(view->history, process->serial, &j);
	json__object_end(&j);
	fputc('\n', out);
	return 0;
}

static struct timespec began_wall(const struct web_view *view)
{
	const struct model *model = view->model;
	int64_t wall_ns = (int64_t)model->wall.tv_sec * 1000000000 + model->wall.tv_nsec,
		began_ns = wall_ns - (int64_t)(model->now_ns - view->began_ns);

	return (struct timespec){.tv_sec = (time_t)(began_ns / 1000000000),
				 .tv_nsec = (long)(began_ns % 1000000000)};
}

int web_flame__print(FILE *out, const struct web_view *view, const struct process *process)
{
	/* The graph only reads it. */
	struct model alone = *view->model;
	const struct flame_graph_options options = {.by = FLAME_LIVE_BYTES, .processes = true};
	const struct flame_caption caption = {.begin = began_wall(view)};
	struct flame_graph *graph = NULL;
	int ret;

	alone.processes = (struct process *)process;
	alone.process_count = 1;
	ret = flame_graph__new(&alone, &options, &graph);
	if (!ret)
		ret = flame_svg__print(out, graph, &alone, &caption);
	flame_graph__free(graph);
	return ret;
}
