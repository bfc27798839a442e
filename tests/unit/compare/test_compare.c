// SPDX-License-Identifier: BSD-2-Clause
// The comparison of two runs, as text: tests/unit/golden/diff. Each case changes one thing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden_file.h"
#include "output/compare/compare.h"
#include "compare/run_scene.h"

struct scene {
	struct run_scene a, b;
	struct comparison comparison;
};

static void begin(struct scene *scene, const struct run_options *a, const struct run_options *b)
{
	run_scene__begin(&scene->a, a);
	run_scene__begin(&scene->b, b);
	assert_int_equal(
		comparison__make(&scene->comparison, &scene->a.run, &scene->b.run, SHOWN_SHARE), 0);
}

static void end(struct scene *scene)
{
	comparison__clear(&scene->comparison);
	run_scene__end(&scene->a);
	run_scene__end(&scene->b);
}

static void expect(const char *name, const struct run_options *a, const struct run_options *b,
		   bool worse)
{
	struct scene scene;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	begin(&scene, a, b);
	assert_non_null(out);
	compare_text__print_comparison(
		out, &(struct compare_report){.comparison = &scene.comparison}, false);
	fclose(out);
	golden_file__expect(name, text, length);
	assert_int_equal(scene.comparison.worse, worse);
	free(text);
	end(&scene);
}

/* Other numbers of steps, of polls, and times within the spread are no difference. */
static void test_equal(void **state)
{
	struct run_options b = run_scene_usual;

	(void)state;
	b.steps = 640;
	b.queries = 90;
	b.median_ns = 4400000;
	expect("diff/equal", &run_scene_usual, &b, false);
}

static void test_waits(void **state)
{
	struct run_options b = run_scene_usual;

	(void)state;
	b.waits = 2;
	expect("diff/wait", &run_scene_usual, &b, true);
	expect("diff/repaired", &b, &run_scene_usual, false);
}

static void test_copies(void **state)
{
	struct run_options b = run_scene_usual;

	(void)state;
	b.copies_back = 1;
	expect("diff/copy", &run_scene_usual, &b, true);
	b = run_scene_usual;
	b.bytes = 8192;
	expect("diff/bytes", &run_scene_usual, &b, true);
}

static void test_kernels(void **state)
{
	struct run_options b = run_scene_usual;

	(void)state;
	b.launches = 18;
	b.bias = "bias\\n";
	expect("diff/fusion", &run_scene_usual, &b, true);
	b = run_scene_usual;
	b.gemm = "gemm<8>";
	expect("diff/other-kernel", &run_scene_usual, &b, false);
	/* The one that changed most comes first. */
	b.launches = 18;
	b.bias = "a_bias";
	expect("diff/kernels", &run_scene_usual, &b, true);
}

/* A file without the whole name has only the label. */
static void test_whole_names(void **state)
{
	struct run_options b = run_scene_usual;
	struct scene scene;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	b.gemm = "gemm<8>";
	begin(&scene, &run_scene_usual, &b);
	compare_text__print_comparison(
		out, &(struct compare_report){.comparison = &scene.comparison, .full_names = true},
		false);
	fclose(out);
	assert_non_null(strstr(text, " gone                void gemm<4>(float*)\n"));
	assert_non_null(strstr(text, " new                gemm<8>\n"));
	free(text);
	end(&scene);
}

static void test_exact(void **state)
{
	struct run_options b = run_scene_usual;
	struct compare_report report = {.form = QUANTITY_EXACT};
	struct scene scene;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	b.bytes = 8192;
	begin(&scene, &run_scene_usual, &b);
	report.comparison = &scene.comparison;
	compare_text__print_comparison(out, &report, false);
	fclose(out);
	golden_file__expect("diff/exact", text, length);
	free(text);
	end(&scene);
}

static void test_memory(void **state)
{
	struct run_options b = run_scene_usual;

	(void)state;
	b.allocations = 1;
	b.peak_bytes = 900 << 20;
	expect("diff/growth", &run_scene_usual, &b, true);
}

static void test_times(void **state)
{
	struct run_options b = run_scene_usual;

	(void)state;
	b.median_ns = 4800000;
	expect("diff/slower", &run_scene_usual, &b, true);
	/* Not if the steps of a run take that different times. */
	b.spread = 0.2;
	expect("diff/spread", &run_scene_usual, &b, false);
}

/* A time decides whether there is an idle gap; a sticky error is there or not. */
static void test_findings(void **state)
{
	struct run_options a = run_scene_usual, b = run_scene_usual;

	(void)state;
	a.finding = NULL;
	expect("diff/finding", &a, &run_scene_usual, false);
	b.finding = "sticky-error";
	b.severity = "critical";
	expect("diff/error", &run_scene_usual, &b, true);
	/* A share of time may be passed by chance, however grave it is. */
	b.finding = "idle-gaps";
	expect("diff/critical", &a, &b, false);
}

/* Slower steps make a run worse only for who gives a share. */
static void test_longer_steps(void **state)
{
	static const struct {
		double share;
		bool worse;
	} cases[] = {{NEVER_WORSE, false}, {0.05, true}, {3, false}};
	struct run_options b = run_scene_usual;

	(void)state;
	b.median_ns *= 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct comparison comparison;
		struct run_scene x, y;

		run_scene__begin(&x, &run_scene_usual);
		run_scene__begin(&y, &b);
		assert_int_equal(comparison__make(&comparison, &x.run, &y.run, cases[i].share), 0);
		assert_int_equal(comparison.worse, cases[i].worse);
		comparison__clear(&comparison);
		run_scene__end(&x);
		run_scene__end(&y);
	}
}

static void test_refusals(void **state)
{
	struct run_options a = run_scene_usual, b = run_scene_usual;

	(void)state;
	b.lost = 3;
	expect("diff/lost", &run_scene_usual, &b, false);
	a.sampled = "launch";
	b.lost = 0;
	b.waits = 2;
	expect("diff/sampled", &a, &b, false);
	/* The rest can be compared. */
	a.sampled = "copy";
	expect("diff/sampled-copies", &a, &b, true);
	a = run_scene_usual;
	a.steps = 0;
	expect("diff/no-steps", &a, &b, false);
	b.steps = 0;
	expect("diff/whole-runs", &a, &b, true);
	b.steps = 700;
	a.since_attach = true;
	expect("diff/since-attach", &a, &b, false);
}

/* Every count and the time are twice as much: perhaps two steps were taken for one. */
static void test_steps_of_another_length(void **state)
{
	struct run_options b = run_scene_usual;

	(void)state;
	b.launches = 24;
	b.waits = 2;
	b.copies = 2;
	b.bytes = 8192;
	b.median_ns = 8600000;
	expect("diff/length", &run_scene_usual, &b, false);
	b.copies = 1;
	expect("diff/twice", &run_scene_usual, &b, true);
}

static size_t count_differences(double waits_a, double waits_b)
{
	struct run_options a = run_scene_usual, b = run_scene_usual;
	struct scene scene;
	size_t count = 0;

	a.waits = waits_a;
	b.waits = waits_b;
	b.steps = 640;
	begin(&scene, &a, &b);
	for (size_t i = 0; i < scene.comparison.difference_count; i++)
		count += scene.comparison.differences[i].group == GROUP_COUNTS;
	end(&scene);
	return count;
}

/* What is done at every tenth step is counted once more or less by chance. */
static void test_varying_counts(void **state)
{
	(void)state;
	assert_int_equal(count_differences(1.1, 1.103), 0);
	assert_int_equal(count_differences(1.1, 1.2), 1);
	assert_int_equal(count_differences(1, 2), 1);
	assert_int_equal(count_differences(20.5, 20.7), 0);
	assert_int_equal(count_differences(20.5, 21.5), 1);
}

static void test_json(void **state)
{
	struct run_options b = run_scene_usual;
	struct scene scene;
	struct compare_report report = {0};
	struct json_document *document;
	const struct json_value *value;
	char *text = NULL, *at;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	b.waits = 2;
	begin(&scene, &run_scene_usual, &b);
	report.comparison = &scene.comparison;
	report.run = &scene.b.run;
	compare_json__print(out, &report);
	fclose(out);
	at = text;
	assert_int_equal(json_document__parse(&at, text + length, &document, NULL), 0);
	value = json_document__value(document);
	assert_string_equal(json_value__string(value, "schema"), COMPARE_JSON_SCHEMA);
	assert_true(json_value__is_true(value, "worse"));
	value = json_value__member(json_value__member(value, "processes")->first, "differences");
	assert_string_equal(json_value__string(value->first, "figure"), "waits");
	assert_true(json_value__member(value->first, "b")->number == 2);
	assert_string_equal(json_value__string(value->first->next, "figure"), "time in waits");
	assert_null(value->first->next->next);
	json_document__free(document);
	free(text);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),	    cmocka_unit_test(test_waits),
		cmocka_unit_test(test_copies),	    cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_whole_names), cmocka_unit_test(test_exact),
		cmocka_unit_test(test_memory),	    cmocka_unit_test(test_times),
		cmocka_unit_test(test_findings),    cmocka_unit_test(test_longer_steps),
		cmocka_unit_test(test_refusals),    cmocka_unit_test(test_varying_counts),
		cmocka_unit_test(test_json),	    cmocka_unit_test(test_steps_of_another_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
