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

#include "base/clock.h"
#include "base/width.h"
#include "golden_file.h"
#include "model_builder.h"
#include "output/monitor/monitor.h"

#define MOST 100
#define KERNELS 6
#define MIB (1ull << 20)
#define BEGAN_NS (1000 * NS_PER_S)

/* Several processes of every kind, and their findings. */
struct scene {
	struct model model;
	struct process processes[MOST];
	struct kernel kernels[MOST][KERNELS];
	struct failure failure;
	struct gpu gpus[3];
	struct process_gpu of[MOST];
	struct device_totals devices[MOST];
	struct finding found[5];
	struct finding_list findings;
};

#define LONG_NAME \
	"a_name_that_is_so_long_that_it_does_not_fit_into_a_line_of_eighty_or_a_hundred_columns_" \
	"since_its_author_wrote_a_sentence"

static const char *const names[KERNELS] = {
	"vectorized_elementwise_kernel",
	"ampere_sgemm_128x64_tn",
	"flash_fwd_kernel",
	LONG_NAME,
	"softmax_warp_forward",
	"layer_norm",
};

static void set_kernels(struct scene *scene, size_t i)
{
	for (size_t k = 0; k < KERNELS; k++)
		scene->kernels[i][k] =
			(struct kernel)KERNEL(0x100 + k, (char *)names[k], (char *)names[k], 0, k);
	scene->processes[i].kernels = scene->kernels[i];
	scene->processes[i].kernel_count = KERNELS;
}

static void set_process(struct scene *scene, size_t i)
{
	struct process *process = &scene->processes[i];

	*process = (struct process){
		.pid = 4000 + (int)i,
		.comm = "pt_main_thread",
		.start_ns = BEGAN_NS + i,
		.identified = true,
		.parent = 1,
		.cgroup_known = true,
		.memory[MEMORY_DEVICE] = {.allocations = 10 + i,
					  .frees = i,
					  .live_bytes = (i + 1) * 300 * MIB,
					  .live_count = 10},
		.gpus = &scene->of[i],
		.gpu_count = 1,
		.devices = &scene->devices[i],
		.device_count = 1,
	};
	snprintf(process->command, sizeof(process->command),
		 "/usr/bin/python3 -u /home/ann/train_%zu.py --lr 0.1", i);
	snprintf(process->user, sizeof(process->user), "%s", i % 2 ? "ann" : "root");
	scene->of[i] = (struct process_gpu){
		.ordinal = 0,
		.gpu = (int)(i % 3),
		.used_bytes = (i + 2) * 300 * MIB,
		.untracked_bytes = GPU_UNKNOWN_BYTES,
	};
	set_kernels(scene, i);
}

/* What one interval adds: the first processes do most, and some nothing. */
static void work(struct scene *scene, uint64_t ns)
{
	scene->model.now_ns += ns;
	scene->model.wall.tv_sec += (time_t)(ns / NS_PER_S);
	for (size_t i = 0; i < scene->model.process_count; i++) {
		struct process *process = &scene->processes[i];
		uint64_t steps = i % 7 == 6 ? 0 : (MOST - i) * 100;

		if (process->ended)
			continue;
		for (size_t k = 0; k < KERNELS; k++) {
			process->kernels[k].launches += steps * (KERNELS - k);
			process->launches += steps * (KERNELS - k);
		}
		process->copies[COPY_H2D][1].calls += steps;
		process->copies[COPY_H2D][1].bytes += steps * MIB;
		process->copies[COPY_D2H][0].calls += steps / 10;
		process->copies[COPY_D2H][0].bytes += steps * 1000;
		process->copy_waits.calls += steps / 10;
		process->copy_waits.ns += ns / 50;
		process->waits[WAIT_STREAM].calls += steps;
		process->waits[WAIT_STREAM].ns += i % 7 == 6 ? 0 : ns / 5;
		process->memory[MEMORY_DEVICE].live_bytes += i % 3 * MIB;
	}
}

/* Names and counts that a program can choose. */
static void be_hostile(struct process *process)
{
	strcpy(process->command, "");
	strcpy(process->comm, "a\x1b[31m\nb\xff");
	strcpy(process->user, "\xc3\xa4-very-long-user-name");
}

static void add_finding(struct scene *scene, const char *id, const struct process *process,
			const char *subject, const char *evidence)
{
	const struct finding_kind *kind = finding_kind__find(id);
	struct finding *finding = &scene->found[scene->findings.count++];

	assert_non_null(kind);
	*finding = (struct finding){
		.kind = kind,
		.severity = kind->severity,
		.pid = process->pid,
		.start_ns = process->start_ns,
		.subject = (char *)subject,
		.evidence = (char *)evidence,
	};
	memcpy(finding->comm, process->comm, sizeof(finding->comm));
}

static void set_findings(struct scene *scene)
{
	size_t last = scene->model.process_count - 1;

	add_finding(scene, "oom", &scene->processes[last], "cudaMalloc",
		    "2 calls failed for want of memory, all of them cudaMalloc "
		    "(cudaErrorMemoryAllocation); the process has 300.0 MiB allocated on devices");
	add_finding(scene, "alloc-churn", &scene->processes[last / 2], "cudaMalloc of 1.0 GiB",
		    "1,000 allocations, each freed before the next; 412 us and 23 us each");
	scene->found[1].has_cost = true;
	scene->found[1].cost_ns = 435000000;
	scene->found[1].share = 0.321;
	add_finding(scene, "alloc-churn", &scene->processes[0], "cudaMalloc of 2.0 MiB",
		    "20 allocations, each freed before the next; 412 us and 23 us each");
	add_finding(scene, "pageable-copies", &scene->processes[last / 3], "H2D", "9 copies");
	add_finding(scene, "cold-start", &scene->processes[0], NULL, "it took 20 s");
}

static void set_gpus(struct scene *scene)
{
	for (unsigned int i = 0; i < 3; i++)
		scene->gpus[i] = (struct gpu){
			.index = i,
			.mig = GPU_NONE,
			.total_bytes = 81920 * MIB,
			.used_bytes = (i + 1) * 10000 * MIB,
			.busy_percent = 97 - 40 * i,
		};
	scene->gpus[2].busy_percent = GPU_UNKNOWN_PERCENT;
	scene->model.gpus = scene->gpus;
	scene->model.gpu_count = 3;
}

static struct scene *new_scene(size_t processes)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	scene->model = (struct model){
		.wall = {.tv_sec = 1767357434},
		.now_ns = BEGAN_NS,
		.sections = SECTION_ALL,
		.launch_sample = 64,
		.libraries = 1,
		.processes = scene->processes,
		.process_count = processes,
	};
	for (size_t i = 0; i < processes; i++)
		set_process(scene, i);
	scene->failure = (struct failure)FAILURE("cudaMalloc", "cudaErrorMemoryAllocation", 2,
						 LAYER_RUNTIME, 2, false);
	scene->processes[processes - 1].failures = &scene->failure;
	scene->processes[processes - 1].failure_count = 1;
	set_gpus(scene);
	if (processes > 4) {
		be_hostile(&scene->processes[1]);
		scene->processes[2].since_attach = true;
		scene->model.lost[LOSS_RING_FULL] = 8;
	}
	scene->findings.items = scene->found;
	set_findings(scene);
	return scene;
}

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
	monitor_text__begin(text, BEGAN_NS);
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
		cmocka_unit_test(exact_amounts_are_whole_everywhere),
		cmocka_unit_test(stacks_have_the_users_own_line),
		cmocka_unit_test(the_start_says_what_is_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
