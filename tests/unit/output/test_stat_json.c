// SPDX-License-Identifier: BSD-2-Clause
// The JSON of `gpuprobe stat` and `gpuprobe diagnose`, on a run made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "stat_scene.h"

/* Compares the text from `begin` on with `part`, and shows where they differ. */
static void expect(const struct scene *scene, const char *begin, const char *part)
{
	char *text = scene__print(scene, stat_json__print);
	const char *at = strstr(text, begin);

	if (!at)
		fail_msg("'%s' is not in %s", begin, text);
	else if (strncmp(at + strlen(begin), part, strlen(part)))
		fail_msg("not '%s' but '%.*s'", part, (int)strlen(part) + 40, at + strlen(begin));
	free(text);
}

static void test_head(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	expect(&scene, "{\"schema\":",
	       "\"gpuprobe.stat/1\",\"time\":\"1970-01-01T14:02:11.000000Z\","
	       "\"boot_ns\":1010000000000,\"began_ns\":1000000000000,\"final\":false,\"processes\":"
	       "[{\"pid\":12,"
	       "\"comm\":\"server\",\"start_ns\":5,\"since_attach\":true"
	       ",\"before_attach\":{\"allocated_bytes\":null,\"objects\":null,\"nvml_used_bytes\":"
	       "null},\"ended\":false,");
	scene.model.final = true;
	expect(&scene, "\"final\":", "true");
	scene__end(&scene);
}

static void test_time(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	expect(&scene, "\"all_threads\":",
	       "{\"count\":2,\"wall_ns\":14000000000,\"inside_ns\":6500000000,"
	       "\"outside_ns\":7500000000,\"time\":{\"launch\":{\"calls\":100,\"ns\":2000000000},"
	       "\"memory\":{\"calls\":4,"
	       "\"ns\":4000000000},\"copy\":{\"calls\":0,\"ns\":0},\"wait\":{\"calls\":3,\"ns\":"
	       "500000000},"
	       "\"other\":{\"calls\":0,\"ns\":0}}},\"threads\":[{\"tid\":12,");
	expect(&scene, "\"tid\":13,\"comm\":", "\"wor\\nker\",");
	scene.threads[0].implicit[IMPLICIT_FREE] = (struct time_totals){7, 70};
	scene.threads[0].idle_ns = 33;
	scene.profile->unlisted_threads = 3;
	expect(&scene, "\"implicit\":",
	       "{\"copy\":{\"calls\":0,\"ns\":0},\"set\":{\"calls\":0,\"ns\":0},"
	       "\"free\":{\"calls\":7,\"ns\":70},\"load\":{\"calls\":0,\"ns\":0},"
	       "\"first_launch\":{\"calls\":0,\"ns\":0}},\"pending\":");
	expect(&scene, "\"idle_ns\":", "33,");
	expect(&scene, "\"unlisted_threads\":", "{\"count\":3,");
	scene__end(&scene);
}

static void test_totals(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	scene.profile->totals.queues[3] = (struct device_queue){.launched_epoch = 5,
								.empty_ns = 6,
								.stream_count = 2,
								.loose_epoch = 4,
								.idle_ns = 7,
								.idle_times = 3,
								.idle_since_ns = 8};
	scene.profile->totals.repeats[1] = (struct time_totals){8, 80};
	scene.profile->totals.repeat_bytes[1] = 800;
	scene.profile->totals.freed_busy = 2;
	scene.profile->inflight_at_exit[1] = 4096;
	expect(&scene, "\"queues\":",
	       "[{\"device\":3,\"launched_epoch\":5,\"stream\":0,\"mixed\":0,\"empty_ns\":6,"
	       "\"streams_with_work\":2,\"loose_epoch\":4,\"idle_ns\":7,\"idle_times\":3,"
	       "\"idle_since_ns\":8,\"legacy_waiting\":0}],");
	expect(&scene, "\"D2H\":", "{\"calls\":8,\"ns\":80,\"bytes\":800}}");
	expect(&scene, "\"freed_busy\":", "2,");
	expect(&scene,
	       "\"peak_bytes\":", "2147483648,\"inflight_at_exit\":{\"calls\":0,\"bytes\":4096},");
	scene__end(&scene);
}

static void test_lists(void **state)
{
	struct profile_repeat repeat = {
		.key = {.from = 0x1000, .to = 0x2000, .bytes = 64, .kind = COPY_D2H},
		.record = {.copies = 9,
			   .repeats = 8,
			   .repeat_ns = 7,
			   .row = scene_row("cuMemcpyDtoH_v2")}};
	struct profile_ignored ignored = {.key = {.code = 2, .row = scene_row("cudaMalloc")},
					  .record = {.calls = 3, .launches = 4, .first_ns = 5}};
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	scene.profile->repeats = &repeat;
	scene.profile->repeat_count = 1;
	scene.profile->ignored = &ignored;
	scene.profile->ignored_count = 1;
	expect(&scene, "\"functions\":",
	       "[{\"function\":\"cuMemAlloc_v2\",\"layer\":\"driver\",\"calls\":4,\"errors\":1,"
	       "\"total_ns\":4000000000,\"average_ns\":1000000000,\"p50_ns\":989855744,\"p99_ns\":"
	       "989855744,"
	       "\"max_ns\":1000000000},");
	expect(&scene, "\"allocation_sizes\":",
	       "[{\"bytes\":1073741824,\"function\":\"cuMemAlloc_v2\",\"kind\":\"device\","
	       "\"device\":0,\"allocations\":4,\"allocation_ns\":4000000000,\"frees\":3,\"free_"
	       "ns\":300,\"live\":1,"
	       "\"peak\":2,");
	expect(&scene, "\"copy_sizes\":",
	       "[{\"kind\":\"H2D\",\"mode\":\"sync\",\"host\":\"pageable\",\"device\":0,"
	       "\"sizes\":[{\"from_bytes\":4096,\"calls\":30,\"bytes\":122880,\"ns\":0},{\"from_"
	       "bytes\":1048576,");
	expect(&scene, "\"repeated_copies\":",
	       "[{\"kind\":\"D2H\",\"function\":\"cuMemcpyDtoH_v2\",\"from\":\"0x1000\","
	       "\"to\":\"0x2000\",\"bytes\":64,\"copies\":9,\"repeats\":8,\"repeat_ns\":7}],");
	expect(&scene, "\"ignored_errors\":",
	       "[{\"function\":\"cudaMalloc\",\"code\":2,"
	       "\"error\":\"cudaErrorMemoryAllocation\",\"calls\":3,\"launches\":4,\"first_ns\":5}]"
	       ",");
	expect(&scene, "\"memory\":{\"device\":", "{\"allocations\":4,\"allocation_failures\":1,");
	expect(&scene, "\"gaps\":", "2,\"gap_ns\":3000,\"gap_range_ns\":[1000,2000]}");
	scene__end(&scene);
}

static void test_findings(void **state)
{
	struct error err;
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	assert_int_equal(findings__set_threshold(scene.findings, "alloc-churn=50%", &err), 0);
	expect(&scene, "\"findings\":",
	       "[],\"not_looked_for\":[],\"not_judged\":[],\"thresholds\":{"
	       "\"cuda-unavailable\":{"
	       "\"calls\":1},"
	       "\"alloc-churn\":{\"share\":0.5,\"pairs\":10},");
	scene__findings(&scene);
	expect(&scene, "\"findings\":",
	       "[{\"id\":\"oom\",\"severity\":\"critical\","
	       "\"title\":\"an allocation failed for want of "
	       "memory\",\"pid\":12,\"tid\":null,\"comm\":\"server\","
	       "\"subject\":null,\"evidence\":null,\"numbers\":{},\"cost_seconds\":null,\"cost_"
	       "share\":null,"
	       "\"cost_step_seconds\":null,\"steady\":false,\"saving_seconds\":null,\"assumption\":"
	       "null,\"stack\":null},");
	expect(&scene, "{\"id\":\"alloc-churn\",",
	       "\"severity\":\"warning\","
	       "\"title\":\"the same memory is allocated and freed again and "
	       "again\",\"pid\":12,\"tid\":13,"
	       "\"comm\":\"server\",\"subject\":\"cudaMalloc of 1.0 GiB\",\"evidence\":\"4 times, "
	       "1.0 s each; of "
	       "\\\"a,b\\\"\\t\",\"numbers\":{\"allocations\":{\"value\":4,\"unit\":\"count\"},"
	       "\"each\":{"
	       "\"value\":1000000000,\"unit\":\"ns\"}},\"cost_seconds\":4,\"cost_share\":0.8,"
	       "\"cost_step_seconds\":null,\"steady\":false,\"saving_seconds\":3,"
	       "\"assumption\":\"one is "
	       "kept\",\"stack\":{\"truncated\":false,\"broken\":false,\"frames\":[{");
	/* Not about a single process. */
	scene.list.items[0].pid = 0;
	expect(&scene, "\"pid\":null,\"tid\":null,\"comm\":", "null,");
	scene__end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),	 cmocka_unit_test(test_time),
		cmocka_unit_test(test_totals),	 cmocka_unit_test(test_lists),
		cmocka_unit_test(test_findings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
