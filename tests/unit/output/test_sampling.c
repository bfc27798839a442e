// SPDX-License-Identifier: BSD-2-Clause
// A model with partly estimated calls, in every output format: what is marked, and what is not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "model_builder.h"
#include "output/metrics/metrics.h"
#include "output/json/report.h"
#include "output/report/text.h"
#include "stat_scene.h"

static void sample(struct model *model, bool now)
{
	model->sampling = (struct sampling){
		.max_overhead = 0.05,
		.overhead = 0.048,
		.share = {[RATE_LAUNCH] = now ? 0.18 : 1,
			  [RATE_COPY] = 1,
			  [RATE_WAIT] = 1,
			  [RATE_EXACT] = 1},
		.sampled[RATE_LAUNCH] = true,
	};
}

/* A little of everything; by default only its launches are estimated. */
struct sampled {
	struct kernel kernels[2];
	struct graph_run runs[1];
	struct device_totals devices[1];
	struct process process;
	struct model model;
};

static void fill(struct sampled *s)
{
	*s = (struct sampled){
		.kernels = {KERNEL(0x10, "a(int)", "a", 1000, 0),
			    KERNEL(0x20, "b(int)", "b", 500, 1)},
		.runs = {{.kernels = 4, .launches = 30}},
		.devices = {{.device = 0,
			     .launches = 1500,
			     .copies = 7,
			     .copy_bytes = 700,
			     .wait_ns = 10}},
		.process =
			{
				.pid = 7,
				.comm = "run",
				.identified = true,
				.user = "ann",
				.parent = 1,
				.cgroup_known = true,
				.memory[MEMORY_DEVICE] = {.allocations = 3,
							  .live_bytes = 30,
							  .live_count = 3},
				.kernel_count = 2,
				.launches = 1500,
				.graph_launches = 30,
				.graph_run_count = 1,
				.graph_kernels = 120,
				.captured_launches = 6,
				.host_functions = 9,
				.device_count = 1,
				.copies[COPY_H2D] =
					{{.calls = 7, .bytes = 700, .ns = 70000, .pinned_calls = 5},
					 {.calls = 2, .bytes = 20, .pageable_calls = 1}},
				.waits[WAIT_STREAM] = {4, 40000},
				.copy_waits = {7, 70000},
				.free_waits = {1, 100000},
				.queries[WAIT_EVENT] = {12, 8},
				.family_calls[RATE_LAUNCH] = {.counted = 300, .missed = 1230},
			},
		.model = {.sections = SECTION_ALL,
			  .process_count = 1,
			  .libraries = 1,
			  .launch_sample = 64},
	};
	s->kernels[0].missed = 800;
	s->process.kernels = s->kernels;
	s->process.graph_runs = s->runs;
	s->process.devices = s->devices;
	s->model.processes = &s->process;
	sample(&s->model, true);
}

static char *report(const struct model *model)
{
	const struct report_options options = {.top = 1};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	report_text__print(out, model, &options);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *json(const struct model *model)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	report_json__print(out, model, NULL, NULL, NULL);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *page(const struct model *model, enum exposition form)
{
	const struct metrics_options options = {.kernels = 10, .version = "1"};
	struct metrics *metrics = metrics__new(&options);
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(metrics);
	assert_non_null(out);
	assert_int_equal(metrics__render(metrics, out, model, NULL, form), 0);
	assert_int_equal(fclose(out), 0);
	metrics__free(metrics);
	return text;
}

static void expect_parts(char *text, const char *const *parts)
{
	for (; *parts; parts++)
		if (!strstr(text, *parts))
			fail_msg("'%s' is not in\n%s", *parts, text);
	free(text);
}

static void expect_none(char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in\n%s", part, text);
	free(text);
}

static void the_report_marks_estimates(void **state)
{
	static const char *const launches[] = {
		"num_successful_mallocs:  3\n",
		"total kernel launches: ~1500 calls of 2 kernels\n"
		"total graph launches: ~30 calls",
		"        0x10 (a) -> ~1000\n"
		"        ... and 1 more kernel (~500 launches)\n"
		"        graph launches: ~30\n"
		"            ~30 (4 kernels each)\n"
		"        captured, not executed: ~6 kernel launches\n"
		"        host functions: ~9\n",
		"        H2D 7 calls, 700 Bytes, 10000000.0 bytes/sec for 0.00007 secs, 5 pinned\n",
		"        on device 0: 0 Bytes live, ~1500 launches, 7 copies and sets of 700 "
		"Bytes\n",
		"\nlaunches are sampled: 18.0 % of the time, to keep to about --max-overhead 5 %\n"
		"the probes make the worst-hit thread about 4.8 % slower, by their calibrated cost "
		"(--max-overhead 5 %)\n"
		"~ marks estimates;",
		NULL,
	};
	static const char *const others[] = {
		"total kernel launches: 1500 calls",
		"        H2D ~7 calls, ~700 Bytes, 10000000.0 bytes/sec for ~0.00007 secs, ~5 "
		"pinned\n",
		"        H2D async ~2 calls, ~20 Bytes, ~1 pageable\n",
		"stream ~4 calls, ~0.00004 secs\n",
		"        in synchronous copies ~7 calls, ~0.00007 secs\n"
		"        in frees 1 call, 0.00010 secs\n",
		"event queries ~12 (~8 not ready)\n",
		"1500 launches, ~7 copies and sets of ~700 Bytes\n",
		NULL,
	};
	struct sampled s;

	(void)state;
	fill(&s);
	expect_parts(report(&s.model), launches);
	s.process.family_calls[RATE_LAUNCH] = (struct family_calls){0};
	s.process.family_calls[RATE_COPY].missed = 1;
	s.process.family_calls[RATE_WAIT].sampled = true;
	expect_parts(report(&s.model), others);
}

static void what_was_sampled_is_reported_later(void **state)
{
	static const char *const parts[] = {
		"\nlaunches were sampled, and are all counted now\n"
		"the probes make the worst-hit thread about 4.8 % slower, by their calibrated cost "
		"(--max-overhead 5 %)\n"
		"~ marks estimates",
		NULL,
	};
	static const char *const never[] = {
		"\n\nthe probes make the worst-hit thread about 4.8 % slower, by their calibrated "
		"cost (--max-overhead 5 %)\n========",
		NULL,
	};
	struct sampled s;

	(void)state;
	fill(&s);
	sample(&s.model, false);
	expect_parts(report(&s.model), parts);
	s.model.sampling.sampled[RATE_LAUNCH] = false;
	s.process.family_calls[RATE_LAUNCH] = (struct family_calls){.counted = 1500};
	expect_parts(report(&s.model), never);
	expect_none(report(&s.model), "~");
}

static void json_has_what_was_counted(void **state)
{
	static const char *const parts[] = {
		"\"sampling\":{\"max_overhead\":0.05,\"overhead\":0.048,\"families\":{"
		"\"launch\":{\"share\":0.18,\"sampled\":true},\"copy\":{\"share\":1,\"sampled\":"
		"false},"
		"\"wait\":{\"share\":1,\"sampled\":false}}}",
		"\"sampling\":{\"launch\":{\"counted\":300,\"missed\":1230,\"share\":0."
		"19607843137254902},"
		"\"wait\":{\"counted\":0,\"missed\":0,\"share\":0}}",
		"\"launches\":1500,\"estimated\":true",
		"\"launches\":1000,\"captured\":0,\"missed\":800,\"estimated\":true",
		"\"in\":\"stream\",\"calls\":4,\"ns\":40000,\"estimated\":true",
		"\"in\":\"copy\",\"calls\":7,\"ns\":70000}",
		"\"calls\":7,\"bytes\":700,\"ns\":70000,\"bytes_per_second\"",
		NULL,
	};
	struct sampled s;

	(void)state;
	fill(&s);
	s.process.family_calls[RATE_WAIT].sampled = true;
	expect_parts(json(&s.model), parts);
	s.process.family_calls[RATE_LAUNCH] = s.process.family_calls[RATE_WAIT] =
		(struct family_calls){.counted = 5};
	s.model.sampling.max_overhead = 0;
	expect_none(json(&s.model), "estimated\":true");
	expect_none(json(&s.model), "sampling");
}

static void metrics_report_the_shares(void **state)
{
	static const char *const parts[] = {
		"gpuprobe_overhead_ratio 0.048\n",
		"gpuprobe_max_overhead_ratio 0.05\n",
		"gpuprobe_sampling_ratio{family=\"launch\"} 0.18\n"
		"gpuprobe_sampling_ratio{family=\"copy\"} 1\n"
		"gpuprobe_sampling_ratio{family=\"wait\"} 1\n",
		"gpuprobe_estimated_calls_total{pid=\"7\",comm=\"run\",family=\"launch\"} 1230\n",
		"gpuprobe_kernel_launches_total{pid=\"7\",comm=\"run\",kernel=\"a(int)\"} 1000\n",
		NULL,
	};
	struct sampled s;

	(void)state;
	fill(&s);
	expect_parts(page(&s.model, EXPOSITION_PROMETHEUS), parts);
	expect_parts(page(&s.model, EXPOSITION_OPENMETRICS), parts);
	s.model.sampling = (struct sampling){0};
	expect_none(page(&s.model, EXPOSITION_PROMETHEUS), "_ratio");
	expect_none(page(&s.model, EXPOSITION_PROMETHEUS), "estimated_calls");
}

static void promtool_accepts_it(void **state)
{
	struct sampled s;
	FILE *promtool;
	char *text;
	int status;

	(void)state;
	if (system("command -v promtool >/dev/null 2>&1"))
		skip();
	fill(&s);
	text = page(&s.model, EXPOSITION_PROMETHEUS);
	promtool = popen("promtool check metrics >&2", "w");
	assert_non_null(promtool);
	fputs(text, promtool);
	free(text);
	status = pclose(promtool);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/*
 * A run in which launches and copies were sampled: 100 launches were counted, and 40 of 80 copies.
 */
static void begin_scene(struct scene *scene)
{
	struct process *p = &scene->processes[0];

	scene__begin(scene);
	sample(&scene->model, true);
	scene->functions[1].missed = 900;
	scene->functions[1].missed_ns = 18 * NS_PER_S;
	scene->kernels[0].launches = 600;
	p->copies[COPY_H2D][0].calls = 160;
	p->family_calls[RATE_LAUNCH] = (struct family_calls){.counted = 100, .missed = 900};
	p->family_calls[RATE_COPY] = (struct family_calls){.counted = 80, .missed = 80};
	scene->missed[0].time[TIME_LAUNCH] = (struct time_totals){900, 7500 * NS_PER_MS};
	scene->missed[0].launches = 900;
	scene->profile->missed = scene->missed;
	scene->profile->missed_count = scene->profile->thread_count;
	scene->profile->all_missed = scene->missed[0];
	scene->list.sampled_kinds = 1ull << finding_kind__index(finding_kind__find("idle-gaps")) |
				    1ull << finding_kind__index(finding_kind__find("small-copies"));
}

static void stat_marks_estimates(void **state)
{
	static const char *const parts[] = {
		"         4       1    4.0 s    1.0 s   990 ms   990 ms    1.0 s  cuMemAlloc\n"
		"    ~1,000       -  ~20.0 s  20.0 ms  20.0 ms  20.0 ms  20.0 ms  cuLaunchKernel\n",
		"        ~600  1-4096      256   1.0 us       1.5 us   2.0 us  conv<int>\n",
		"     ~160  ~40.5 MiB   259.0 KiB  ~40.0 ms   1.1 GB/s  H2D sync, pageable\n",
		"the wait that covered 2 of ~3\n",
		"            60     4 KiB - 8 KiB    |",
		"no findings\n\nskipped because calls are being sampled: small-copies, idle-gaps "
		"(--max-overhead off enables them)\n",
		"\nlaunches are sampled: 18.0 % of the time, to keep to about --max-overhead 5 %\n",
		NULL,
	};
	static const char *const diagnosed[] = {"calls are being sampled: small-copies, idle-gaps "
						"(--max-overhead off enables them)\n",
						NULL};
	struct scene scene;

	(void)state;
	begin_scene(&scene);
	expect_parts(scene__print(&scene, stat_text__print), parts);
	expect_parts(scene__print(&scene, diagnose_text__print), diagnosed);
	scene__end(&scene);
}

/* Time inside missed calls was outside the seen ones; there is no more than that. */
static void stat_estimates_times(void **state)
{
	static const char *const parts[] = {
		"     ~4.0 s    4.0 s  500 ms   ~5.5 s   14.0 s  all 2 threads\n"
		"    ~28.6 %   28.6 %   3.6 %  ~39.3 %\n",
		"     ~4.0 s        -  500 ms   ~5.5 s   10.0 s  12 (server)\n"
		"    ~40.0 %            5.0 %  ~55.0 %\n",
		"          -    4.0 s       -        -    4.0 s  13 (wor\\nker) ended\n",
		"        ~200            90       2.0 us",
		NULL,
	};
	static const char *const all[] = {"     ~9.5 s    4.0 s  500 ms   14.0 s  all 2 threads\n",
					  NULL};
	static const char *const members[] = {
		"\"inside_ns\":4500000000,\"outside_ns\":5500000000,\"estimated\":true,\"time\":{"
		"\"launch\":{\"calls\":200,"
		"\"ns\":4000000000}",
		"\"launches\":200,\"missed_launches\":100,\"launched_ns\"",
		"\"unlisted_threads\":{\"count\":0,\"wall_ns\":0,\"time\":{\"launch\":{\"calls\":0,"
		"\"ns\":0}",
		NULL};
	static const char *const lines[] = {"threads,10,12,server,12,server,10000000000,4000000000,"
					    "0,0,500000000,0,5500000000,200,"
					    "0,0,3,0,200,90,",
					    NULL};
	struct scene scene;

	(void)state;
	begin_scene(&scene);
	expect_parts(scene__print(&scene, stat_text__print), all);
	scene.processes[0].family_calls[RATE_LAUNCH] =
		(struct family_calls){.counted = 100, .missed = 100};
	scene.missed[0] =
		(struct thread_missed){.time[TIME_LAUNCH] = {100, 2 * NS_PER_S}, .launches = 100};
	scene.profile->all_missed = scene.missed[0];
	expect_parts(scene__print(&scene, stat_text__print), parts);
	expect_parts(scene__print(&scene, stat_json__print), members);
	expect_parts(scene__print(&scene, stat_csv__print), lines);
	scene__end(&scene);
}

static void other_forms_of_stat(void **state)
{
	static const char *const lines[] = {
		"functions,10,12,server,cuLaunchKernel,driver,1000,0,20000000000,20000000,20000000,"
		"20000000,20000000\n",
		"sampling,seconds,pid,comm,family,counted,missed,share,overhead,max_overhead\n"
		"sampling,10,12,server,launch,100,900,0.18,0.048,0.05\n"
		"sampling,10,12,server,copy,80,80,1,0.048,0.05\n",
		NULL,
	};
	static const char *const members[] = {
		"\"sampling\":{\"max_overhead\":0.05,",
		"\"sampling\":{\"launch\":{\"counted\":100,\"missed\":900,\"share\":0.1}",
		"\"function\":\"cuLaunchKernel\",\"layer\":\"driver\",\"calls\":1000,\"estimated\":"
		"true,\"missed\":900,",
		"\"function\":\"cuMemAlloc_v2\",\"layer\":\"driver\",\"calls\":4,\"errors\"",
		"\"not_looked_for_where_sampled\":[\"small-copies\",\"idle-gaps\"]",
		NULL,
	};
	struct scene scene;

	(void)state;
	begin_scene(&scene);
	expect_parts(scene__print(&scene, stat_csv__print), lines);
	expect_parts(scene__print(&scene, stat_json__print), members);
	scene.model.sampling = (struct sampling){0};
	expect_none(scene__print(&scene, stat_csv__print), "sampling");
	scene__end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_report_marks_estimates),
		cmocka_unit_test(what_was_sampled_is_reported_later),
		cmocka_unit_test(json_has_what_was_counted),
		cmocka_unit_test(metrics_report_the_shares),
		cmocka_unit_test(promtool_accepts_it),
		cmocka_unit_test(stat_marks_estimates),
		cmocka_unit_test(stat_estimates_times),
		cmocka_unit_test(other_forms_of_stat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
