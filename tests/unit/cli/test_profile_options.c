// SPDX-License-Identifier: BSD-2-Clause
// The command lines of `gpuprobe stat` and `gpuprobe diagnose`.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/options/profile_options.h"
#include "command_line.h"

struct line {
	struct command_line words;
	struct profile_command options;
	struct error err;
	int ret;
};

static void parse(struct line *line, const char *text)
{
	split(&line->words, "", text);
	line->err.text[0] = '\0';
	line->ret = profile_options__parse(&line->options, !strcmp(line->words.argv[0], "diagnose"),
					   line->words.argc, line->words.argv, &line->err);
}

static void accept(struct line *line, const char *text)
{
	parse(line, text);
	expect_accepted(text, line->ret, &line->err);
}

static void refuse(const char *text, const char *reason)
{
	struct line line;

	parse(&line, text);
	expect_refused(text, line.ret, &line.err, reason);
	profile_options__clear(&line.options);
}

static void test_defaults(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "stat");
	assert_false(line.options.diagnose);
	assert_true(line.options.interval == 0);
	assert_true(line.options.duration == 0);
	assert_int_equal(line.options.form, PROFILE_TEXT);
	assert_int_equal(line.options.api, API_AUTO);
	assert_int_equal(line.options.stacks.mode, STACK_OFF);
	assert_int_equal(line.options.output.top, 10);
	assert_int_equal(line.options.window_ns, 60 * NS_PER_S);
	assert_int_equal(line.options.fail_on, NO_FAIL);
	assert_false(line.options.getters);
	assert_null(line.options.explain);
	profile_options__clear(&line.options);

	accept(&line, "diagnose");
	assert_true(line.options.diagnose);
	assert_int_equal(line.options.stacks.mode, STACK_FP);
	assert_int_equal(line.options.stacks.min_wait_ns, 0);
	profile_options__clear(&line.options);
}

static void test_values(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "stat -p 12 -p 13 --interval 0.5 --duration 9 --csv --top 3 --full-names "
		      "--getters --window 2m "
		      "-q");
	assert_int_equal(line.options.targets.pid_count, 2);
	assert_true(line.options.interval == 0.5);
	assert_true(line.options.duration == 9);
	assert_int_equal(line.options.form, PROFILE_CSV);
	assert_int_equal(line.options.output.top, 3);
	assert_true(line.options.output.full_names);
	assert_true(line.options.getters);
	assert_int_equal(line.options.window_ns, 120 * NS_PER_S);
	assert_int_equal(line.options.log_level, LOG_QUIET);
	profile_options__clear(&line.options);

	accept(&line, "stat --csv out --json -- ls");
	assert_string_equal(line.options.csv_directory, "out");
	assert_int_equal(line.options.form, PROFILE_JSON);
	assert_string_equal(line.options.targets.command[0], "ls");
	profile_options__clear(&line.options);
	accept(&line, "stat --gpu-times -- ls");
	assert_true(line.options.gpu_times);
	assert_false(line.options.gpu_graph_nodes);
	assert_true(line.options.gpu_share == 0);
	profile_options__clear(&line.options);
	accept(&line, "stat --gpu-times=5% -- ls");
	assert_true(line.options.gpu_times && line.options.gpu_share == 0.05);
	profile_options__clear(&line.options);
	accept(&line, "stat --gpu-times=100 -- ls");
	assert_true(line.options.gpu_times && line.options.gpu_share == 0);
	profile_options__clear(&line.options);
	accept(&line, "stat --gpu-times --gpu-graph-nodes -- ls");
	assert_true(line.options.gpu_graph_nodes);
	profile_options__clear(&line.options);
	accept(&line, "stat -p 1 -p 2 --kineto");
	assert_true(line.options.kineto_ns == 2 * NS_PER_S);
	profile_options__clear(&line.options);
	accept(&line, "stat -p 1 --kineto=500ms");
	assert_true(line.options.kineto_ns == 500 * NS_PER_MS);
	profile_options__clear(&line.options);
	accept(&line, "stat --nvtx -- ls");
	assert_true(line.options.nvtx);
	profile_options__clear(&line.options);
	accept(&line, "stat --by-range -- ls");
	assert_true(line.options.nvtx);
	profile_options__clear(&line.options);
	accept(&line, "stat --steps-by step -- ls");
	assert_true(line.options.nvtx);
	assert_string_equal(line.options.steps_by, "step");
	profile_options__clear(&line.options);
	accept(&line, "diagnose --gpu-times -- ls");
	assert_true(line.options.gpu_times);
	assert_true(line.options.max_overhead == 0);
	profile_options__clear(&line.options);
	accept(&line, "stat --csv=out -p 1");
	assert_string_equal(line.options.csv_directory, "out");
	assert_int_equal(line.options.form, PROFILE_TEXT);
	profile_options__clear(&line.options);
	accept(&line, "stat --csv -- ls");
	assert_null(line.options.csv_directory);
	assert_int_equal(line.options.form, PROFILE_CSV);
	profile_options__clear(&line.options);

	accept(&line, "diagnose --stack off --threshold oom=2 --threshold alloc-churn.pairs=3 "
		      "--fail-on critical "
		      "--max-kernels 7 --api both --json --output file -- ls -l");
	assert_string_equal(line.options.file, "file");
	assert_int_equal(line.options.stacks.mode, STACK_OFF);
	assert_int_equal(line.options.thresholds.count, 2);
	assert_string_equal(line.options.thresholds.texts[1], "alloc-churn.pairs=3");
	assert_int_equal(line.options.fail_on, SEVERITY_CRITICAL);
	assert_int_equal(line.options.limits.max_kernels, 7);
	assert_int_equal(line.options.api, API_BOTH);
	assert_int_equal(line.options.form, PROFILE_JSON);
	assert_string_equal(line.options.targets.command[1], "-l");
	profile_options__clear(&line.options);
}

static void test_max_overhead(void **state)
{
	static const char *const none[] = {"0",	  "0.09", "100.1", "-5", "nan",
					   "inf", "5%%",  "%",	   "5x", "1e9"};
	struct line line;
	char words[100];

	(void)state;
	accept(&line, "stat");
	assert_true(line.options.max_overhead == 0);
	profile_options__clear(&line.options);
	accept(&line, "stat --max-overhead 5");
	assert_true(line.options.max_overhead == 0.05);
	profile_options__clear(&line.options);
	accept(&line, "stat --max-overhead=0.5%");
	assert_true(line.options.max_overhead == 0.005);
	profile_options__clear(&line.options);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		snprintf(words, sizeof(words), "stat --max-overhead=%s", none[i]);
		refuse(words, "give percent from 0.1 to 100");
	}
	accept(&line, "stat --max-overhead off");
	assert_true(line.options.max_overhead == 0);
	profile_options__clear(&line.options);
	accept(&line, "diagnose");
	assert_true(line.options.max_overhead == 0.02 && line.options.overhead_by_default);
	profile_options__clear(&line.options);
	accept(&line, "diagnose --max-overhead off");
	assert_true(line.options.max_overhead == 0);
	profile_options__clear(&line.options);
	accept(&line, "diagnose --max-overhead 5");
	assert_true(line.options.max_overhead == 0.05 && !line.options.overhead_by_default);
	profile_options__clear(&line.options);
}

/* The growth window fits within the duration, but is never shorter than a program takes to load. */
static void test_window(void **state)
{
	static const struct {
		const char *words;
		uint64_t window_ns;
	} cases[] = {
		{"diagnose --duration 30", 20 * NS_PER_S},
		{"stat --duration 60", 40 * NS_PER_S},
		{"stat --duration 90", 60 * NS_PER_S},
		{"stat --duration 3600", 60 * NS_PER_S},
		{"diagnose --duration 12", 10 * NS_PER_S},
		{"diagnose --duration 1", 10 * NS_PER_S},
		{"diagnose --duration 0", 60 * NS_PER_S},
		{"diagnose --window 3s --duration 30", 3 * NS_PER_S},
		{"diagnose --duration 30 --window 5m", 300 * NS_PER_S},
	};
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		accept(&line, cases[i].words);
		assert_int_equal(line.options.window_ns, cases[i].window_ns);
		profile_options__clear(&line.options);
	}
}

static void test_reported(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "diagnose --explain oom-near");
	assert_string_equal(line.options.explain, "oom-near");
	profile_options__clear(&line.options);
	accept(&line, "diagnose --explain all");
	profile_options__clear(&line.options);
	accept(&line, "diagnose --list");
	assert_true(line.options.list);
	profile_options__clear(&line.options);
	refuse("diagnose --explain oom-nea",
	       "no finding is called 'oom-nea' (did you mean oom-near?)");
	refuse("diagnose --explain oom -- ls", "--explain watches nothing");
	refuse("diagnose --list -p 1", "--list watches nothing");
	refuse("diagnose --list --explain oom", "choose one");
	refuse("diagnose --list -O file",
	       "--output has no effect with --explain and --list, which print no report");
	refuse("diagnose --list --fail-on info",
	       "--list looks for no findings: leave out --fail-on");
	refuse("diagnose --explain oom --explain errors", "do not go together: choose one");
	refuse("diagnose --explain oom --json",
	       "--json has no effect with --explain and --list, which print no report");
}

static void test_refused(void **state)
{
	(void)state;
	refuse("stat --json --csv", "--json and --csv do not go together");
	refuse("stat --csv=", "--csv '': give the name of a directory");
	refuse("stat --csv one --csv two", "--csv one and --csv two do not go together");
	refuse("stat --no-return-probes", "'--no-return-probes': gpuprobe stat reports how long "
					  "calls take, which takes return probes: "
					  "only gpuprobe and gpuprobe trace have that option");
	refuse("diagnose --no-ret",
	       "'--no-ret': gpuprobe diagnose judges by results and durations of calls, which ");
	refuse("stat --no", "unknown option '--no': see gpuprobe stat --help");
	refuse("diagnose --csv", "unknown option '--csv': see gpuprobe diagnose --help");
	refuse("stat --explain oom", "unknown option '--explain': see gpuprobe stat --help");
	refuse("stat --interval -1", "--interval '-1'");
	refuse("stat --window 1ms", "--window '1ms'");
	refuse("diagnose --fail-on bad", "--fail-on 'bad': choose info, warning or critical");
	refuse("stat --stack-sample 8", "--stack-sample has no effect with --stack off");
	refuse("stat -p 1 -- ls", "do not go together");
	refuse("stat ls", "unexpected 'ls'");
	refuse("stat --gpu-times", "a running process is not injected into");
	refuse("stat --gpu-times -p 1", "a running process is not injected into");
	refuse("stat --gpu-times -i x", "--gpu-times needs a run");
	refuse("stat --gpu-times=0 -- ls", "--gpu-times '0': give percent from 0.1 to 100");
	refuse("stat --gpu-times=5x -- ls", "--gpu-times '5x': give percent from 0.1 to 100");
	refuse("stat --gpu-times=5 --gpu-graph-nodes -- ls",
	       "does not go with a share of --gpu-times");
	refuse("stat --gpu-times -p 1", "stat -p PID --kineto asks");
	refuse("stat --kineto", "--kineto needs -p PID");
	refuse("stat --kineto -- ls", "use --gpu-times for COMMAND");
	refuse("stat --kineto -i x", "--kineto needs a run");
	refuse("stat --kineto --gpu-times -p 1", "--kineto and --gpu-times do not go together");
	refuse("stat --kineto=5 -p 1", "--kineto '5'");
	refuse("stat --kineto=9ms -p 1", "--kineto=9ms: give a time from 10ms to 60s");
	refuse("stat --kineto=61s -p 1", "--kineto=61s: give a time from 10ms to 60s");
	refuse("diagnose --kineto -p 1", "unknown option '--kineto'");
	refuse("stat --nvtx -p 1", "NVTX looks for a library once");
	refuse("stat --nvtx -i x", "--nvtx needs a run");
	refuse("stat --steps-by= -- ls", "--steps-by '': give the name of an NVTX range");
	refuse("stat --steps-by a --steps-by b -- ls", "--steps-by a and --steps-by b do not go");
	refuse("stat --steps-by a -p 1", "--steps-by needs COMMAND");
	refuse("stat --steps-by a -i x", "--steps-by needs a run");
	refuse("stat --steps-by a --max-overhead 2 -- ls",
	       "--steps-by and --max-overhead do not go together");
	refuse("diagnose --nvtx -- ls", "unknown option '--nvtx'");
	refuse("stat --gpu-graph-nodes -- ls", "has no effect without --gpu-times");
	refuse("diagnose --gpu-times", "a running process is not injected into");
	refuse("stat --gpu-times --max-overhead 2 -- ls", "--gpu-times and --max-overhead do not");
	refuse("stat --max-kernels 0", "--max-kernels '0'");
}

static void test_help(void **state)
{
	static const char *const both[] = {
		"--threshold", "--window",	 "--getters",  "-p, --pid", "--duration",
		"--api",       "--max-inflight", "--interval", "--json",    "-O, --output FILE",
		"--top",       "--stack",	 "--verbose"};
	struct line line;

	(void)state;
	for (int diagnose = 0; diagnose < 2; diagnose++) {
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		option_table__print_help(diagnose ? &diagnose_options : &stat_options, out);
		fclose(out);
		for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++)
			assert_non_null(strstr(text, both[i]));
		assert_int_equal(!strstr(text, "--csv"), diagnose);
		assert_int_equal(!strstr(text, "--explain"), !diagnose);
		for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
			assert_true(end - at <= 80);
		free(text);
	}
	parse(&line, "stat -h");
	assert_int_equal(line.ret, OPTIONS_HELP);
	profile_options__clear(&line.options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),
		cmocka_unit_test(test_reported), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_help),	 cmocka_unit_test(test_max_overhead),
		cmocka_unit_test(test_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
