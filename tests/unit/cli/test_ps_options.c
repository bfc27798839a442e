// SPDX-License-Identifier: BSD-2-Clause
// The command line of `gpuprobe ps`.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options/ps_options.h"
#include "command_line.h"

struct line {
	struct command_line words;
	struct ps_options options;
	struct error err;
	int ret;
};

static void parse(struct line *line, const char *text)
{
	split(&line->words, "ps", text);
	line->err.text[0] = '\0';
	line->ret =
		ps_options__parse(&line->options, line->words.argc, line->words.argv, &line->err);
}

static void test_options(void **state)
{
	struct line line;

	(void)state;
	parse(&line, "");
	expect_accepted("", line.ret, &line.err);
	assert_int_equal(line.options.targets.pid_count, 0);
	assert_false(line.options.tree || line.options.json);
	assert_int_equal(line.options.log_level, LOG_WARN);
	ps_options__clear(&line.options);
	parse(&line, "-p 1 --pid 4711 --tree --json -q");
	expect_accepted("-p", line.ret, &line.err);
	assert_int_equal(line.options.targets.pid_count, 2);
	assert_int_equal(line.options.targets.pids[1], 4711);
	assert_true(line.options.tree && line.options.json);
	assert_int_equal(line.options.log_level, LOG_QUIET);
	ps_options__clear(&line.options);
}

static void refuse(const char *text, const char *reason)
{
	struct line line;

	parse(&line, text);
	expect_refused(text, line.ret, &line.err, reason);
	ps_options__clear(&line.options);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("-p 0", "-p, --pid '0'");
	refuse("-p", "-p");
	refuse("--json=yes", "--json");
	refuse("--again 5", "--again");
	refuse("4711", "unexpected '4711'");
	refuse("-- python3", "unexpected 'python3'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
