// SPDX-License-Identifier: BSD-2-Clause
// Which processes of two runs are compared with one another.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare/compare.h"

struct case_run {
	char *text;
	struct json_document *document;
	struct compared_run run;
};

/* Processes as "name launches name launches ...": the first has the pid 1. */
static void begin(struct case_run *run, const char *processes)
{
	size_t length;
	FILE *out = open_memstream(&run->text, &length);
	char comm[16], *at;
	int launches, used, pid = 0;

	assert_non_null(out);
	fputs("{\"schema\":\"gpuprobe.stat/1\",\"findings\":[],\"processes\":[", out);
	while (sscanf(processes, "%15s %d%n", comm, &launches, &used) == 2) {
		fprintf(out, "%s{\"pid\":%d,\"comm\":\"%s\",\"ended\":true,\"launches\":%d}",
			pid ? "," : "", pid + 1, comm, launches);
		pid++;
		processes += used;
	}
	fputs("]}", out);
	fclose(out);
	at = run->text;
	assert_int_equal(json_document__parse(&at, at + length, &run->document, NULL), 0);
	assert_int_equal(
		compared_run__read(&run->run, json_document__value(run->document), "x", NULL), 0);
}

static void end(struct case_run *run)
{
	compared_run__clear(&run->run);
	json_document__free(run->document);
	free(run->text);
}

/* The pairs as "pid-pid pid-pid", then what was refused. */
static void expect(const char *a, const char *b, const char *expected)
{
	struct case_run runs[2];
	struct comparison comparison;
	char text[1024] = "";

	begin(&runs[0], a);
	begin(&runs[1], b);
	assert_int_equal(comparison__make(&comparison, &runs[0].run, &runs[1].run, SHOWN_SHARE), 0);
	for (size_t i = 0; i < comparison.pair_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d-%d ",
			 (int)comparison.pairs[i].a->pid, (int)comparison.pairs[i].b->pid);
	for (size_t i = 0; i < comparison.refusal_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s; ",
			 comparison.refusals[i].text);
	assert_string_equal(text, expected);
	assert_int_equal(comparison.refused, !comparison.pair_count);
	comparison__clear(&comparison);
	end(&runs[0]);
	end(&runs[1]);
}

static void test_names(void **state)
{
	(void)state;
	expect("train 5", "train 7", "1-1 ");
	/* A renamed program can be compared if there is no choice. */
	expect("train_old 5", "train_new 7", "1-1 ");
	/* The order is by launches. A process without work is left out. */
	expect("idle 0 rank 5 rank 50", "rank 60 rank 6 idle 0", "3-1 2-2 ");
	expect("load 9 rank 5", "rank 5",
	       "2-1 process load is only in A: it has no partner of that name; ");
	expect("rank 5", "rank 5 more 1 more 2",
	       "1-1 process more is only in B: it has no partner of that name; ");
}

static void test_nothing_in_common(void **state)
{
	(void)state;
	expect("train 5 load 1", "serve 7",
	       "process train is only in A: it has no partner of that name; "
	       "process load is only in A: it has no partner of that name; "
	       "process serve is only in B: it has no partner of that name; ");
	expect("idle 0", "serve 7", "A (x) has no process that used CUDA; ");
	expect("serve 7", "", "B (x) has no process that used CUDA; ");
}

static void test_many(void **state)
{
	char many[16 * (RUN_PROCESSES_MAX + 5)] = "";
	struct case_run run;

	(void)state;
	for (int i = 0; i < RUN_PROCESSES_MAX + 3; i++)
		strcat(many, "rank 5 ");
	begin(&run, many);
	assert_int_equal(run.run.process_count, RUN_PROCESSES_MAX);
	assert_int_equal(run.run.processes_left, 3);
	end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_nothing_in_common),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
