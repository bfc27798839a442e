// SPDX-License-Identifier: BSD-2-Clause
/*
 * The monitor's report by process, of models built by hand: compared with files of
 * tests/unit/golden/ at three widths, and its limits. GOLDEN=write writes these files anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/width.h"
#include "golden_file.h"
#include "monitor_scene.h"
#include "output/monitor/monitor.h"

static char *print(struct monitor_text *text, const struct scene *scene)
{
	size_t length;
	char *made;
	FILE *out = open_memstream(&made, &length);

	assert_non_null(out);
	assert_int_equal(monitor_text__print(out, text, &scene->model, &scene->findings, NULL), 0);
	assert_int_equal(fclose(out), 0);
	return made;
}

static struct monitor_text *new_text(struct monitor_text_options options)
{
	struct monitor_text *text = monitor_text__new(&options);

	assert_non_null(text);
	assert_int_equal(monitor_text__begin(text, BEGAN_NS, NULL), 0);
	return text;
}

/* The number of lines, each of which fits. */
static size_t lines_within(const char *text, int columns)
{
	size_t lines = 0;

	for (size_t length; *text; text += length + 1) {
		length = strcspn(text, "\n");
		if (width__columns(text, length) > (size_t)columns)
			fail_msg("more than %d columns: %.*s", columns, (int)length, text);
		lines++;
	}
	return lines;
}

/*
 * The second report of five seconds, in which one of several processes has ended, and the last
 * report.
 */
static void expect_reports(size_t processes, int columns, size_t most)
{
	const struct monitor_text_options options = {
		.columns = columns, .cut_names = true, .top = 20, .cut = true};
	struct monitor_text *text = new_text(options);
	struct scene *scene = new_scene(processes);
	char name[64], *first, *second, *last, *all;

	work(scene, 5 * NS_PER_S);
	first = print(text, scene);
	if (processes > 4) {
		scene->processes[3].ended = true;
		scene->processes[3].ended_ns = scene->model.now_ns + NS_PER_S;
		scene->processes[3].live_at_exit_bytes = 7 * MIB;
		scene->processes[3].live_at_exit_count = 3;
	}
	work(scene, 5 * NS_PER_S);
	second = print(text, scene);
	assert_in_range(lines_within(first, columns), 1, most);
	assert_in_range(lines_within(second, columns), 1, most);
	scene->processes[3].reported_end = true;
	scene->model.final = true;
	work(scene, NS_PER_S);
	last = print(text, scene);
	assert_in_range(lines_within(last, columns), 1, most);
	snprintf(name, sizeof(name), "monitor-%zu-%d.txt", processes, columns);
	assert_true(asprintf(&all, "%s%s", second, last) > 0);
	golden_file__expect(name, all, strlen(all));
	free(all);
	free(first);
	free(second);
	free(last);
	free(scene);
	monitor_text__free(text);
}

static void one_process_fits_40_lines(void **state)
{
	(void)state;
	expect_reports(1, 80, 40);
	expect_reports(1, 100, 40);
	expect_reports(1, 160, 40);
}

static void ten_processes_fit_60_lines(void **state)
{
	(void)state;
	expect_reports(10, 80, 60);
	expect_reports(10, 100, 60);
	expect_reports(10, 160, 60);
}

static void a_hundred_processes_fit_80_lines(void **state)
{
	(void)state;
	expect_reports(100, 80, 80);
	expect_reports(100, 100, 80);
	expect_reports(100, 160, 80);
}

#define WIDE "\u8a13\u7df4\u5b66\u7fd2"

/* Characters of two columns and of none. */
static void wide_names_fit(void **state)
{
	static char evidence[] = "one " WIDE WIDE WIDE WIDE " two " WIDE WIDE WIDE WIDE
				 " three e\u0301e\u0301e\u0301 " WIDE WIDE WIDE WIDE WIDE
				 " four " WIDE WIDE WIDE WIDE WIDE WIDE WIDE;
	static const int widths[] = {80, 100, 160};

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		struct monitor_text *text = new_text((struct monitor_text_options){
			.columns = widths[i], .cut_names = true, .top = 20, .cut = true});
		struct scene *scene = new_scene(3);
		char *report;

		for (size_t k = 0; k < 3; k++) {
			snprintf(scene->processes[k].command, sizeof(scene->processes[k].command),
				 "/opt/" WIDE WIDE WIDE WIDE " " WIDE WIDE WIDE WIDE WIDE WIDE);
			scene->kernels[k][0].name = scene->kernels[k][0].short_name =
				(char *)WIDE WIDE WIDE WIDE WIDE WIDE WIDE WIDE WIDE WIDE;
		}
		scene->found[0].evidence = evidence;
		work(scene, 5 * NS_PER_S);
		report = print(text, scene);
		lines_within(report, widths[i]);
		assert_non_null(strstr(report, WIDE));
		free(report);
		free(scene);
		monitor_text__free(text);
	}
}

static void expect_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void top_shows_what_was_cut(void **state)
{
	struct monitor_text *text = new_text((struct monitor_text_options){.columns = 100});
	struct scene *scene = new_scene(100);
	char part[64], *all;

	(void)state;
	work(scene, 5 * NS_PER_S);
	all = print(text, scene);
	for (int pid = 4000; pid < 4100; pid++) {
		snprintf(part, sizeof(part), "\nprocess %d (", pid);
		expect_has(all, part);
	}
	expect_has(all, "cold-start: ");
	expect_has(all, " layer_norm\n");
	expect_has(all, names[3]);
	assert_null(strstr(all, "more"));
	free(all);
	free(scene);
	monitor_text__free(text);
}

/* What has no row still holds memory. */
static void processes_without_a_row_are_counted(void **state)
{
	struct monitor_text *text = new_text((struct monitor_text_options){.columns = 100});
	struct scene *scene = new_scene(1);
	char *all;

	(void)state;
	work(scene, 5 * NS_PER_S);
	scene->gpus[0].stranger_count = GPU_STRANGERS + 1;
	for (size_t i = 0; i < GPU_STRANGERS; i++)
		scene->gpus[0].strangers[i] = (struct gpu_stranger){.pid = 7, .bytes = 100 * MIB};
	scene->gpus[1].divided = true;
	scene->gpus[1].stranger_count = 1;
	scene->gpus[2].stranger_count = 1;
	all = print(text, scene);
	expect_has(all, "\nother processes: 5 with over 400.0 MiB on GPU 0, 1 on GPU 2 "
			"(gpuprobe ps)\n");
	free(all);
	free(scene);
	monitor_text__free(text);
}

/* Times and memory are not 0 but unknown. */
static void without_returns_no_memory_is_known(void **state)
{
	const struct monitor_text_options options = {.columns = 100, .cut = true};
	struct monitor_text *text = new_text(options);
	struct scene *scene = new_scene(1);
	char *report;

	(void)state;
	scene->model.no_returns = true;
	scene->findings.count = 0;
	work(scene, 5 * NS_PER_S);
	report = print(text, scene);
	expect_has(report, "python3 train_0.py    0       -       -  42.0 k/s  2.1 GB/s");
	expect_has(report, "what is live is unknown (--no-return-probes)");
	free(report);
	free(scene);
	monitor_text__free(text);
}

/* A reused pid is another process, whose rates begin at 0. */
static void a_reused_pid_has_its_own_rates(void **state)
{
	const struct monitor_text_options options = {.columns = 100, .cut = true};
	struct monitor_text *text = new_text(options);
	struct scene *scene = new_scene(1);
	char *report;

	(void)state;
	scene->findings.count = 0;
	work(scene, 5 * NS_PER_S);
	free(print(text, scene));
	set_process(scene, 0);
	scene->processes[0].start_ns = scene->model.now_ns;
	work(scene, 5 * NS_PER_S);
	report = print(text, scene);
	expect_has(report, " +300.0 MiB  42.0 k/s ");
	free(report);
	free(scene);
	monitor_text__free(text);
}

/* Calls while the probes were attached are in totals, not in rates. */
static void rates_begin_when_the_probes_are_in(void **state)
{
	struct monitor_text *text = new_text((struct monitor_text_options){.columns = 100});
	struct scene *scene = new_scene(1);
	char *report;

	(void)state;
	work(scene, 15 * NS_PER_S);
	assert_int_equal(monitor_text__begin(text, BEGAN_NS, &scene->model), 0);
	work(scene, 5 * NS_PER_S);
	report = print(text, scene);
	expect_has(report, "; rates of the last 5.0 s\n");
	expect_has(report, " 42.0 k/s 2.1 GB/s ");
	free(report);
	scene->model.final = true;
	report = print(text, scene);
	expect_has(report, " 20.0 s ");
	free(report);
	free(scene);
	monitor_text__free(text);
}

static void the_last_lines_fit(void **state)
{
	struct monitor_text *text = new_text(
		(struct monitor_text_options){.columns = 80, .cut_names = true, .cut = true});
	struct scene *scene = new_scene(1);
	struct target_process silent = {
		.pid = 12,
		.comm = "idle-holder",
		.doing = "none of its threads is in a CUDA call (gpuprobe dump -p 12 shows them)",
	};
	char *report;

	(void)state;
	scene->model.targets = (struct target_processes){.processes = &silent, .count = 1};
	work(scene, 5 * NS_PER_S);
	report = print(text, scene);
	lines_within(report, 80);
	expect_has(report, "\nprocess 12 (idle-holder): no CUDA call seen since attach: none of "
			   "its threads is\n  in a CUDA call (gpuprobe dump -p 12 shows them)\n");
	free(report);
	free(scene);
	monitor_text__free(text);
}

static void exact_amounts_are_whole_everywhere(void **state)
{
	struct monitor_text_options options = {.columns = 100, .cut = true, .form = QUANTITY_EXACT};
	struct monitor_text *text = new_text(options);
	struct scene *scene = new_scene(1);
	const struct finding_number number = {"ns", 435000001, UNIT_NS};
	char *report;

	(void)state;
	scene->found[1].numbers[0] = number;
	scene->found[1].number_count = 1;
	work(scene, 5 * NS_PER_S);
	report = print(text, scene);
	/* The row has all columns, although it is too wide. */
	expect_has(report,
		   "4000  root  python3 train_0.py    0  314,572,800 bytes  "
		   "+314,572,800 bytes  42,000/s  2,097,152,000 bytes/s  2,000,000 bytes/s");
	expect_has(report, "memory    314,572,800 bytes in 10 allocations live; ");
	expect_has(report, "    12,000/s         60,000 total  vectorized_elementwise_kernel\n");
	expect_has(report, "cost 435,000,000 ns, 32.1 % of the time\n");
	expect_has(report, "\n          exact: ns=435,000,001 ns\n");
	free(report);
	monitor_text__free(text);
	options.cut_names = true;
	text = new_text(options);
	assert_in_range(lines_within(report = print(text, scene), 100), 1, 40);
	free(report);
	free(scene);
	monitor_text__free(text);
}

#define NATIVE(name) \
	{ \
		.function = (name), .object = "libglue.so" \
	}
#define PYTHON(name, number) \
	{ \
		.kind = FRAME_PYTHON, .function = (name), .file = "/home/ann/train.py", \
		.line = (number) \
	}

/* The program's own frames are behind glue that is no framework's, as ctypes. */
static const struct stack_frame frames[] = {
	NATIVE("call"),	 NATIVE("glue1"),   NATIVE("glue2"),   NATIVE("glue3"),
	NATIVE("glue4"), PYTHON("load", 5), PYTHON("step", 6), PYTHON("main", 7),
};
static const struct stack deep_stack = {
	.frames = frames,
	.count = sizeof(frames) / sizeof(*frames),
};

static void stacks_have_the_users_own_line(void **state)
{
	struct monitor_text_options options = {.columns = 100, .cut = true};
	struct monitor_text *text = new_text(options);
	struct scene *scene = new_scene(1);
	struct live_site live = {.stack = &deep_stack, .bytes = 3 * MIB, .count = 7};
	char *report;

	(void)state;
	scene->processes[0].live_sites = &live;
	scene->processes[0].live_site_count = 1;
	scene->found[0].stack = &deep_stack;
	work(scene, 5 * NS_PER_S);
	report = print(text, scene);
	expect_has(report, "\n  sites     3.0 MiB live in 7 allocations\n"
			   "                call+0x0 [libglue.so]\n"
			   "                glue1+0x0 [libglue.so]\n"
			   "                glue2+0x0 [libglue.so]\n"
			   "                load (train.py:5)\n"
			   "                … 4 more frames\n");
	expect_has(report, "\n          at load (train.py:5) < step (train.py:6) < "
			   "main (train.py:7)\n");
	free(report);
	monitor_text__free(text);
	options.all_frames = true;
	text = new_text(options);
	report = print(text, scene);
	expect_has(report, "                glue4+0x0 [libglue.so]\n                load (");
	expect_has(report, "\n          call+0x0 [libglue.so]\n          glue1+0x0 ");
	free(report);
	free(scene);
	monitor_text__free(text);
}

static void the_start_says_what_is_watched(void **state)
{
	const int32_t pids[] = {12, 13};
	struct monitor_start start = {
		.watched = {.pids = pids, .pid_count = 2, .interval = 5},
		.metrics = "0.0.0.0:9000",
	};
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	assert_non_null(out);
	monitor_text__start(out, &start);
	start = (struct monitor_start){.watched = {.command = "a\nb"}};
	monitor_text__start(out, &start);
	start = (struct monitor_start){.watched = {.duration = 30}, .metrics = "127.0.0.1:9000"};
	monitor_text__start(out, &start);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(
		text,
		"gpuprobe: watching the CUDA calls of processes 12, 13 and their children, a "
		"report "
		"every 5.0 s; ends with them, or by Ctrl-C\n"
		"gpuprobe: metrics at http://0.0.0.0:9000/metrics, open to other machines; "
		"--metrics-addr 127.0.0.1:9000, or none, limits that\n"
		"gpuprobe: watching the CUDA calls of a\\nb and its descendants; ends with them, "
		"or "
		"by Ctrl-C\n"
		"gpuprobe: metrics are off\n"
		"gpuprobe: watching the CUDA calls of all processes; ends after 30.0 s, or by "
		"Ctrl-C\n"
		"gpuprobe: metrics at http://127.0.0.1:9000/metrics, for this machine only\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_process_fits_40_lines),
		cmocka_unit_test(ten_processes_fit_60_lines),
		cmocka_unit_test(a_hundred_processes_fit_80_lines),
		cmocka_unit_test(wide_names_fit),
		cmocka_unit_test(top_shows_what_was_cut),
		cmocka_unit_test(processes_without_a_row_are_counted),
		cmocka_unit_test(without_returns_no_memory_is_known),
		cmocka_unit_test(a_reused_pid_has_its_own_rates),
		cmocka_unit_test(rates_begin_when_the_probes_are_in),
		cmocka_unit_test(the_last_lines_fit),
		cmocka_unit_test(exact_amounts_are_whole_everywhere),
		cmocka_unit_test(stacks_have_the_users_own_line),
		cmocka_unit_test(the_start_says_what_is_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
