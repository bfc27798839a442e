// SPDX-License-Identifier: BSD-2-Clause
// Budgets: which lines are taken, what is wrong with others, and whether a run keeps them.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare/budget.h"
#include "compare/run_scene.h"

static void refused(const char *text, const char *told)
{
	struct budget *budget;
	struct error err = {""};

	assert_int_equal(budget__parse(text, strlen(text), &budget, &err), -EINVAL);
	assert_string_equal(err.text, told);
}

static void test_mistakes(void **state)
{
	(void)state;
	refused("", "it has no limit");
	refused("# only a comment\n\n", "it has no limit");
	refused("\nhello\n", "line 2: 'hello' has no <=, <, ==, >= or >: write 'launches per step "
			     "<= 400'");
	refused("waits per step = 2\n", "line 1: 'waits per step = 2' has no <=, <, ==, >= or >: "
					"write 'launches per step <= 400'");
	refused("launchs per step <= 4", "line 1: no figure 'launchs per step': did you mean "
					 "'launches per step'?");
	refused("cudaMaloc in steady state == 0", "line 1: no CUDA function 'cudaMaloc' is known");
	refused("launches per step <= 4 GiB",
		"line 1: '4 GiB' is no limit: write a number without a unit");
	refused("peak memory <= 12",
		"line 1: '12' is no limit: write a number and bytes, KiB, MiB, "
		"GiB or TiB");
	refused("peak memory <= 12 GB",
		"line 1: '12 GB' is no limit: write a number and bytes, KiB, "
		"MiB, GiB or TiB");
	refused("step time <= 5 GiB",
		"line 1: '5 GiB' is no limit: write a number and ns, us, ms or s");
	refused("waits per step <= 0x10",
		"line 1: '0x10' is no limit: write a number without a unit");
	refused("waits per step <= inf",
		"line 1: 'inf' is no limit: write a number without a unit");
	refused("waits per step <= -1", "line 1: '-1' is no limit: write a number without a unit");
	refused("waits per step <= 1.2.3",
		"line 1: '1.2.3' is no limit: write a number without a unit");
	refused("findings bad == 0",
		"line 1: no finding 'bad': write info, warning, critical, or an "
		"id of gpuprobe diagnose --list");
}

static void test_a_nul_is_refused(void **state)
{
	static const char text[] = "waits per\0step <= 1";
	struct budget *budget;
	struct error err = {""};

	(void)state;
	assert_int_equal(budget__parse(text, sizeof(text) - 1, &budget, &err), -EINVAL);
	assert_string_equal(err.text, "line 1: it has a NUL: a budget is text");
}

/* The results as lines: "kept 12: launches per step <= 12". */
static void check(const char *limits, const struct run_scene *scene, const char *expected)
{
	static const char *const words[] = {"kept", "broken", "unknown"};
	struct budget_result *results;
	struct budget *budget;
	struct error err = {""};
	char text[4096] = "";
	size_t count;

	if (budget__parse(limits, strlen(limits), &budget, &err))
		fail_msg("%s", err.text);
	assert_int_equal(budget__check(budget, &scene->run, &results, &count), 0);
	for (size_t i = 0; i < count; i++) {
		char line[512];

		if (results[i].state == BUDGET_UNKNOWN)
			snprintf(line, sizeof(line), "unknown: %s\n", results[i].why);
		else
			snprintf(line, sizeof(line), "%s %.10g: %s\n", words[results[i].state],
				 results[i].value, results[i].text);
		strncat(text, line, sizeof(text) - strlen(text) - 1);
	}
	assert_string_equal(text, expected);
	free(results);
	budget__free(budget);
}

static void test_figures(void **state)
{
	struct run_scene scene;

	(void)state;
	run_scene__begin(&scene, &run_scene_usual);
	check("launches per step <= 12 # exactly\n"
	      "  launches\tper  step<12\r\n"
	      "copies per step == 1\n"
	      "copied bytes per step <= 4 KiB\n"
	      "copied bytes per step <= 4095 bytes\n"
	      "waits per step >= 2\n"
	      "waits in all > 899\n"
	      "peak memory <= 0.5MiB\n"
	      "step time <= 5 ms\n"
	      "step time p99 < 9ms\n",
	      &scene,
	      "kept 12: launches per step <= 12\n"
	      "broken 12: launches per step<12\n"
	      "kept 1: copies per step == 1\n"
	      "kept 4096: copied bytes per step <= 4 KiB\n"
	      "broken 4096: copied bytes per step <= 4095 bytes\n"
	      "broken 1: waits per step >= 2\n"
	      "kept 900: waits in all > 899\n"
	      "broken 1048576: peak memory <= 0.5MiB\n"
	      "kept 4300000: step time <= 5 ms\n"
	      "broken 9000000: step time p99 < 9ms\n");
	run_scene__end(&scene);
}

static void test_functions_and_findings(void **state)
{
	struct run_scene scene;

	(void)state;
	run_scene__begin(&scene, &run_scene_usual);
	check("cudaMalloc in steady state == 0\n"
	      "cuCtxSynchronize in steady state <= 700\n"
	      "cuMemAlloc in all == 1\n"
	      "cuMemAlloc_v2 in all == 0\n"
	      "findings == 0\n"
	      "findings warning <= 1\n"
	      "findings critical == 0\n"
	      "findings idle-gaps == 0\n",
	      &scene,
	      "kept 0: cudaMalloc in steady state == 0\n"
	      "kept 700: cuCtxSynchronize in steady state <= 700\n"
	      "kept 1: cuMemAlloc in all == 1\n"
	      "broken 1: cuMemAlloc_v2 in all == 0\n"
	      "broken 1: findings == 0\n"
	      "kept 1: findings warning <= 1\n"
	      "kept 0: findings critical == 0\n"
	      "broken 1: findings idle-gaps == 0\n");
	run_scene__end(&scene);
}

/* Unknown is never 0. */
static void test_unknown(void **state)
{
	struct run_options options = run_scene_usual;
	struct run_scene scene;

	(void)state;
	options.steps = 0;
	run_scene__begin(&scene, &options);
	check("waits per step <= 1\ncudaMalloc in steady state == 0\n", &scene,
	      "unknown: no steps were found, or for too short a time\n"
	      "unknown: the steady time was not found, or is shorter than 2 s\n");
	run_scene__end(&scene);
	options = run_scene_usual;
	options.since_attach = true;
	run_scene__begin(&scene, &options);
	check("waits per step <= 1\nwaits in all <= 1\npeak memory <= 1 GiB\n", &scene,
	      "kept 1: waits per step <= 1\n"
	      "unknown: only a part of the run was watched\n"
	      "unknown: only a part of the run was watched\n");
	run_scene__end(&scene);
	options = run_scene_usual;
	options.sampled = "launch";
	run_scene__begin(&scene, &options);
	check("launches per step <= 100\n", &scene,
	      "unknown: it is an estimate, because calls were sampled: use --max-overhead off\n");
	run_scene__end(&scene);
	options = run_scene_usual;
	options.lost = 3;
	run_scene__begin(&scene, &options);
	check("waits per step <= 1\nwaits per step <= 0\n", &scene,
	      "unknown: the run is incomplete: 3 lost (ring_full)\n"
	      "broken 1: waits per step <= 0\n");
	run_scene__end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes), cmocka_unit_test(test_a_nul_is_refused),
		cmocka_unit_test(test_figures),	 cmocka_unit_test(test_functions_and_findings),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
