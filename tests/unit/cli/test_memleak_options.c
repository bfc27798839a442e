// SPDX-License-Identifier: BSD-2-Clause
// The command line of `gpuprobe memleak`, and the stack options that other commands share.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/options/memleak_options.h"
#include "command_line.h"

struct line {
	struct command_line words;
	struct memleak_command options;
	struct error err;
	int ret;
};

static void parse(struct line *line, const char *text)
{
	split(&line->words, "memleak", text);
	line->err.text[0] = '\0';
	line->ret = memleak_options__parse(&line->options, line->words.argc, line->words.argv,
					   &line->err);
}

static void accept(struct line *line, const char *text)
{
	parse(line, text);
	expect_accepted(text, line->ret, &line->err);
	/* The pointers are argv's or its own: the checks that follow only read numbers. */
	memleak_options__clear(&line->options);
}

static void refuse(const char *text, const char *reason)
{
	struct line line;

	parse(&line, text);
	expect_refused(text, line.ret, &line.err, reason);
	memleak_options__clear(&line.options);
}

static void test_defaults(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "");
	assert_true(line.options.interval == 5);
	assert_int_equal(line.options.count, 0);
	assert_int_equal(line.options.filter.older_ns, 500 * NS_PER_MS);
	assert_int_equal(line.options.filter.min_bytes, 0);
	assert_int_equal(line.options.filter.max_bytes, 0);
	assert_int_equal(line.options.output.top, 10);
	assert_int_equal(line.options.window_ns, 60 * NS_PER_S);
	assert_int_equal(line.options.stacks.mode, STACK_FP);
	assert_int_equal(line.options.stacks.size, 16384);
	assert_int_equal(line.options.stacks.max, 16384);
	assert_false(line.options.output.show_allocations);
	assert_false(line.options.output.some_sizes);
}

static void test_interval(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "0.5");
	assert_true(line.options.interval == 0.5);
	assert_int_equal(line.options.count, 0);
	accept(&line, "-a 2 3");
	assert_true(line.options.interval == 2);
	assert_int_equal(line.options.count, 3);
	/* Options before, between and after the arguments; COMMAND keeps its own. */
	parse(&line, "-T 3 2 7 -z 1K --json -- sleep -a 5 6");
	assert_int_equal(line.ret, OPTIONS_RUN);
	assert_true(line.options.interval == 2);
	assert_int_equal(line.options.count, 7);
	assert_int_equal(line.options.output.top, 3);
	assert_int_equal(line.options.filter.min_bytes, 1024);
	assert_true(line.options.json);
	assert_false(line.options.output.show_allocations);
	assert_string_equal(line.options.targets.command[0], "sleep");
	assert_string_equal(line.options.targets.command[3], "6");
	memleak_options__clear(&line.options);
	parse(&line, "-- 5 2");
	assert_true(line.options.interval == 5);
	assert_string_equal(line.options.targets.command[0], "5");
	memleak_options__clear(&line.options);
	parse(&line, "2 --help");
	assert_int_equal(line.ret, OPTIONS_HELP);
	memleak_options__clear(&line.options);
	accept(&line, "--interval 0.5 --count 3");
	assert_true(line.options.interval == 0.5);
	assert_int_equal(line.options.count, 3);
	refuse("--interval 0", "--interval '0': give seconds from 0.01");
	refuse("--interval x", "--interval 'x'");
	refuse("--count 0", "--count '0'");
	refuse("x", "INTERVAL 'x'");
	refuse("0", "INTERVAL '0'");
	refuse("5 0", "COUNT '0'");
	refuse("5 1.5", "COUNT '1.5'");
	refuse("1 2 3", "unexpected '3'");
	refuse("1 --json 2", "unexpected '2'");
	refuse("1 --", "no COMMAND after --");
}

static void test_ages(void **state)
{
	static const struct {
		const char *words;
		uint64_t ns;
	} ages[] = {
		{"-o 0", 0},
		{"-o 1500", 1500 * NS_PER_MS},
		{"--older 250ms", 250 * NS_PER_MS},
		{"-o 2s", 2 * NS_PER_S},
		{"-o 1.5m", 90 * NS_PER_S},
		{"-o 10us", 10000},
	};
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++) {
		accept(&line, ages[i].words);
		assert_int_equal(line.options.filter.older_ns, ages[i].ns);
	}
	refuse("-o -1", "-o, --older '-1'");
	refuse("-o nan", "-o, --older 'nan'");
	refuse("-o 1h", "-o, --older '1h'");
	refuse("-o 1e300m", "-o, --older '1e300m'");
	accept(&line, "--duration 30");
	assert_int_equal(line.options.window_ns, 20 * NS_PER_S);
	accept(&line, "--duration 60 2 15");
	assert_int_equal(line.options.window_ns, 20 * NS_PER_S);
	accept(&line, "--duration 6");
	assert_int_equal(line.options.window_ns, 10 * NS_PER_S);
	accept(&line, "--duration 30 --window 10m");
	assert_int_equal(line.options.window_ns, 600 * NS_PER_S);
	refuse("--window 60", "--window '60'");
	refuse("--window 0m", "--window '0m'");
	refuse("--window 2000m", "--window '2000m'");
}

static void test_sizes(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "-z 512 -Z 2M --min-count 4 -T 0");
	assert_int_equal(line.options.filter.min_bytes, 512);
	assert_int_equal(line.options.filter.max_bytes, 2 << 20);
	assert_int_equal(line.options.output.min_count, 4);
	assert_int_equal(line.options.output.top, 0);
	assert_true(line.options.output.some_sizes);
	accept(&line, "-z 5 -Z 5");
	refuse("-z 6 -Z 5", "--max-size is smaller than --min-size");
	refuse("-Z 0", "-Z, --max-size '0'");
	refuse("-z 1T", "-z, --min-size '1T'");
	refuse("-T -1", "-T, --top '-1'");
	refuse("-p 1 -- true", "do not go together");
}

static void test_stacks(void **state)
{
	static const char *const sizes[] = {"8", "8K", "8192"};
	char words[64];
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		snprintf(words, sizeof(words), "--stack dwarf --stack-size %s", sizes[i]);
		accept(&line, words);
		assert_int_equal(line.options.stacks.mode, STACK_DWARF);
		assert_int_equal(line.options.stacks.size, 8192);
	}
	accept(&line, "--stack auto --stack-size 32 --stack-storage-size 100");
	assert_int_equal(line.options.stacks.mode, STACK_AUTO);
	assert_int_equal(line.options.stacks.size, 32768);
	assert_int_equal(line.options.stacks.max, 100);
	refuse("--stack off", "--stack 'off': choose fp, dwarf or auto");
	refuse("--stack-size 32", "--stack-size has no effect with --stack fp");
	refuse("--stack on", "--stack 'on'");
	refuse("--stack-size 64", "--stack-size '64'");
	refuse("--stack-size 16M", "--stack-size '16M'");
	refuse("--stack-size 0", "--stack-size '0'");
	refuse("--stack-storage-size 0", "--stack-storage-size '0'");
	/* An option for calls that memleak does not use. */
	refuse("--stack-sample 64", "unknown option");
	refuse("--no-return-probes", "gpuprobe memleak follows memory by the addresses that "
				     "allocations return, which takes return "
				     "probes: only gpuprobe and gpuprobe trace have that option");
	refuse("--min-wait 1ms", "unknown option");
}

static void test_calls(void **state)
{
	struct stack_choice choice;
	struct error err;

	(void)state;
	stack_choice__init(&choice, STACK_OFF);
	assert_int_equal(choice.mode, STACK_OFF);
	assert_int_equal(choice.sample, 64);
	assert_int_equal(choice.min_wait_ns, NS_PER_MS);
	assert_int_equal(stack_choice__take(&choice, OPT_MIN_WAIT, "250us", &err), 0);
	assert_int_equal(choice.min_wait_ns, 250000);
	assert_int_equal(stack_choice__take(&choice, OPT_STACK_SAMPLE, "1", &err), 0);
	assert_int_equal(choice.sample, 1);
	assert_int_equal(stack_choice__take(&choice, OPT_STACK_SAMPLE, "96", &err), -EINVAL);
	assert_non_null(strstr(err.text, "power of two"));
	assert_int_equal(stack_choice__take(&choice, OPT_STACK_SAMPLE, "0", &err), -EINVAL);
	assert_int_equal(choice.sample, 1);
	assert_int_equal(stack_choice__take(&choice, 'p', "1", &err), -ENOENT);
	assert_int_equal(stack_choice__check(&choice, &err), -EINVAL);
	assert_string_equal(err.text, "--min-wait has no effect with --stack off");
	assert_int_equal(stack_choice__take(&choice, OPT_STACK, "fp", &err), 0);
	assert_int_equal(stack_choice__check(&choice, &err), 0);
	assert_int_equal(stack_choice__take(&choice, OPT_STACK_SIZE, "32", &err), 0);
	assert_int_equal(stack_choice__check(&choice, &err), -EINVAL);
	assert_int_equal(stack_choice__take(&choice, OPT_STACK, "auto", &err), 0);
	assert_int_equal(stack_choice__check(&choice, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_interval),
		cmocka_unit_test(test_ages),	 cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_stacks),	 cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
