// SPDX-License-Identifier: BSD-2-Clause
// The command line of `gpuprobe dump`.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/options/dump_options.h"
#include "command_line.h"

struct line {
	struct command_line words;
	struct dump_options options;
	struct error err;
	int ret;
};

static void parse(struct line *line, const char *text)
{
	split(&line->words, "dump", text);
	line->err.text[0] = '\0';
	line->ret =
		dump_options__parse(&line->options, line->words.argc, line->words.argv, &line->err);
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
	dump_options__clear(&line.options);
}

static void test_defaults(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "");
	assert_int_equal(line.options.targets.pid_count, 0);
	assert_int_equal(line.options.again_ns, 0);
	assert_false(line.options.json || line.options.all_frames || line.options.all);
	assert_int_equal(line.options.log_level, LOG_WARN);
	dump_options__clear(&line.options);
}

static void test_everything(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "-p 1 --pid 4711 --json --native --all --again 5 --exact -q");
	assert_int_equal(line.options.targets.pid_count, 2);
	assert_int_equal(line.options.targets.pids[0], 1);
	assert_int_equal(line.options.targets.pids[1], 4711);
	assert_true(line.options.json && line.options.all_frames && line.options.all);
	assert_int_equal(line.options.form, QUANTITY_EXACT);
	assert_int_equal(line.options.again_ns, 5 * NS_PER_S);
	assert_int_equal(line.options.log_level, LOG_QUIET);
	dump_options__clear(&line.options);
	accept(&line, "--all-frames");
	assert_true(line.options.all_frames && !line.options.all);
	dump_options__clear(&line.options);
}

static void expect_again(const char *text, uint64_t ns)
{
	struct line line;

	accept(&line, text);
	assert_int_equal(line.options.again_ns, ns);
	dump_options__clear(&line.options);
}

static void test_times(void **state)
{
	(void)state;
	expect_again("--again 5s", 5 * NS_PER_S);
	expect_again("--again 0.5", 500 * NS_PER_MS);
	expect_again("--again 250ms", 250 * NS_PER_MS);
	expect_again("--again=86400", 86400 * NS_PER_S);
	expect_again("--again 1ms", NS_PER_MS);
	expect_again("--again 5 --again 7", 7 * NS_PER_S);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("--again 0", "--again '0'");
	refuse("--again 5x", "--again '5x'");
	refuse("--again -5", "--again '-5'");
	refuse("--again nan", "--again 'nan'");
	refuse("--again 86401", "--again '86401'");
	refuse("--again 999us", "--again '999us'");
	refuse("--again ~", "--again ''");
	refuse("--again", "--again");
	refuse("-p", "-p");
	refuse("-p 0", "-p, --pid '0'");
	refuse("-p 1 -p x", "-p, --pid 'x'");
	refuse("--duration 5", "--duration");
	refuse("--json=yes", "--json");
	refuse("-x", "-x");
	refuse("python3", "unexpected 'python3'");
	refuse("-- python3", "unexpected 'python3'");
}

static void test_help_and_version(void **state)
{
	static const struct {
		const char *text;
		int expected;
	} lines[] = {
		{"-h", OPTIONS_HELP}, {"--help -x", OPTIONS_HELP}, {"-p 1 -V", OPTIONS_VERSION}};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct line line;

		parse(&line, lines[i].text);
		assert_int_equal(line.ret, lines[i].expected);
		dump_options__clear(&line.options);
	}
}

static void test_the_help_has_every_option(void **state)
{
	static const char *const words[] = {"-p, --pid PID", "--again TIME", "--all-frames",
					    "--all",	     "--json",	     "-v, --verbose",
					    "-q, --quiet",   "-h, --help",   "-V, --version"};
	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof(text) - 1, "w");

	(void)state;
	option_table__print_help(&dump_options, out);
	fclose(out);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_non_null(strstr(text, words[i]));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_the_help_has_every_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
