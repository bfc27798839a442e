// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe flame`: counts by call stack, and writes that as a graph at the end; see subcommand.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text_stream.h"
#include "cli/session/counting.h"
#include "cli/options/flame_options.h"
#include "cli/commands/subcommand.h"
#include "cli/files/whole_file.h"
#include "output/flame/forms.h"

struct flame {
	const struct flame_options *options;
	const struct log *log;
	struct counting *counting;
	struct whole_file *file;
	struct timespec begin;
};

/* What is probed, so that what is shown is whole and nothing else costs. */
static void choose_probes(enum flame_by by, struct counting_options *counting)
{
	static const struct {
		unsigned int sections;
		enum site_kind kind;
	} choices[FLAME_BYS] = {
		[FLAME_BYTES] = {SECTION_MEMORY, SITE_ALLOCATION},
		[FLAME_LIVE_BYTES] = {SECTION_MEMORY, SITE_ALLOCATION},
		[FLAME_LAUNCHES] = {SECTION_LAUNCH, SITE_LAUNCH},
		[FLAME_WAIT_TIME] = {SECTION_COPY | SECTION_MEMORY, SITE_WAIT}, /* frees wait too */
		[FLAME_FAILURES] = {SECTION_ALL, SITE_FAILURE},
	};

	counting->sections = choices[by].sections;
	counting->stack_sites = 1u << choices[by].kind;
	counting->check_launches = by == FLAME_FAILURES;
}

static int set_up(struct flame *flame, struct error *err)
{
	const struct flame_options *options = flame->options;
	struct counting_options counting = {
		.targets = &options->targets,
		.duration = options->duration,
		.end_with_pids = true,
		.api = API_AUTO,
		.limits = COUNTING_LIMITS,
		.top = 1,
		.stacks = options->stacks,
	};
	int ret;

	choose_probes(options->by, &counting);
	/* First, while a signal ends gpuprobe: it may be a pipe that nobody reads yet. */
	ret = whole_file__new(options->file, &flame->file, err);
	if (!ret)
		ret = counting__new(&counting, flame->log, &flame->counting, err);
	if (!ret)
		ret = counting__prepare(flame->counting, err);
	if (!ret)
		ret = counting__attach(flame->counting, err);
	flame->begin = clock__wall();
	return ret;
}

/* --- at the end --- */

static int print_form(const struct flame *flame, const struct flame_graph *graph, FILE *out)
{
	const struct flame_caption caption = {.title = flame->options->title, .begin = flame->begin};

	switch (flame->options->form) {
	case FLAME_SVG:
		return flame_svg__print(out, graph, counting__model(flame->counting), &caption);
	case FLAME_SPEEDSCOPE:
		return flame_speedscope__print(out, graph, &caption);
	default:
		return flame_folded__print(out, graph);
	}
}

static int write_form(const struct flame *flame, const struct flame_graph *graph, struct error *err)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);
	int ret = out ? print_form(flame, graph, out) : -ENOMEM;

	if (out && fclose(out) && !ret)
		ret = -ENOMEM;
	ret = ret ? error__set(err, ret, "out of memory") : whole_file__write(flame->file, text, length, err);
	free(text);
	return ret;
}

/* On stderr, since not every form has room for them. */
static void tell_notes(const struct flame *flame, const struct flame_graph *graph)
{
	char *notes = NULL, *rest = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&notes, &length);

	if (!out)
		return;
	flame_notes__print(out, graph, counting__model(flame->counting));
	if (graph->broken && flame->options->stacks.mode == STACK_FP)
		fputs(STACKS_BREAK_OFF "\n", out);
	if (!fclose(out))
		for (char *note = strtok_r(notes, "\n", &rest); note; note = strtok_r(NULL, "\n", &rest))
			log__warn(flame->log, "%s", note);
	free(notes);
}

static int write_graph(const struct flame *flame, struct error *err)
{
	bool apart = flame->options->form == FLAME_SPEEDSCOPE;
	const struct flame_graph_options form = {
		.by = flame->options->by,
		.processes = apart || flame->options->processes,
		.lines = apart,
	};
	struct flame_graph *graph = NULL;
	int ret = flame_graph__new(counting__model(flame->counting), &form, &graph);

	if (ret)
		return error__set(err, ret, "out of memory");
	ret = write_form(flame, graph, err);
	tell_notes(flame, graph);
	flame_graph__free(graph);
	return ret;
}

/* Whoever reads the output may be slow: by then no probe is in, and nobody is held. */
static int finish(const struct flame *flame, struct error *err)
{
	struct session *session = counting__session(flame->counting);

	counting__finish(flame->counting);
	session__detach(session);
	session__release_signals(session);
	return write_graph(flame, err);
}

static int run(const struct flame_options *options, const struct log *log, int *status, struct error *err)
{
	struct flame flame = {.options = options, .log = log};
	int ret = set_up(&flame, err);

	if (!ret)
		ret = session__run(counting__session(flame.counting), err);
	if (!ret)
		ret = finish(&flame, err);
	if (!ret)
		*status = session__status(counting__session(flame.counting));
	whole_file__free(flame.file);
	counting__free(flame.counting);
	return ret;
}

int flame_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct flame_options options;
	struct log log;
	int ret = flame_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &flame_options, status)) {
		log.level = options.log_level;
		subcommand__set_bpf_log(log.level);
		ret = run(&options, &log, status, err);
	}
	flame_options__clear(&options);
	return ret;
}
