// SPDX-License-Identifier: BSD-2-Clause
// What a service logs of findings and losses from one look to the next, and how much of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "service/changes.h"

#define MANY 2000

struct scene {
	struct model model;
	struct process processes[MANY];
	struct finding findings[MANY];
	struct finding_list list;
	char *text;
	size_t length;
	FILE *out;
	struct journal *journal;
	struct changes *changes;
};

static struct scene *scene__new(void)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->model.processes = scene->processes;
	scene->model.now_ns = 1000 * NS_PER_S;
	scene->list.items = scene->findings;
	scene->out = open_memstream(&scene->text, &scene->length);
	scene->journal = journal__new(NULL, scene->out);
	scene->changes = changes__new(scene->journal);
	return scene;
}

static void scene__free(struct scene *scene)
{
	changes__free(scene->changes);
	journal__free(scene->journal);
	fclose(scene->out);
	free(scene->text);
	free(scene);
}

/* A warning about a process of its own, number `index`. */
static struct finding *add(struct scene *scene)
{
	size_t index = scene->list.count++;
	struct process *process = &scene->processes[index];
	struct finding *finding = &scene->findings[index];

	*process = (struct process){.pid = (int)(100 + index), .start_ns = 1, .comm = "train"};
	scene->model.process_count = scene->list.count;
	*finding = (struct finding){
		.kind = finding_kind__find("error-storm"),
		.severity = SEVERITY_WARNING,
		.pid = process->pid,
		.start_ns = 1,
		.comm = "train",
		.evidence = (char *)"5 calls failed",
		.weight = 5,
	};
	return finding;
}

/* Looks that many seconds later. Returns what was logged, valid until the next look. */
static const char *look(struct scene *scene, unsigned int seconds)
{
	rewind(scene->out);
	scene->model.now_ns += seconds * NS_PER_S;
	assert_int_equal(changes__write(scene->changes, &scene->model, &scene->list), 0);
	fflush(scene->out);
	/* open_memstream's text still has the end of a longer one before */
	scene->text[ftell(scene->out)] = '\0';
	return scene->text;
}

static size_t lines_with(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

#define NEW \
	"gpuprobe: warning error-storm: calls fail all the time; process 100 (train); 5 calls " \
	"failed\n"

static void test_once(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	assert_string_equal(look(scene, 0), "");
	add(scene);
	assert_string_equal(look(scene, 5), NEW);
	assert_string_equal(look(scene, 5), "");
	assert_string_equal(look(scene, 500), "");
	scene__free(scene);
}

static void test_worse(void **state)
{
	struct scene *scene = scene__new();
	struct finding *finding = add(scene);

	(void)state;
	look(scene, 0);
	finding->weight = 9;
	assert_string_equal(look(scene, 100), "");
	finding->weight = 10;
	assert_int_equal(lines_with(look(scene, 5), "gpuprobe: worse: warning error-storm: "), 1);
	scene__free(scene);
}

/* A higher severity is logged at once, a higher amount not before a minute has gone by. */
static void test_worse_soon(void **state)
{
	struct scene *scene = scene__new();
	struct finding *finding = add(scene);

	(void)state;
	look(scene, 0);
	finding->weight = 1000;
	assert_string_equal(look(scene, 5), "");
	finding->severity = SEVERITY_CRITICAL;
	assert_int_equal(lines_with(look(scene, 5), "gpuprobe: worse: critical error-storm: "), 1);
	finding->weight = 2000;
	assert_string_equal(look(scene, 59), "");
	assert_int_equal(lines_with(look(scene, 1), "gpuprobe: worse: "), 1);
	scene__free(scene);
}

/* The share of the time counts if there is a cost: the cost itself always grows. */
static void test_cost(void **state)
{
	struct scene *scene = scene__new();
	struct finding *finding = add(scene);

	(void)state;
	finding->has_cost = true;
	finding->share = 0.1;
	look(scene, 0);
	finding->weight = 1e9;
	finding->cost_ns = NS_PER_S;
	assert_string_equal(look(scene, 100), "");
	finding->share = 0.25;
	assert_int_equal(lines_with(look(scene, 5), "gpuprobe: worse: "), 1);
	scene__free(scene);
}

static void test_end(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	add(scene);
	look(scene, 0);
	look(scene, 10);
	scene->list.count = 0;
	/* The program may pause. */
	assert_string_equal(look(scene, 59), "");
	assert_string_equal(look(scene, 1),
			    "gpuprobe: ended after 10.0 s: error-storm: process 100 "
			    "(train)\n");
	assert_string_equal(look(scene, 100), "");
	scene->list.count = 1;
	assert_string_equal(look(scene, 1), NEW);
	/* The process ends, and the finding at once with it. */
	scene->list.count = 0;
	scene->processes[0].ended = true;
	assert_string_equal(look(scene, 1),
			    "gpuprobe: ended with the process: error-storm: process 100 (train)\n");
	scene__free(scene);
}

/* Another process with the pid has findings of its own. */
static void test_reused_pid(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	add(scene);
	look(scene, 0);
	scene->processes[0].start_ns = scene->findings[0].start_ns = 2;
	assert_int_equal(lines_with(look(scene, 1), "\n"), 2);
	assert_int_equal(lines_with(look(scene, 1), "\n"), 0);
	scene__free(scene);
}

/* Two places with the same subject are one; its worst is logged. */
static void test_same_subject(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	add(scene);
	scene->findings[1] = scene->findings[0];
	scene->findings[1].weight = 50;
	scene->list.count = 2;
	assert_string_equal(look(scene, 0), NEW);
	assert_string_equal(look(scene, 100), "");
	scene__free(scene);
}

/* Processes cannot fill the journal: the others follow later, and their number is logged. */
static void test_many(void **state)
{
	struct scene *scene = scene__new();
	const char *text;

	(void)state;
	for (int i = 0; i < MANY; i++)
		add(scene);
	text = look(scene, 0);
	assert_int_equal(lines_with(text, "error-storm"), CHANGES_LINES);
	assert_int_equal(lines_with(text, "gpuprobe: 1,940 more findings are not logged one by "
					  "one: too many at a time\n"),
			 1);
	assert_string_equal(look(scene, 59), "");
	assert_int_equal(lines_with(look(scene, 1), "error-storm"), CHANGES_LINES);
	for (int i = 0; i < MANY / CHANGES_LINES; i++)
		text = look(scene, 60);
	assert_int_equal(lines_with(text, "error-storm"), 0);
	assert_int_equal(lines_with(text, "gpuprobe: 976 more findings"), 1); /* of 2,000, 1,024 */
	scene__free(scene);
}

static void test_many_of_one_process(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	for (int i = 0; i < 40; i++) {
		add(scene)->pid = 100;
		scene->findings[i].tid = 1 + i;
	}
	assert_int_equal(lines_with(look(scene, 0), "error-storm"), CHANGES_OF_PROCESS);
	assert_int_equal(lines_with(look(scene, 100), "gpuprobe: 8 more findings"), 1);
	scene__free(scene);
}

static void test_losses(void **state)
{
	struct scene *scene = scene__new();

	(void)state;
	scene->model.lost[LOSS_NO_MEMORY] = 1000;
	assert_string_equal(look(scene, 0),
			    "gpuprobe: lost: records for which the kernel had no memory: 1,000\n");
	scene->model.lost[LOSS_NO_MEMORY] = 1999;
	assert_string_equal(look(scene, 100), "");
	scene->model.lost[LOSS_NO_MEMORY] = 2000;
	assert_int_equal(lines_with(look(scene, 1), "no memory: 2,000\n"), 1);
	/* not more often than once a minute */
	scene->model.lost[LOSS_NO_MEMORY] = 20000;
	assert_string_equal(look(scene, 59), "");
	assert_int_equal(lines_with(look(scene, 1), "no memory: 20,000\n"), 1);
	scene__free(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_worse),
		cmocka_unit_test(test_worse_soon),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_reused_pid),
		cmocka_unit_test(test_same_subject),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_many_of_one_process),
		cmocka_unit_test(test_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
