// SPDX-License-Identifier: BSD-2-Clause
/*
 * Readings of the model in a hostile recording: bytes of any contents, and well-formed readings
 * whose values are any. Then all that -i FILE does with a model: findings, growth, each form.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "finding/finding.h"
#include "harness.h"
#include "model/growth.h"
#include "output/flame/forms.h"
#include "output/memleak/memleak.h"
#include "output/stat/stat.h"
#include "record/model_codec.h"

/* The random numbers of random_model.h are the input's. */
#define TESTS_RANDOM_NUMBERS_H
static struct input *source;
static uint64_t next_random(void)
{
	return source->left ? input__number(source, 1 + (source->at[0] & 7)) : 0;
}
#include "record/random_model.h"

/* More would take too long to print. */
#define MOST_BYTES 4096

struct run {
	struct findings *findings;
	struct finding_list list;
	struct growth *growth, *tensors, *pinned;
};

static void print_stat(const struct run *run, const struct recorded_reading *reading, FILE *out)
{
	static const struct report_options options = {.top = 10};
	const struct stat_report report = {
		.model = reading->model,
		.began_ns = reading->began_ns,
		.state = run->findings,
		.findings = &run->list,
		.options = &options,
	};

	stat_json__print(out, &report);
	stat_csv__print(out, &report);
	stat_text__print(out, &report);
	diagnose_text__print(out, &report);
}

static void print_flame(const struct model *model, FILE *out)
{
	const struct flame_caption caption = {.title = "any"};

	for (enum flame_by by = 0; by < FLAME_BYS; by++) {
		const struct flame_graph_options options = {.by = by, .lines = true};
		struct flame_graph *graph;

		MUST(!flame_graph__new(model, &options, &graph));
		flame_svg__print(out, graph, model, &caption);
		flame_speedscope__print(out, graph, &caption);
		flame_folded__print(out, graph);
		flame_notes__print(out, graph, model);
		flame_graph__free(graph);
	}
}

static void show(struct run *run, const struct recorded_reading *reading)
{
	const struct memleak_growth growth = {run->growth, run->tensors, run->pinned};
	const struct memleak_options memleak = {.top = 10};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	MUST(out);
	findings__begin(run->findings, reading->began_ns);
	MUST(!findings__sample(run->findings, reading->model));
	MUST(!growth__sample(run->growth, reading->model));
	MUST(!growth__sample(run->tensors, reading->model));
	MUST(!growth__sample(run->pinned, reading->model));
	MUST(!findings__detect(run->findings, reading->model, &run->list));
	print_stat(run, reading, out);
	MUST(!memleak_text__print(out, reading->model, &growth, &memleak));
	MUST(!memleak_json__print(out, reading->model, &growth, &memleak));
	print_flame(reading->model, out);
	MUST(!fclose(out) && length);
	free(text);
}

/* A model as the input says, as it would come from a file that someone has made. */
static int read_made(struct input *input, struct model_reader *reader,
		     const struct recorded_reading **out)
{
	struct recorded_reading made = {0};
	struct arena arena = {0};
	struct model_writer *writer;
	const uint8_t *bytes;
	size_t length;
	int ret;

	source = input;
	made.model = random_model(&arena);
	made.began_ns = input__number(input, 8);
	MUST(!model_writer__new(&writer));
	ret = model_writer__write(writer, &made, &bytes, &length);
	if (!ret)
		ret = model_reader__read(reader, bytes, length, false, out);
	model_writer__free(writer);
	arena__clear(&arena);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct findings_options options = {.needs = NEEDS_PROFILE | NEEDS_ASKS,
						 .window_ns = GROWTH_WINDOW_NS};
	struct input input = {.at = data, .left = size < MOST_BYTES ? size : MOST_BYTES};
	uint64_t flags = input__number(&input, 1);
	bool is_made = flags & 1, is_part = flags & 2;
	const struct recorded_reading *reading;
	struct model_reader *reader;
	struct run run = {
		.findings = findings__new(&options),
		.growth = growth__new(GROWTH_WINDOW_NS, GROWTH_SITES_MAX),
		.tensors = growth__new_of_tensors(GROWTH_WINDOW_NS, GROWTH_SITES_MAX),
		.pinned = growth__new_of_pinned(GROWTH_WINDOW_NS, GROWTH_SITES_MAX),
	};
	int ret;

	MUST(run.findings && run.growth && run.tensors && run.pinned &&
	     !model_reader__new(&reader));
	if (is_made) {
		ret = read_made(&input, reader, &reading);
	} else {
		void *bytes = harness__exactly(input.at, input.left);

		ret = model_reader__read(reader, bytes, input.left, false, &reading);
		free(bytes);
	}
	/* What happened since that reading: --from. */
	if (!ret && is_part) {
		MUST(model_reader__begin_here(reader) == reading);
		ret = read_made(&input, reader, &reading);
	}
	if (!ret)
		show(&run, reading);
	finding_list__clear(&run.list);
	findings__free(run.findings);
	growth__free(run.growth);
	growth__free(run.tensors);
	growth__free(run.pinned);
	model_reader__free(reader);
	return 0;
}
