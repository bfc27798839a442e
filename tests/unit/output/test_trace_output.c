// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trace lines in each format, compared with files that a person has checked,
 * tests/unit/golden/trace*; GOLDEN=write writes them anew.
 * tests/integration/trace/test_trace_json_and_tsv.py reads the same files.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/width.h"
#include "golden_file.h"
#include "output/trace/output.h"
#include "output/trace/text.h"
#include "trace_lines.h"

#define FIRST_EXAMPLE_LINES 4

/* The header and the first `count` lines in a format. */
static char *print(const struct trace_output_options *options, size_t count, size_t *length)
{
	struct trace_line lines[LINES];
	struct trace_output *output;
	FILE *file = tmpfile();
	char *text;

	assert_non_null(file);
	build_lines(lines);
	assert_int_equal(trace_output__new(fileno(file), options, &output, NULL), 0);
	assert_int_equal(trace_output__header(output), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(trace_output__line(output, &lines[i]), 0);
	assert_int_equal(trace_output__flush(output), 0);
	trace_output__free(output);
	text = golden_file__contents(file, length);
	fclose(file);
	return text;
}

static struct trace_output_options options_of(enum trace_format format, const char *columns)
{
	/* The trace begins at 2026-11-22T14:02:11.123456789Z. */
	struct trace_output_options options = {
		.format = format,
		.begin_ns = BEGIN_NS,
		.host = "node\"7",
		.kernel = "6.13.0-test",
		.wall_offset_ns = 1795356131123456789 - (int64_t)BEGIN_NS,
	};

	if (columns)
		assert_int_equal(trace_output__parse_columns(&options, columns, NULL), 0);
	return options;
}

static void expect_form(const char *name, const struct trace_output_options *options)
{
	size_t length;
	char *text = print(options, LINES, &length);

	golden_file__expect(name, text, length);
	free(text);
}

static void the_table_is_as_its_description_shows_it(void **state)
{
	static const char expected[] =
		"TIME(ms)   PROCESS          PID     TID     EVENT                  DETAILS        "
		"                   "
		"                                   DURATION RESULT\n"
		"1234.018   my_cuda_app      12345   12345   cudaMalloc             size=1048576 "
		"ptr=0x7f8b00000000   "
		"                                     412 us cudaSuccess\n"
		"1235.101   my_cuda_app      12345   12345   cudaMemcpy             "
		"dst=0x7f8b00000000 src=0x55d0c0 "
		"size=1048576 kind=H2D                  368 us cudaSuccess\n"
		"1240.440   my_cuda_app      12345   12345   cudaLaunchKernel       vadd "
		"grid=(4096,1,1) block=(256,1,1) "
		"shmem=0 stream=0                  5.2 us cudaSuccess\n"
		"1240.900   my_cuda_app      12345   12345   cudaMalloc             "
		"size=1125899906842624             "
		"                                    18.3 us cudaErrorMemoryAllocation\n";
	struct trace_output_options options = options_of(TRACE_TABLE, NULL);
	size_t length;
	char *text = print(&options, FIRST_EXAMPLE_LINES, &length);

	(void)state;
	assert_string_equal(text, expected);
	free(text);
}

static void tables(void **state)
{
	struct trace_output_options options = options_of(TRACE_TABLE, NULL);

	(void)state;
	expect_form("trace.table", &options);
	options.color = true;
	options.width = 160;
	expect_form("trace.160", &options);
	options.width = 100;
	expect_form("trace.100", &options);
	options.width = 80;
	expect_form("trace.80", &options);
	options = options_of(TRACE_TABLE, "all");
	expect_form("trace-all.table", &options);
}

static void tsv(void **state)
{
	struct trace_output_options options = options_of(TRACE_TSV, NULL);

	(void)state;
	expect_form("trace.tsv", &options);
	options = options_of(TRACE_TSV, "all");
	options.timestamps = TIMESTAMPS_NS;
	expect_form("trace-all.tsv", &options);
	/* A process name at the start of a line. */
	options = options_of(TRACE_TSV, "process,event");
	expect_form("trace-process.tsv", &options);
}

static void json(void **state)
{
	struct trace_output_options options = options_of(TRACE_JSON, NULL);

	(void)state;
	expect_form("trace.json", &options);
	options = options_of(TRACE_JSON, "all");
	options.timestamps = TIMESTAMPS_NS;
	expect_form("trace-all.json", &options);
}

static void json_schema(void **state)
{
	FILE *file = tmpfile();
	size_t length;
	char *text;

	(void)state;
	assert_non_null(file);
	trace_output__print_json_schema(file);
	text = golden_file__contents(file, &length);
	fclose(file);
	golden_file__expect("trace.schema.json", text, length);
	free(text);
}

/* The times of the first three lines, one a line, in a timestamp format. */
static void expect_times(enum trace_format format, enum trace_timestamps timestamps,
			 const char *expected)
{
	struct trace_output_options options = options_of(format, "time,end");
	size_t length;
	char *text;

	options.timestamps = timestamps;
	text = print(&options, 3, &length);
	assert_string_equal(text, expected);
	free(text);
}

static void forms_of_time(void **state)
{
	(void)state;
	setenv("TZ", "UTC-2", 1);
	tzset();
	expect_times(TRACE_TABLE, TIMESTAMPS_RELATIVE,
		     "TIME(ms)   END(ms)\n1234.018   1234.430\n1235.101   1235.469\n1240.440   "
		     "1240.445\n");
	expect_times(TRACE_TSV, TIMESTAMPS_RELATIVE,
		     "time\tend\n1234.018000\t1234.430100\n1235.101000\t1235.469000\n1240."
		     "440000\t1240.445200\n");
	expect_times(TRACE_TABLE, TIMESTAMPS_WALL,
		     "TIME            END\n16:02:12.357474 16:02:12.357886\n16:02:12.358557 "
		     "16:02:12.358925\n"
		     "16:02:12.363896 16:02:12.363901\n");
	expect_times(TRACE_TSV, TIMESTAMPS_ISO,
		     "time\tend\n2026-11-22T14:02:12.357474789Z\t2026-11-22T14:02:12.357886889Z\n"
		     "2026-11-22T14:02:12.358557789Z\t2026-11-22T14:02:12.358925789Z\n"
		     "2026-11-22T14:02:12.363896789Z\t2026-11-22T14:02:12.363901989Z\n");
	expect_times(TRACE_TABLE, TIMESTAMPS_NS,
		     "TIME(ns)         END(ns)\n5001234018000    5001234430100\n5001235101000    "
		     "5001235469000\n"
		     "5001240440000    5001240445200\n");
	expect_times(TRACE_TABLE, TIMESTAMPS_DELTA,
		     "DELTA(ms)  END(ms)\n0.000      0.412\n1.083      1.451\n5.339      5.344\n");
	expect_times(TRACE_JSON, TIMESTAMPS_ISO,
		     "{\"schema\":1,\"line\":\"start\",\"time\":\"2026-11-22T14:02:11.123456789Z\","
		     "\"start\":{\"wall\":\"2026-11-22T14:02:11.123456789Z\","
		     "\"wall_ns\":1795356131123456789,\"boot_ns\":5000000000000,"
		     "\"clock\":\"CLOCK_BOOTTIME\",\"timestamps\":\"iso\","
		     "\"units\":{\"time\":null,\"duration\":\"ns\",\"size\":\"bytes\","
		     "\"bw\":\"bytes/s\"},\"gpuprobe\":\"" GPUPROBE_VERSION "\","
		     "\"host\":\"node\\\"7\",\"kernel\":\"6.13.0-test\"}}\n"
		     "{\"schema\":1,\"time\":\"2026-11-22T14:02:12.357474789Z\","
		     "\"end\":\"2026-11-22T14:02:12.357886889Z\"}\n"
		     "{\"schema\":1,\"time\":\"2026-11-22T14:02:12.358557789Z\","
		     "\"end\":\"2026-11-22T14:02:12.358925789Z\"}\n"
		     "{\"schema\":1,\"time\":\"2026-11-22T14:02:12.363896789Z\","
		     "\"end\":\"2026-11-22T14:02:12.363901989Z\"}\n");
}

/* The text of one line without a header, in a buffer that the next call reuses. */
static const char *print_line(const struct trace_output_options *options,
			      const struct trace_line *line)
{
	static char text[1024];
	struct trace_output *output;
	FILE *file = tmpfile();
	ssize_t length;

	assert_non_null(file);
	assert_int_equal(trace_output__new(fileno(file), options, &output, NULL), 0);
	assert_int_equal(trace_output__line(output, line), 0);
	assert_int_equal(trace_output__flush(output), 0);
	trace_output__free(output);
	length = pread(fileno(file), text, sizeof(text) - 1, 0);
	assert_true(length > 0);
	text[length] = '\0';
	fclose(file);
	return text;
}

/* Times at the end of a second and at the start of the next, and one before 1970. */
static void times_of_two_seconds(void **state)
{
	struct trace_output_options options = options_of(TRACE_TSV, "time,end");
	struct trace_line line = {CALL(query, application, 0, 1000000000)};

	(void)state;
	options.timestamps = TIMESTAMPS_ISO;
	options.wall_offset_ns = 0;
	line.start_ns = 1999999999;
	assert_string_equal(print_line(&options, &line),
			    "1970-01-01T00:00:01.999999999Z\t1970-01-01T00:00:02.999999999Z\n");
	options.wall_offset_ns = -2000000000;
	assert_string_equal(print_line(&options, &line),
			    "1969-12-31T23:59:59.999999999Z\t1970-01-01T00:00:00.999999999Z\n");
}

/* The text as a terminal shows it, without colours. */
static void take_colours_away(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\033')
			from = strchr(from, 'm');
		else
			*to++ = *from;
	}
	*to = '\0';
}

/* Every printed line fits the terminal. */
static void expect_no_wider(const struct trace_output_options *options)
{
	size_t length;
	char *text = print(options, LINES, &length);

	take_colours_away(text);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(width__columns(line, strlen(line)) <= options->width);
	free(text);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	static const char *const columns[] = {NULL, "all", "details", "process,event",
					      "result,event,details,kernel,args"};
	struct trace_output_options options;

	(void)state;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		options = options_of(TRACE_TABLE, columns[i]);
		options.color = i % 2 == 0;
		for (options.width = 1; options.width <= 250; options.width++)
			expect_no_wider(&options);
	}
}

/*
 * The details are cut first. An error that does not fit goes to the next line, where it ends with
 * the terminal; a narrow terminal does not show successes.
 */
static void an_error_is_never_cut(void **state)
{
	struct trace_output_options options = options_of(TRACE_TABLE, NULL);
	struct trace_line lines[LINES], *line = &lines[2];

	(void)state;
	build_lines(lines);
	for (options.width = 60; options.width < 200; options.width += 20) {
		char below[256];

		line->result = 0;
		assert_non_null(strstr(print_line(&options, line),
				       options.width < 120 ? " 5.2 us\n" : " cudaSuccess\n"));
		line->result = 2;
		snprintf(below, sizeof(below), "  5.2 us\n%*s\n", (int)options.width,
			 "cudaErrorMemoryAllocation");
		assert_non_null(
			strstr(print_line(&options, line),
			       options.width < 120 ? below : " cudaErrorMemoryAllocation\n"));
	}
	/* What fits is not cut. */
	line->result = 0;
	options.width = 142;
	assert_null(strstr(print_line(&options, line), "…"));
	options.width = 141;
	assert_non_null(strstr(print_line(&options, line), "…"));
}

static void exact_amounts_are_whole(void **state)
{
	struct trace_output_options options = options_of(TRACE_TABLE, "event,bw,duration,result");
	struct trace_line lines[LINES];

	(void)state;
	options.form = QUANTITY_EXACT;
	build_lines(lines);
	assert_string_equal(
		print_line(&options, &lines[1]),
		"cudaMemcpy             2,849,391,304 bytes/s 368,000 ns cudaSuccess\n");
}

static void expect_header(unsigned int width, const char *columns, const char *expected)
{
	struct trace_output_options options = options_of(TRACE_TABLE, columns);
	size_t length;
	char *text;

	options.width = width;
	text = print(&options, 0, &length);
	assert_string_equal(text, expected);
	free(text);
}

static void a_narrow_terminal_has_fewer_columns(void **state)
{
	static const struct {
		unsigned int width;
		const char *before, *after; /* the details, with their width */
		int details;
	} cases[] = {
		{137, "TIME(ms)   PROCESS          PID     TID     EVENT                  ",
		 " DURATION RESULT\n", 48},
		{136, "TIME(ms)   PID     TID     EVENT                  ", " DURATION RESULT\n",
		 64},
		{120, "TIME(ms)   PID     TID     EVENT                  ", " DURATION RESULT\n",
		 48},
		{119, "TIME(ms)   PID     EVENT                  ", " DURATION RESULT\n", 55},
		{112, "TIME(ms)   PID     EVENT                  ", " DURATION RESULT\n", 48},
		{111, "TIME(ms)   PID     EVENT                  ", " DURATION\n", 60},
		{80, "TIME(ms)   PID     EVENT                  ", " DURATION\n", 29},
		{61, "TIME(ms)   PID     EVENT                  ", " DURATION\n", 10},
	};
	char header[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(header, sizeof(header), "%s%-*s%s", cases[i].before, cases[i].details,
			 "DETAILS", cases[i].after);
		expect_header(cases[i].width, NULL, header);
	}
	expect_header(60, NULL, "TIME(ms)   PID     EVENT                  DURATION\n");
	/* Requested columns are kept. */
	expect_header(50, "time,process,pid,tid,details",
		      "TIME(ms)   PROCESS          PID     TID     DET…LS\n");
}

/* Columns that appear or disappear cause a new header. */
static void another_width(void **state)
{
	struct trace_output_options options = options_of(TRACE_TABLE, NULL);
	struct trace_line lines[LINES];
	struct trace_output *output;
	FILE *file = tmpfile();
	size_t length;
	char *text;

	(void)state;
	assert_non_null(file);
	build_lines(lines);
	options.width = 150;
	assert_int_equal(trace_output__new(fileno(file), &options, &output, NULL), 0);
	trace_output__set_width(output, 140);
	trace_output__set_width(output, 115);
	assert_int_equal(trace_output__line(output, lines), 0);
	trace_output__set_width(output, 80);
	trace_output__set_width(output, 75);
	assert_int_equal(trace_output__line(output, lines), 0);
	assert_int_equal(trace_output__flush(output), 0);
	trace_output__free(output);
	text = golden_file__contents(file, &length);
	assert_string_equal(
		text,
		"TIME(ms)   PID     EVENT                  DETAILS                                "
		"             DURATION RESULT\n"
		"1234.018   12345   cudaMalloc             size=1048576 ptr=0x7f8b00000000        "
		"               412 us cudaSuccess\n"
		"TIME(ms)   PID     EVENT                  DETAILS                       DURATION\n"
		"1234.018   12345   cudaMalloc             size=1048576 …             412 us\n");
	free(text);
	fclose(file);
}

/* Prints the lines after each other without a header; as print_line otherwise. */
static const char *print_lines(const struct trace_output_options *options,
			       const struct trace_line *const *lines, size_t count)
{
	static char text[16384];
	struct trace_output *output;
	FILE *file = tmpfile();
	ssize_t length;

	assert_non_null(file);
	assert_int_equal(trace_output__new(fileno(file), options, &output, NULL), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(trace_output__line(output, lines[i]), 0);
	assert_int_equal(trace_output__flush(output), 0);
	trace_output__free(output);
	length = pread(fileno(file), text, sizeof(text) - 1, 0);
	assert_true(length > 0);
	text[length] = '\0';
	fclose(file);
	return text;
}

/* A narrow terminal shows pids once there are two processes. */
static void one_process_needs_no_pid(void **state)
{
	struct trace_output_options options = options_of(TRACE_TABLE, NULL);
	struct trace_process child = {.number = 77, .pid = 99, .comm = "child"};
	struct trace_line lines[LINES], other;
	const struct trace_line *const order[] = {&lines[1], &other, &lines[1]};

	(void)state;
	build_lines(lines);
	other = lines[1];
	other.process = &child;
	options.width = 80;
	options.one_process = true;
	assert_string_equal(
		print_lines(&options, order, 3),
		"1235.101   cudaMemcpy             size=1048576 kind=H2D …                 368 us\n"
		"TIME(ms)   PID     EVENT                  DETAILS                       DURATION\n"
		"1235.101   99      cudaMemcpy             size=1048576 kind=H2D …         368 us\n"
		"1235.101   12345   cudaMemcpy             size=1048576 kind=H2D …         "
		"368 us\n");
}

/* Whole arguments stay, the most useful ones first; what is cut has a mark. */
static void the_useful_details_stay(void **state)
{
	static const struct {
		unsigned int width;
		size_t line;
		const char *text;
	} cases[] = {
		{53, 1, "dst=0x7f8b00000000 src=0x55d0c0 size=1048576 kind=H2D\n"},
		{52, 1, "dst=0x7f8b00000000 size=1048576 kind=H2D …\n"},
		{41, 1, "size=1048576 kind=H2D …\n"},
		{22, 1, "size=1048576 …\n"},
		{13, 1, "size=…48576 …\n"},
		{2, 1, "d…\n"},
		{52, 2, "vadd grid=(4096,1,1) block=(256,1,1) shmem=0 …\n"},
		{30, 2, "vadd grid=(4096,1,1) …\n"},
		{20, 2, "vadd …\n"},
		{15, 3, "size=11…6842624\n"}, /* the only one */
	};
	struct trace_output_options options = options_of(TRACE_TABLE, "details");
	struct trace_line lines[LINES];

	(void)state;
	build_lines(lines);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		options.width = cases[i].width;
		assert_string_equal(print_line(&options, &lines[cases[i].line]), cases[i].text);
	}
}

/* The line in a format with these columns. */
static void expect_line(enum trace_format format, const char *columns,
			const struct trace_line *line, const char *expected)
{
	struct trace_output_options options = options_of(format, columns);

	assert_string_equal(print_line(&options, line), expected);
}

static void a_column_takes_its_argument_out_of_the_details(void **state)
{
	struct trace_line lines[LINES];
	struct trace_line pair = {
		CALL(cuda_memcpy, application, 0, 1),
		.device = -1,
		.field_count = 3,
		.fields = {UNSIGNED("size", TRACE_SIZE, 1), UNSIGNED("size", TRACE_SIZE, 2),
			   TEXT("name", "x")},
	};

	(void)state;
	build_lines(lines);
	expect_line(TRACE_TABLE, "details,grid,kernel", &lines[2],
		    "block=(256,1,1) shmem=0 stream=0                                     "
		    "(4096,1,1)     vadd\n");
	expect_line(TRACE_TABLE, "event,details,size,dst", &lines[1],
		    "cudaMemcpy             src=0x55d0c0 kind=H2D                                  "
		    "              "
		    "1048576      0x7f8b00000000\n");
	expect_line(TRACE_TSV, "details,size,ptr", &lines[0], "-\t1048576\t0x7f8b00000000\n");
	expect_line(TRACE_TSV, "details,args,shmem,stream,block", &lines[4],
		    "vadd grid=(4294967295,65535,65535) "
		    "at=\"a.out+0x1234\"\t[0x7f8b00000000,0x0,"
		    "0xffffffffffffffff]\t49152\t0x5581a0\t(1,2,3)\n");
	/* A rate does not imply the size. */
	expect_line(TRACE_TSV, "details,bw", &lines[0], "size=1048576 ptr=0x7f8b00000000\t-\n");
	/* If both are requested, only the one that is shown. */
	expect_line(TRACE_TSV, "size,details", &pair, "1\tsize=2 name=\"x\"\n");
	/* In JSON both stay. */
	expect_line(TRACE_JSON, "details,size,kernel,shmem", &lines[2],
		    "{\"schema\":1,\"details\":{\"kernel\":\"vadd\",\"grid\":[4096,1,1],\"block\":["
		    "256,1,1],\"shmem\":0,"
		    "\"stream\":\"0x0\"},\"size\":null,\"kernel\":\"vadd\",\"shmem\":0}\n");
}

/* A column that has grown stays so wide. */
static void a_column_grows_with_its_values(void **state)
{
	struct trace_output_options options =
		options_of(TRACE_TABLE, "args,kernel,grid,block,duration");
	struct trace_line lines[LINES];

	(void)state;
	build_lines(lines);
	assert_string_equal(
		print_lines(&options,
			    (const struct trace_line *const[]){&lines[2], &lines[4], &lines[2]}, 3),
		"-                        vadd                     (4096,1,1)     (256,1,1)      "
		"  5.2 us\n"
		"[0x7f8b00000000,0x0,0xffffffffffffffff] vadd<int, 4>             "
		"(4294967295,65535,65535) (1,2,3)          890 ns\n"
		"-                                       vadd                     "
		"(4096,1,1)               (256,1,1)        5.2 us\n");
}

/* In a file everything is whole, and only the longest lines are out of place. */
static void what_is_too_long_pushes_its_own_line(void **state)
{
	struct trace_output_options options = options_of(TRACE_TABLE, "kernel,result");
	struct trace_line lines[LINES], longest;
	const struct trace_line *const order[] = {&lines[2], &longest, &lines[2]};
	char kernel[101], expected[512];

	(void)state;
	build_lines(lines);
	longest = lines[2];
	memset(kernel, 'k', sizeof(kernel) - 1);
	kernel[100] = '\0';
	longest.kernel = kernel;
	snprintf(expected, sizeof(expected),
		 "vadd                     cudaSuccess\n%s cudaSuccess\n%-60s cudaSuccess\n",
		 kernel, "vadd");
	assert_string_equal(print_lines(&options, order, 3), expected);
	options.width = 80;
	snprintf(expected, sizeof(expected),
		 "vadd                     cudaSuccess\n%.30s…%.29s cudaSuccess\n%-60s "
		 "cudaSuccess\n",
		 kernel, kernel, "vadd");
	assert_string_equal(print_lines(&options, order, 3), expected);
}

static const struct stack_frame framework_frames[] = {
	{.function = "cudaLaunchKernel", .object = "libcudart.so.12"},
	{.function = "at::_ops::conv2d::call(at::Tensor const&)",
	 .object = "libtorch_cpu.so",
	 .offset = 1},
	{.kind = FRAME_PYTHON,
	 .function = "Conv2d.forward",
	 .file = "/usr/lib/python3/site-packages/torch/nn/modules/conv.py",
	 .line = 460},
	{.kind = FRAME_PYTHON, .function = "work\n", .file = "/home/ann/train.py", .line = 7},
};
static const struct stack framework_stack = {
	.frames = framework_frames,
	.count = sizeof(framework_frames) / sizeof(*framework_frames),
	.serial = 4000,
};

/* Below the call and only there: a line for each frame, or for those of a framework together. */
static void stacks_are_below_their_calls(void **state)
{
	struct trace_output_options options = options_of(TRACE_TABLE, "event,result");
	struct trace_line lines[LINES], returned;
	const struct trace_line *const order[] = {&lines[4], &returned, &lines[0], &lines[14]};

	(void)state;
	build_lines(lines);
	returned = lines[4];
	returned.kind = LINE_RESUMED;
	options.stack_below = true;
	assert_string_equal(print_lines(&options, order, 4),
			    "  cuLaunchKernel       CUDA_SUCCESS\n"
			    "        a.out+0x1136\n"
			    "        lib;\\n\"x\".so+0x34\n"
			    "        0xffffffffffffffff\n"
			    "        forward (model.py:123)\n"
			    "  ... cuLaunchKernel resumed CUDA_SUCCESS\n"
			    "cudaMalloc                   cudaSuccess\n"
			    "        [stack not known]\n"
			    "--- lost 1203 events (ring full) ---\n");
	options.width = 25;
	assert_non_null(strstr(print_lines(&options, order, 1), "\n        forward ….py:123)\n"));
	options.width = 0;
	lines[4].stack = &framework_stack;
	assert_non_null(strstr(print_lines(&options, order, 1),
			       "\n        … aten::conv2d, 2 frames\n"
			       "        work\\n (train.py:7)\n"));
	options.all_frames = true;
	assert_non_null(strstr(print_lines(&options, order, 1),
			       "\n        at::_ops::conv2d::call(at::Tensor const&)+0x1 "
			       "[libtorch_cpu.so]\n"));
}

static void columns_are_chosen_by_their_words(void **state)
{
	struct trace_output_options options = {0};
	struct error err;

	(void)state;
	assert_int_equal(trace_output__parse_columns(&options, "result,time", &err), 0);
	assert_int_equal(options.column_count, 2);
	assert_int_equal(options.columns[0], COLUMN_RESULT);
	assert_int_equal(options.columns[1], COLUMN_TIME);
	assert_int_equal(trace_output__parse_columns(&options, "all", &err), 0);
	assert_int_equal(options.column_count, COLUMN_COUNT);
	assert_int_equal(trace_output__parse_columns(&options, "time,tme", &err), -EINVAL);
	assert_non_null(strstr(err.text, "'tme'"));
	assert_int_equal(trace_output__parse_columns(&options, "time,pid,time", &err), -EINVAL);
	assert_non_null(strstr(err.text, "'time' is there twice"));
	assert_int_equal(trace_output__parse_columns(&options, "", &err), -EINVAL);
	assert_int_equal(trace_output__parse_columns(&options, "time,", &err), -EINVAL);
	/* A word that is the prefix of another one. */
	assert_int_equal(trace_output__parse_columns(&options, "p", &err), -EINVAL);
	assert_int_equal(trace_output__parse_columns(&options, "pids", &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_as_its_description_shows_it),
		cmocka_unit_test(tables),
		cmocka_unit_test(tsv),
		cmocka_unit_test(json),
		cmocka_unit_test(json_schema),
		cmocka_unit_test(forms_of_time),
		cmocka_unit_test(times_of_two_seconds),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(exact_amounts_are_whole),
		cmocka_unit_test(an_error_is_never_cut),
		cmocka_unit_test(a_narrow_terminal_has_fewer_columns),
		cmocka_unit_test(another_width),
		cmocka_unit_test(one_process_needs_no_pid),
		cmocka_unit_test(the_useful_details_stay),
		cmocka_unit_test(a_column_takes_its_argument_out_of_the_details),
		cmocka_unit_test(a_column_grows_with_its_values),
		cmocka_unit_test(what_is_too_long_pushes_its_own_line),
		cmocka_unit_test(stacks_are_below_their_calls),
		cmocka_unit_test(columns_are_chosen_by_their_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
