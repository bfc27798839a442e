// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe flame`: counts by call stack and writes a graph at the end; see subcommand.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text_stream.h"
#include "cli/options/flame_options.h"
#include "cli/session/gpu_times_watch.h"
#include "cli/session/live_run.h"
#include "cli/commands/subcommand.h"
#include "cli/files/atomic_file.h"
#include "output/flame/forms.h"

struct flame {
	const struct flame_options *options;
	const struct log *log;
	struct replay *replay; /* NULL: live */
	struct live_run *live;
	struct atomic_file *file;
	struct timespec begin;
};

/*
 * Chooses the probes: all that the graph needs, and no others, because they would only cost time.
 */
static void choose_probes(enum flame_by by, struct live_model_options *live)
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
		/* The calls of all work have their stacks taken, however they count. */
		[FLAME_GPU_TIME] = {SECTION_LAUNCH | SECTION_COPY, SITE_KINDS},
		/* Tensors have stacks of their own: none is needed of CUDA calls. */
		[FLAME_TENSOR_BYTES] = {SECTION_MEMORY, SITE_KINDS},
		[FLAME_LIVE_TENSOR_BYTES] = {SECTION_MEMORY, SITE_KINDS},
	};

	live->sections = choices[by].sections;
	live->stack_sites = choices[by].kind == SITE_KINDS ? 0 : 1u << choices[by].kind;
	live->check_launches = by == FLAME_FAILURES || by == FLAME_GPU_TIME;
	live->gpu_times = by == FLAME_GPU_TIME;
}

static struct timespec recorded_begin(const struct replay *replay)
{
	const struct recorded_reading *reading = replay__reading(replay);
	const struct timespec *wall = &reading->model->wall;
	uint64_t wall_ns = (uint64_t)wall->tv_sec * NS_PER_S + (uint64_t)wall->tv_nsec,
		 begin_ns = wall_ns - (reading->model->now_ns - reading->began_ns);

	return (struct timespec){.tv_sec = (time_t)(begin_ns / NS_PER_S),
				 .tv_nsec = (long)(begin_ns % NS_PER_S)};
}

static int set_up(struct flame *flame, struct error *err)
{
	const struct flame_options *options = flame->options;
	struct live_run_options live = {
		.replay = flame->replay,
		.announces = true,
		.live =
			{
				.targets = &options->targets,
				.duration = options->duration,
				.api = API_AUTO,
				.limits = LIVE_MODEL_LIMITS,
				.top = 1,
				.stacks = options->stacks,
				.tensor_python = !options->stacks.given[OPT_STACK],
			},
	};
	int ret;

	if (options->tensors)
		live.live.limits.max_tensors = live.live.limits.max_allocations;
	choose_probes(options->by, &live.live);
	/* First, while a signal still ends gpuprobe: it may be a pipe without a reader. */
	ret = atomic_file__new(options->file, &flame->file, err);
	if (!ret)
		ret = live_run__new(&live, flame->log, &flame->live, err);
	if (!ret)
		ret = live_run__attach(flame->live, err);
	flame->begin = flame->replay ? recorded_begin(flame->replay) : clock__wall();
	return ret;
}

/* --- at the end --- */

static int print_form(const struct flame *flame, const struct flame_graph *graph, FILE *out)
{
	const struct flame_caption caption = {.title = flame->options->title,
					      .begin = flame->begin};

	switch (flame->options->form) {
	case FLAME_SVG: return flame_svg__print(out, graph, live_run__model(flame->live), &caption);
	case FLAME_SPEEDSCOPE: return flame_speedscope__print(out, graph, &caption);
	default: return flame_folded__print(out, graph);
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
	ret = ret ? error__set(err, ret, "out of memory") :
		    atomic_file__write(flame->file, text, length, err);
	free(text);
	return ret;
}

/* On stderr, because not every form has room for notes. */
static void report_notes(const struct flame *flame, const struct flame_graph *graph)
{
	char *notes = NULL, *rest = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&notes, &length);

	if (!out)
		return;
	flame_notes__print(out, graph, live_run__model(flame->live));
	if (!fclose(out))
		for (char *note = strtok_r(notes, "\n", &rest); note;
		     note = strtok_r(NULL, "\n", &rest))
			log__warn(flame->log, "%s", note);
	stack_choice__warn_broken(&flame->options->stacks, &graph->broken, flame->log);
	free(notes);
}

/*
 * Writes the output after the probes are detached and no process is held, because the reader may be
 * slow.
 */
static void finish_live(struct live_model *live)
{
	live_model__finish(live);
	session__detach(live_model__session(live));
	session__release_signals(live_model__session(live));
}

static int finish(const struct flame *flame, struct error *err)
{
	bool apart = flame->options->form == FLAME_SPEEDSCOPE;
	const struct flame_graph_options form = {
		.by = flame->options->by,
		.full_names = flame->options->full_names,
		.amounts = flame->options->amounts,
		.processes = apart || flame->options->processes,
		.lines = apart,
	};
	struct flame_graph *graph = NULL;
	int ret;

	if (!flame->replay)
		finish_live(flame->live->live);
	ret = flame_graph__new(live_run__model(flame->live), &form, &graph);
	if (ret)
		return error__set(err, ret, "out of memory");
	ret = write_form(flame, graph, err);
	report_notes(flame, graph);
	flame_graph__free(graph);
	return ret;
}

static int run(const struct flame_options *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	struct flame flame = {.options = options, .log = &log};
	int ret = options->input.path ? replay__new(&options->input, &log, &flame.replay, err) : 0;

	if (!ret && options->gpu_times)
		ret = gpu_times_watch__set_variables(0, false, err);
	if (!ret)
		ret = set_up(&flame, err);

	if (!ret)
		ret = live_run__until_end(flame.live, err);
	if (!ret)
		ret = finish(&flame, err);
	if (!ret)
		*status = live_run__status(flame.live);
	atomic_file__free(flame.file);
	live_run__free(flame.live);
	replay__free(flame.replay);
	return ret;
}

int flame_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct flame_options options;
	int ret = flame_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &flame_options, status))
		ret = run(&options, status, err);
	flame_options__clear(&options);
	return ret;
}
