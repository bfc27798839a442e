// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of any contents in each output format: text and JSON reports, the metrics page, flame
 * graphs. Whatever the names are, a terminal must not act on them, a line stays one line, and JSON
 * and XML stay well formed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/xml.h"
#include "harness.h"
#include "model/model.h"
#include "output/flame/forms.h"
#include "output/metrics/metrics.h"
#include "output/monitor/monitor.h"
#include "output/json/report.h"
#include "output/report/text.h"

#define NAMES 6

/* What was printed, and how many more lines and quotes it has than with a harmless name. */
struct page {
	char *text;
	size_t length;
};

struct scene {
	struct stack_frame frames[3];
	struct stack stack;
	struct call_site sites[3];
	struct kernel kernels[1];
	struct process process;
	struct model model;
};

typedef void (*printer)(FILE *out, const struct model *model);

static void make_scene(struct scene *scene, char *const names[NAMES])
{
	*scene = (struct scene){
		.frames =
			{
				{.function = "cudaMalloc", .object = "libcudart.so.13"},
				{.function = names[0],
				 .object = names[1],
				 .file = names[2],
				 .line = 7},
				{.function = names[3],
				 .file = names[2],
				 .line = 9,
				 .kind = FRAME_PYTHON},
			},
		.kernels = {{.handle = 1,
			     .name = names[4],
			     .short_name = names[3],
			     .label = names[3],
			     .launches = 5}},
	};
	scene->stack = (struct stack){.count = 3, .frames = scene->frames};
	for (int i = 0; i < 3; i++) {
		scene->sites[i] = (struct call_site){
			.stack = &scene->stack,
			.kind = (uint8_t)(i == 0 ? SITE_LAUNCH : SITE_ALLOCATION),
			.calls = 3,
			.amount = 100,
			.kernel_short = names[3],
			.kernel_label = names[3],
		};
	}
	scene->process = (struct process){
		.pid = 12,
		.identified = true,
		.cgroup_known = true,
		.sites = scene->sites,
		.site_count = 2,
		.kernels = scene->kernels,
		.kernel_count = 1,
		.launches = 5,
	};
	snprintf(scene->process.comm, sizeof(scene->process.comm), "%s", names[5]);
	snprintf(scene->process.user, sizeof(scene->process.user), "%s", names[1]);
	scene->model = (struct model){
		.sections = SECTION_ALL,
		.stacks = true,
		.stack_sample = 1,
		.launch_sample = 1,
		.processes = &scene->process,
		.process_count = 1,
	};
}

static struct page print(printer print_form, char *const names[NAMES])
{
	struct page page;
	struct scene scene;
	FILE *out = open_memstream(&page.text, &page.length);

	MUST(out);
	make_scene(&scene, names);
	print_form(out, &scene.model);
	MUST(!fclose(out) && strlen(page.text) == page.length);
	return page;
}

static size_t count(const struct page *page, char wanted)
{
	size_t found = 0;

	for (size_t i = 0; i < page->length; i++)
		found += page->text[i] == wanted;
	return found;
}

/*
 * The whole page must be UTF-8. If it may reach a terminal, it must have no byte that a terminal
 * acts on.
 */
static void must_be_text(const struct page *page, bool printable)
{
	for (const char *at = page->text; *at;) {
		size_t length = json__utf8_length(at);

		MUST(length);
		MUST(!printable ||
		     (((uint8_t)*at >= 0x20 || *at == '\n' || *at == '\t') && *at != 0x7f));
		at += length;
	}
}

static void print_metrics(FILE *out, const struct model *model);

/* Printed with these names, the page has as many of a character as with harmless names. */
static void must_have_as_many(printer print_form, char *const names[NAMES],
			      char *const harmless[NAMES], const char *characters)
{
	struct page page = print(print_form, names), other = print(print_form, harmless);

	must_be_text(&page, print_form != print_metrics);
	for (; *characters; characters++)
		MUST(count(&page, *characters) == count(&other, *characters));
	free(page.text);
	free(other.text);
}

/* A file named like a framework's would be folded, so every frame is printed. */
static void print_text(FILE *out, const struct model *model)
{
	struct report_options options = {.top = 20, .full_names = true, .all_frames = true};

	report_text__print(out, model, &options);
}

/* So wide that no line is cut or wrapped. */
static void print_monitor(FILE *out, const struct model *model)
{
	struct monitor_text_options options = {
		.columns = 100000, .full_names = true, .all_frames = true};
	struct monitor_text *text = monitor_text__new(&options);
	const struct finding_list none = {0};

	MUST(text && !monitor_text__print(out, text, model, &none, NULL));
	monitor_text__free(text);
}

static void print_json(FILE *out, const struct model *model)
{
	report_json__print(out, model, NULL, NULL, NULL);
}

static void print_metrics(FILE *out, const struct model *model)
{
	struct metrics_options options = {.kernels = 10, .version = "0"};
	struct metrics *metrics = metrics__new(&options);

	MUST(metrics && !metrics__render(metrics, out, model, NULL, EXPOSITION_OPENMETRICS));
	metrics__free(metrics);
}

static struct flame_graph *graph_of(const struct model *model)
{
	struct flame_graph_options options = {
		.by = FLAME_LAUNCHES, .processes = true, .lines = true};
	struct flame_graph *graph;

	MUST(!flame_graph__new(model, &options, &graph));
	return graph;
}

static void print_folded(FILE *out, const struct model *model)
{
	struct flame_graph *graph = graph_of(model);

	MUST(!flame_folded__print(out, graph));
	flame_graph__free(graph);
}

static void print_svg(FILE *out, const struct model *model)
{
	struct flame_caption caption = {.title = model->processes[0].sites[0].kernel_short};
	struct flame_graph *graph = graph_of(model);

	MUST(!flame_svg__print(out, graph, model, &caption));
	flame_graph__free(graph);
}

static void print_speedscope(FILE *out, const struct model *model)
{
	struct flame_caption caption = {.title = model->processes[0].sites[0].kernel_short};
	struct flame_graph *graph = graph_of(model);

	MUST(!flame_speedscope__print(out, graph, &caption));
	flame_graph__free(graph);
}

/* An extra or missing line would mean that a name had become more than a name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char harmless_name[] = "abcdefghij", kernel_name[] = "abcdefghij";
	struct input input = {data, size};
	char *names[NAMES], *harmless[NAMES];
	unsigned int which = (unsigned int)input__number(&input, 1) % 7;

	for (int i = 0; i < NAMES; i++) {
		names[i] = input__string(&input);
		harmless[i] = i == 4 ? kernel_name : harmless_name;
		/* Absent names are skipped: an empty name may be left out. */
		if (!names[i][0]) {
			free(names[i]);
			names[i] = strdup("x");
		}
	}
	if (which == 0)
		must_have_as_many(print_text, names, harmless, "\n");
	if (which == 1)
		must_have_as_many(print_json, names, harmless, "\n");
	if (which == 2)
		must_have_as_many(print_metrics, names, harmless, "\n");
	if (which == 3)
		must_have_as_many(print_folded, names, harmless, "\n;");
	if (which == 4)
		must_have_as_many(print_svg, names, harmless, "<>");
	if (which == 5)
		must_have_as_many(print_speedscope, names, harmless, "\n");
	if (which == 6)
		must_have_as_many(print_monitor, names, harmless, "\n");
	for (int i = 0; i < NAMES; i++)
		free(names[i]);
	return 0;
}
