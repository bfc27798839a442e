// SPDX-License-Identifier: BSD-2-Clause
// Findings about NCCL's ranks: what a judgement becomes as a note of the model, and that as a
// finding.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding_case.h"
#include "nccl/nccl_scene.h"
#include "output/nccl/note.h"

/* Rank 3 of four does not come to the sixth collective. */
static struct scene hanging(void)
{
	const struct nccl_process_key key = {.pid = 5003, .start_ns = 1};
	struct scene scene = scene__of(4, 4);

	scene__steps(&scene, 5);
	for (int32_t rank = 0; rank < 3; rank++)
		scene__call(&scene, rank, all_reduce(8), 0);
	nccl_jobs__set_activity(scene.jobs, &key, NCCL_WAITS_GIL, "sample (data.py:301)");
	scene__judge(&scene, 41 * SECOND);
	assert_int_equal(scene.findings.count, 1);
	return scene;
}

static struct finding_case *case_with(const struct nccl_note *notes, size_t count)
{
	const struct findings_options options = {.needs = NEEDS_NCCL,
						 .window_ns = GROWTH_WINDOW_NS};
	struct finding_case *c = case__new();

	findings__free(c->findings);
	c->findings = findings__new(&options);
	c->process.pid = 5003;
	c->process.start_ns = 1;
	c->model.nccl = notes;
	c->model.nccl_count = count;
	return c;
}

static void test_note(void **state)
{
	struct scene scene = hanging();
	struct nccl_note note = {0};

	(void)state;
	assert_int_equal(nccl_note__write(&note, &scene.findings.items[0]), 0);
	/* Again, as of a hang that goes on. */
	assert_int_equal(nccl_note__write(&note, &scene.findings.items[0]), 0);
	assert_int_equal(note.pid, 5003);
	assert_int_equal(note.blamed, 1);
	assert_non_null(strstr(note.subject, ", collective 6 all_reduce "));
	assert_string_equal(note.evidence,
			    "3 of 4 ranks have been in it for 41.0 s; rank 3 (pid 5003, GPU 3) "
			    "never came: its last was 5; rank 3 is in sample (data.py:301), "
			    "waiting for the GIL");
	assert_non_null(strstr(note.details, "\"cause\":\"rank-missing\""));
	nccl_note__clear(&note);
	scene__free(&scene);
}

static void test_finding(void **state)
{
	struct scene scene = hanging();
	struct nccl_note note = {0};
	const struct finding *finding;
	struct finding_case *c;

	(void)state;
	assert_int_equal(nccl_note__write(&note, &scene.findings.items[0]), 0);
	c = case_with(&note, 1);
	assert_int_equal(case__detect(c), 1);
	finding = case__find(c, "nccl-hang");
	assert_non_null(finding);
	assert_int_equal(finding->severity, SEVERITY_CRITICAL);
	assert_int_equal(finding->pid, 5003);
	assert_string_equal(finding->subject, note.subject);
	assert_string_equal(finding->evidence, note.evidence);
	assert_string_equal(finding->details, note.details);
	assert_true(finding__value(finding, "sequence") == 6);
	assert_true(finding__value(finding, "waiting_ranks") == 3);
	note.over = true;
	case__detect(c);
	assert_non_null(strstr(case__find(c, "nccl-hang")->evidence, "; this is over"));
	case__free(c);
	nccl_note__clear(&note);
	scene__free(&scene);
}

/* A process that is not in the model, and the number of a pid that another process has now. */
static void test_unknown_process(void **state)
{
	struct nccl_note note = {.key = {.verdict = NCCL_ERROR},
				 .blamed = 1,
				 .pid = 5003,
				 .start_ns = 3600 * NS_PER_S};
	struct finding_case *c = case_with(&note, 1);

	(void)state;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(case__find(c, "nccl-error")->pid, 0);
	case__free(c);
}

static void test_thresholds(void **state)
{
	const struct nccl_note notes[] = {
		{.key = {.verdict = NCCL_HANG}, .ns = 12 * NS_PER_S},
		{.key = {.verdict = NCCL_STRAGGLER}, .share = 0.2},
		{.key = {.verdict = NCCL_IMBALANCE, .cause = NCCL_UNEVEN_BYTES}, .share = 1.6},
		{.key = {.verdict = NCCL_IMBALANCE, .cause = NCCL_UNEVEN_TIMES}, .share = 0.3},
		{.key = {.verdict = NCCL_MISMATCH}, .count = 2},
	};
	const char *const above[] = {"nccl-hang=20s", "nccl-straggler=30%", "nccl-imbalance=70%",
				     "nccl-mismatch=3"};
	struct finding_case *c = case_with(notes, 5);
	struct error err;

	(void)state;
	assert_int_equal(case__detect(c), 5);
	assert_int_equal(findings__set_thresholds(c->findings, above, 4, &err), 0);
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

/* Without the calls of NCCL nothing is looked for, whatever a recording has. */
static void test_needs(void **state)
{
	const struct nccl_note note = {.key = {.verdict = NCCL_ERROR}, .blamed = 1};
	struct finding_case *c = case__new();

	(void)state;
	c->model.nccl = &note;
	c->model.nccl_count = 1;
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_note),	   cmocka_unit_test(test_finding),
		cmocka_unit_test(test_thresholds), cmocka_unit_test(test_unknown_process),
		cmocka_unit_test(test_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
