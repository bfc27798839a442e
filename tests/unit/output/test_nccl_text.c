// SPDX-License-Identifier: BSD-2-Clause
// The text and the JSON of communicators and findings, compared with files that a person has read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text_stream.h"
#include "golden_file.h"
#include "nccl/nccl_scene.h"
#include "output/nccl/nccl.h"

struct text {
	char *text;
	size_t length;
	FILE *out;
};

static struct text *open_text(struct text *text)
{
	text->out = text_stream__open(&text->text, &text->length);
	assert_non_null(text->out);
	return text;
}

static void close_and_expect(struct text *text, const char *golden)
{
	assert_int_equal(fclose(text->out), 0);
	golden_file__expect(golden, text->text, text->length);
	free(text->text);
}

/* A look at a rank while others wait for it. */
static void look_at(struct scene *scene, int32_t rank, const char *where)
{
	const struct nccl_process_key key =
		scene__event(scene, rank, NCCL_ALL_REDUCE, NCCL_BEGIN).process;

	nccl_jobs__add_look(scene->jobs, &key, NCCL_WAITS_OTHER, where, "sleeps for a time");
}

static void print(struct text *text, const char *what, struct scene *scene, uint64_t after)
{
	scene__judge(scene, after);
	fprintf(text->out, "== %s\n", what);
	nccl_output__text(text->out, scene->jobs, &scene->findings, scene->now);
	fputc('\n', text->out);
	scene__free(scene);
}

static struct nccl_operation gather(void)
{
	return (struct nccl_operation){
		.function = NCCL_ALL_GATHER, .datatype = 9, .count = 8388608};
}

static struct scene missing(enum nccl_activity activity, const char *where)
{
	const struct nccl_process_key key = {.pid = 5003, .start_ns = 1};
	struct scene scene = scene__of(8, 8);

	scene__steps(&scene, 1000);
	for (int32_t rank = 0; rank < 8; rank++)
		if (rank != 3)
			scene__call(&scene, rank, gather(), 0);
	nccl_jobs__set_activity(scene.jobs, &key, activity, where);
	return scene;
}

static void hangs(struct text *text)
{
	struct scene scene = missing(NCCL_WAITS_GIL, "sample (data.py:301)");

	print(text, "missing rank", &scene, 41 * SECOND);
	scene = missing(NCCL_STOPPED, NULL);
	print(text, "stopped rank", &scene, 41 * SECOND);
	scene = missing(NCCL_ACTIVITY_UNKNOWN, "\x1b[31mred\n");
	scene__end_process(&scene, 3);
	print(text, "dead rank", &scene, 41 * SECOND);
	scene = missing(NCCL_ACTIVITY_UNKNOWN, "\x1b[31mred\n");
	print(text, "hostile name", &scene, 41 * SECOND);
	scene = scene__of(4, 8);
	scene__steps(&scene, 5);
	for (int32_t rank = 0; rank < 4; rank++)
		scene__feed(&scene, scene__event(&scene, rank, NCCL_WAIT, NCCL_BEGIN));
	print(text, "all here", &scene, 15 * SECOND);
	scene = scene__of(4, 4);
	scene__steps(&scene, 5);
	scene__call(&scene, 1, all_reduce(8), 0);
	print(text, "extra collective", &scene, 15 * SECOND);
	scene = (struct scene){.ranks = 3, .now = SECOND, .jobs = nccl_jobs__new(NULL)};
	for (int32_t rank = 0; rank < 3; rank++)
		scene__begin_init(&scene, rank, 7, 8);
	print(text, "init", &scene, 75 * SECOND);
}

static void others(struct text *text)
{
	struct scene scene = scene__of(4, 4);
	struct nccl_operation operation = gather();
	struct nccl_event event;

	scene__steps(&scene, 5);
	for (int32_t rank = 0; rank < 4; rank++) {
		operation.count = rank == 2 ? 4194304 : 8388608;
		scene__call(&scene, rank, operation, 0);
	}
	print(text, "mismatch", &scene, SECOND);
	scene = scene__of(4, 4);
	for (unsigned int step = 0; step < 50; step++) {
		scene.now += 20 * MS;
		for (int32_t rank = 0; rank < 4; rank++)
			scene__call(&scene, rank, all_reduce(1 << 20),
				    rank == 3 && step % 2 ? 8 * MS : 0);
	}
	for (int look = 0; look < 8; look++)
		look_at(&scene, 3, look ? "sample (data.py:301) < main (train.py:60)" : "main");
	print(text, "straggler", &scene, SECOND);
	scene = scene__of(2, 2);
	scene__call(&scene, 0,
		    (struct nccl_operation){
			    .function = NCCL_SEND, .root = 1, .count = 4096, .datatype = 7},
		    0);
	print(text, "send without receive", &scene, 300 * SECOND);
	scene = scene__of(2, 2);
	event = scene__event(&scene, 1, NCCL_ALL_REDUCE, NCCL_BEGIN);
	scene__feed(&scene, event);
	event.phase = NCCL_END;
	event.result = 3;
	scene__feed(&scene, event);
	print(text, "error", &scene, SECOND);
}

static void texts(void **state)
{
	struct text text;

	(void)state;
	hangs(open_text(&text));
	others(&text);
	close_and_expect(&text, "nccl/text.txt");
}

static void json(void **state)
{
	struct scene scene = scene__of(2, 3);
	struct text text;
	struct json json;

	(void)state;
	scene__steps(&scene, 2);
	scene__call(&scene, 0, gather(), 0);
	scene__judge(&scene, 12 * SECOND);
	json__init(&json, open_text(&text)->out);
	json__object_begin(&json);
	nccl_output__json(&json, scene.jobs, &scene.findings, scene.now);
	json__object_end(&json);
	fputc('\n', text.out);
	scene__free(&scene);
	close_and_expect(&text, "nccl/json.json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
