// SPDX-License-Identifier: BSD-2-Clause
// The command line of `gpuprobe trace`: every option, every mistake.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options/trace_options.h"
#include "command_line.h"
#include "api/api.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct line {
	struct command_line words;
	struct trace_options options;
	struct error err;
	int ret;
};

static void parse(struct line *line, const char *text)
{
	split(&line->words, "trace", text);
	line->err.text[0] = '\0';
	line->ret = trace_options__parse(&line->options, line->words.argc, line->words.argv,
					 &line->err);
}

static void accept(struct line *line, const char *text)
{
	parse(line, text);
	expect_accepted(text, line->ret, &line->err);
}

static bool wants(const struct line *line, const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	assert_true(row >= 0);
	return trace_selection__wants(line->options.selection, &api_functions[row]);
}

static void test_defaults(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "");
	assert_int_equal(line.options.ring_bytes, 16 << 20);
	assert_int_equal(line.options.log_level, LOG_WARN);
	assert_int_equal(line.options.output.format, TRACE_TABLE);
	assert_int_equal(line.options.output.timestamps, TIMESTAMPS_RELATIVE);
	assert_int_equal(line.options.output.column_count, 0);
	assert_true(line.options.lines);
	assert_false(line.options.summary || line.options.strict || line.options.full_names);
	assert_null(line.options.targets.command);
	assert_null(line.options.targets.filter.cgroup);
	assert_null(line.options.file);
	assert_int_equal(line.options.count, 0);
	assert_true(line.options.duration == 0);
	assert_memory_equal(&line.options.config, &(struct trace_config){0},
			    sizeof(struct trace_config));
	assert_true(wants(&line, "cudaMalloc") && wants(&line, "cuLaunchKernel"));
	assert_false(wants(&line, "cudaGetDevice"));
	trace_options__clear(&line.options);
}

static void test_events(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "-e sync,cudaMalloc -e !cudaStreamSynchronize");
	assert_true(wants(&line, "cudaMalloc") && wants(&line, "cudaDeviceSynchronize"));
	assert_false(wants(&line, "cudaStreamSynchronize") || wants(&line, "cudaFree"));
	trace_options__clear(&line.options);
	/* The layers apply wherever they appear. */
	accept(&line, "-e launch --api driver");
	assert_true(wants(&line, "cuLaunchKernel"));
	assert_false(wants(&line, "cudaLaunchKernel"));
	trace_options__clear(&line.options);
	accept(&line, "--api runtime -e launch");
	assert_true(wants(&line, "cudaLaunchKernel"));
	assert_false(wants(&line, "cuLaunchKernel"));
	trace_options__clear(&line.options);
	accept(&line, "--api both -e launch");
	assert_true(wants(&line, "cudaLaunchKernel") && wants(&line, "cuLaunchKernel"));
	trace_options__clear(&line.options);
}

static void test_filters(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "--failed --nested --min-duration 1.5ms --comm python3 --uid 4294967294 "
		      "--cgroup a/b --count 7 "
		      "--duration 0.5");
	assert_int_equal(line.options.config.failed, 1);
	assert_int_equal(line.options.config.nested, 1);
	assert_int_equal(line.options.config.min_duration_ns, 1500000);
	assert_int_equal(line.options.config.by_comm, 1);
	assert_string_equal(line.options.config.comm, "python3");
	assert_int_equal(line.options.config.by_uid, 1);
	assert_int_equal(line.options.config.uid, 4294967294u);
	assert_string_equal(line.options.targets.filter.cgroup, "a/b");
	assert_int_equal(line.options.count, 7);
	assert_true(line.options.duration == 0.5);
	trace_options__clear(&line.options);
	accept(&line, "--uid root --comm exactly-as-long-as-that");
	assert_int_equal(line.options.config.uid, 0);
	assert_int_equal(line.options.config.by_uid, 1);
	assert_string_equal(line.options.config.comm, "exactly-as-long");
	trace_options__clear(&line.options);
	accept(&line, "--container 0123abc --pod team/train-0");
	assert_string_equal(line.options.targets.filter.container, "0123abc");
	assert_string_equal(line.options.targets.filter.pod, "team/train-0");
	assert_int_equal(line.options.config.by_comm, 0);
	trace_options__clear(&line.options);
}

/* Names that all commands share. */
static void test_common_names(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "--json --output calls.json --columns time,event");
	assert_int_equal(line.options.output.format, TRACE_JSON);
	assert_string_equal(line.options.file, "calls.json");
	assert_int_equal(line.options.output.column_count, 2);
	trace_options__clear(&line.options);
	accept(&line, "--json --format json");
	trace_options__clear(&line.options);
}

static void test_times(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} times[] = {
		{"1ns", 1},	{"250us", 250000},  {"1ms", 1000000},
		{"0.5us", 500}, {"2s", 2000000000}, {"1e3ms", 1000000000},
	};
	char words[64];
	struct line line;

	(void)state;
	for (size_t i = 0; i < COUNT(times); i++) {
		snprintf(words, sizeof(words), "--min-duration %s", times[i].text);
		accept(&line, words);
		assert_int_equal(line.options.config.min_duration_ns, times[i].ns);
		trace_options__clear(&line.options);
	}
}

static void test_form(void **state)
{
	static const char *const formats[] = {"table", "tsv", "json"};
	static const char *const stamps[] = {"relative", "wall", "iso", "ns", "delta"};
	char words[64];
	struct line line;

	(void)state;
	for (size_t i = 0; i < COUNT(formats); i++) {
		snprintf(words, sizeof(words), "--format %s", formats[i]);
		accept(&line, words);
		assert_int_equal(line.options.output.format, (enum trace_format)i);
		trace_options__clear(&line.options);
	}
	/* A timeline has no columns, so -o is its file. */
	accept(&line, "-o time.pftrace --format perfetto");
	assert_true(line.options.draws && line.options.timeline == TIMELINE_PERFETTO);
	assert_string_equal(line.options.file, "time.pftrace");
	assert_int_equal(line.options.output.column_count, 0);
	trace_options__clear(&line.options);
	for (size_t i = 0; i < COUNT(stamps); i++) {
		snprintf(words, sizeof(words), "--timestamps=%s", stamps[i]);
		accept(&line, words);
		assert_int_equal(line.options.output.timestamps, (enum trace_timestamps)i);
		trace_options__clear(&line.options);
	}
	accept(&line, "-o time,stack,event --args 16 --full-names -O out.txt");
	assert_int_equal(line.options.output.column_count, 3);
	assert_true(trace_options__shows(&line.options, COLUMN_STACK));
	assert_false(trace_options__shows(&line.options, COLUMN_PID));
	assert_int_equal(line.options.stacks.mode, STACK_FP);
	assert_false(line.options.output.adds_stack);
	assert_int_equal(line.options.config.kernel_args, 16);
	assert_true(line.options.full_names);
	assert_string_equal(line.options.file, "out.txt");
	trace_options__clear(&line.options);
	accept(&line, "--entry-return -o time,event");
	assert_int_equal(line.options.config.entry_return, 1);
	assert_true(line.options.output.entry_return);
	assert_int_equal(line.options.stacks.mode, STACK_OFF);
	assert_false(line.options.output.adds_stack);
	trace_options__clear(&line.options);
}

static void test_stacks(void **state)
{
	static const struct {
		const char *words;
		enum stack_mode mode;
		size_t columns; /* chosen */
		bool adds, below;
	} cases[] = {
		{"--stack", STACK_FP, 0, false, true},
		{"--stack --nested", STACK_FP, 0, false, true},
		{"--stack=dwarf --format tsv", STACK_DWARF, 0, true, false},
		{"--stack dwarf --nested --format json", STACK_DWARF, 0, true, false},
		{"--stack auto", STACK_AUTO, 0, false, true},
		{"--stack off", STACK_OFF, 0, false, false},
		{"--stack auto -o time,event", STACK_AUTO, 2, false, true},
		{"--stack auto -o time,event --format tsv", STACK_AUTO, 3, false, false},
		{"-o stack,event --stack auto", STACK_AUTO, 2, false, false},
		{"--stack off -o time,event", STACK_OFF, 2, false, false},
	};
	struct line line;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		accept(&line, cases[i].words);
		assert_int_equal(line.options.stacks.mode, cases[i].mode);
		assert_int_equal(line.options.output.column_count, cases[i].columns);
		assert_int_equal(line.options.output.adds_stack, cases[i].adds);
		assert_int_equal(line.options.output.stack_below, cases[i].below);
		if (cases[i].columns)
			assert_int_equal(trace_options__shows(&line.options, COLUMN_STACK),
					 cases[i].mode != STACK_OFF && !cases[i].below);
		trace_options__clear(&line.options);
	}
	accept(&line, "--stack=dwarf --stack-size 32 --stack-storage-size 4 -- dwarf");
	assert_int_equal(line.options.stacks.size, 32768);
	assert_int_equal(line.options.stacks.max, 4);
	assert_string_equal(line.options.targets.command[0], "dwarf");
	trace_options__clear(&line.options);
}

static void test_summary(void **state)
{
	static const struct {
		const char *words;
		bool lines, summary;
	} cases[] = {{"-c", false, true}, {"--summary", false, true}, {"-C", true, true}};
	struct line line;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		accept(&line, cases[i].words);
		assert_int_equal(line.options.lines, cases[i].lines);
		assert_int_equal(line.options.summary, cases[i].summary);
		trace_options__clear(&line.options);
	}
}

static void test_buffer(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} sizes[] = {
		{"64K", 64 << 10}, {"65536", 64 << 10}, {"65537", 128 << 10}, {"1M", 1 << 20},
		{"3M", 4 << 20},   {"1m", 1 << 20},	{"64k", 64 << 10},    {"1g", 1u << 30},
		{"16M", 16 << 20}, {"1G", 1u << 30},	{"2G", 2u << 30},     {"1025M", 2u << 30},
	};
	char words[64];
	struct line line;

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		snprintf(words, sizeof(words), "--buffer %s --strict", sizes[i].text);
		accept(&line, words);
		assert_int_equal(line.options.ring_bytes, sizes[i].bytes);
		assert_true(line.options.strict);
		trace_options__clear(&line.options);
	}
}

static void test_targets(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "-p 12 --pid 34 --libcuda-path a --libcudart-path b");
	assert_int_equal(line.options.targets.pid_count, 2);
	assert_int_equal(line.options.targets.pids[1], 34);
	assert_int_equal(line.options.targets.library_count, 2);
	assert_string_equal(line.options.targets.libraries[1], "b");
	trace_options__clear(&line.options);
	/* A prefix of two option names that do the same. */
	accept(&line, "--libcuda a --lib b");
	assert_int_equal(line.options.targets.library_count, 2);
	trace_options__clear(&line.options);
	accept(&line, "-c -- train.py -c --bogus");
	assert_string_equal(line.options.targets.command[0], "train.py");
	assert_string_equal(line.options.targets.command[2], "--bogus");
	assert_null(line.options.targets.command[3]);
	trace_options__clear(&line.options);
}

static void test_log_level(void **state)
{
	static const struct {
		const char *words;
		enum log_level level;
	} cases[] = {
		{"-v", LOG_INFO},  {"--verbose -v", LOG_DEBUG}, {"-vv", LOG_DEBUG},
		{"-q", LOG_QUIET}, {"--quiet", LOG_QUIET},
	};
	struct line line;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		accept(&line, cases[i].words);
		assert_int_equal(line.options.log_level, cases[i].level);
		trace_options__clear(&line.options);
	}
}

static void test_what_only_prints(void **state)
{
	static const struct {
		const char *words;
		int result;
	} cases[] = {
		{"-h", OPTIONS_HELP},
		{"-c --help", OPTIONS_HELP},
		{"--json-schema", TRACE_OPTIONS_SCHEMA},
		{"--list-functions -e sync", TRACE_OPTIONS_LIST},
	};
	struct line line;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		parse(&line, cases[i].words);
		assert_int_equal(line.ret, cases[i].result);
		trace_options__clear(&line.options);
	}
}

static void test_help_has_every_option(void **state)
{
	static const char *const words[] = {"-e, --events",
					    "--list-functions",
					    "--failed",
					    "--min-duration",
					    "--api",
					    "--nested",
					    "--count",
					    "--duration",
					    "--comm",
					    "--uid",
					    "--cgroup",
					    "--container",
					    "--pod",
					    "-o, --columns",
					    "--timestamps",
					    "--entry-return",
					    "--args",
					    "--format",
					    "--json-schema",
					    "-O, --output",
					    "--strict",
					    "--buffer",
					    "-c, --summary",
					    "-C ",
					    "-p, --pid",
					    "--libcuda-path",
					    "--libcudart-path",
					    "-v, --verbose",
					    "-q, --quiet",
					    "-h, --help",
					    "--full-names",
					    "--no-return-probes",
					    "--stack [fp|dwarf|auto|off]",
					    "--stack-size",
					    "--stack-storage-size"};
	char *text = NULL;
	size_t size, column = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	option_table__print_help(&trace_option_table, out);
	assert_int_equal(fclose(out), 0);
	for (size_t i = 0; i < COUNT(words); i++)
		assert_non_null(strstr(text, words[i]));
	for (const char *at = text; *at; at++) {
		column = *at == '\n' ? 0 : column + 1;
		assert_true(column <= 80);
	}
	free(text);
}

static const struct {
	const char *words;
	const char *part; /* expected in the message */
} mistakes[] = {
	{"-e nosuchfamily", "nosuchfamily"},
	{"--stack=lbr", "--stack 'lbr': choose"},
	{"--stack lbr", "--stack 'lbr': choose"},
	{"--stack -o stack --stack=off", "--stack off and -o stack"},
	{"-c --stack", "-c and --stack do not go together"},
	{"--stack-size 12", "--stack-size '12': choose"},
	{"--stack-storage-size 0", "--stack-storage-size"},
	{"-e", "-e needs a value: see gpuprobe trace --help"},
	{"-e ~", ""},
	{"-e sync -e !sync", "-e: the selection leaves no function"},
	{"-e !all", "the selection leaves no function"},
	{"--api runtime -e cu*,!cuda*,!__cuda*", "the selection leaves no function"},
	{"--api runtime -e cuMemAlloc_v2", "the selection leaves no function"},
	{"--api auto", "choose runtime, driver or both"},
	{"--api ~", "choose runtime, driver or both"},
	{"--format xml", "--format 'xml': choose table, tsv, json, perfetto or chrome"},
	{"--timestamps utc", "choose relative, wall, iso, ns or delta"},
	{"-o time,bogus", "-o: there is no column 'bogus'; there are time, end, process, "},
	{"-o durration", "stack, duration, result"},
	{"-o time,time", "time"},
	{"-o ~", ""},
	{"-O ~", "name of a file"},
	{"--min-duration 1", "from 1ns to 1000000000s with its unit"},
	{"--min-duration ms", "with its unit"},
	{"--min-duration -1ms", "with its unit"},
	{"--min-duration 0ms", "with its unit"},
	{"--min-duration 1min", "with its unit"},
	{"--min-duration nanms", "with its unit"},
	{"--min-duration infs", "with its unit"},
	{"--min-duration 1e300s", "with its unit"},
	{"--comm ~", "name of a process"},
	{"--json --format tsv", "--format json and --format tsv do not go together"},
	{"--columns time,durtion", "did you mean duration?"},
	{"--format jsno", "did you mean json?"},
	{"--container ab", "--container 'ab': give at least 4 digits"},
	{"--pod ~", "--pod '': give a pod's NAME"},
	{"--uid ~", "no user"},
	{"--uid nobody-of-this-name", "no user has this name"},
	{"--uid -1", "no user"},
	{"--uid 4294967295", "whole number from 0 to 4294967294"},
	{"--uid 99999999999999999999", "whole number"},
	{"--count 0", "whole number from 1"},
	{"--count -1", "whole number"},
	{"--count 1e3", "whole number"},
	{"--duration x", "give seconds"},
	{"--duration -1", "give seconds"},
	{"--duration 0", "--duration '0': give more than 0 seconds"},
	{"--args 17", "whole number from 0 to 16"},
	{"--args x", "whole number"},
	{"--buffer 63K", "from 64K to 2G"},
	{"--buffer 2049M", "from 64K to 2G"},
	{"--buffer 4G", "from 64K to 2G"},
	{"--buffer 17179869184G", "from 64K to 2G"},
	{"--buffer 99999999999999999999", "from 64K to 2G"},
	{"--buffer 16MB", "give a size"},
	{"--buffer M", "give a size from 64K to 2G, in bytes or with K, M or G, such as 1M"},
	{"--buffer -1M", "give a size"},
	{"--buffer ~", "give a size"},
	{"-p 0", "whole number from 1"},
	{"-p x", "-p, --pid 'x': give a whole number"},
	{"--events memroy", "did you mean memory?"},
	{"--pid 1 -- true", "choose one"},
	{"-c -C", "-c and -C do not go together"},
	{"--summary -C", "-c and -C do not go together"},
	{"--failed --entry-return", "--entry-return and --failed do not go together"},
	{"--entry-return --min-duration 1ms",
	 "--entry-return and --min-duration do not go together"},
	{"-c --entry-return", "-c and --entry-return do not go together"},
	{"-c -o time", "-c and -o do not go together"},
	{"--timestamps relative -c", "-c and --timestamps do not go together"},
	{"--args 2 -c", "-c and --args do not go together"},
	{"--format chrome -c", "--format chrome and -c do not go together"},
	{"--format perfetto -O a -o b", "a timeline goes to one file"},
	{"--bogus", "unknown option '--bogus': see gpuprobe trace --help"},
	{"-x", "unknown option '-x': see gpuprobe trace --help"},
	{"--strict=yes", "--strict takes no value"},
	{"train.py", "unexpected 'train.py': put -- before a COMMAND"},
	{"--", "no COMMAND after --"},
	{"--buffer", "--buffer needs a value"},
};

static void test_mistakes(void **state)
{
	struct line line;

	(void)state;
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		parse(&line, mistakes[i].words);
		if (line.ret >= 0 || !line.err.text[0] ||
		    !strstr(line.err.text, mistakes[i].part) || strchr(line.err.text, '\n'))
			fail_msg("'%s': %d, '%s'", mistakes[i].words, line.ret, line.err.text);
		trace_options__clear(&line.options);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_common_names),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_buffer),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_log_level),
		cmocka_unit_test(test_what_only_prints),
		cmocka_unit_test(test_help_has_every_option),
		cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
