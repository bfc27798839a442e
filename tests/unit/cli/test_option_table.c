// SPDX-License-Identifier: BSD-2-Clause
// Option tables: which options are accepted where, and the help text.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/options/option_table.h"
#include "command_line.h"

#include <getopt.h>

static const char *const colors[] = {"red", "green"};

struct inner {
	bool flag;
	double seconds;
};

struct values {
	unsigned int bits, number, color;
	uint64_t time, bytes, many;
	uint8_t byte;
	double duration;
	const char *text, *once, *file, *maybe;
	struct inner first, second;
	enum log_level log_level;
};

#define FIELD(member) .offset = offsetof(struct values, member)

static const struct option_row inner_rows[] = {
	{"flag", 'f', NULL, "a flag", option__flag, .offset = offsetof(struct inner, flag)},
	{"seconds", 0, "S", "or none", option__seconds, .offset = offsetof(struct inner, seconds),
	 .min = 0.5},
	{0},
};

static const struct option_row rows[] = {
	{.help = "Numbers:"},
	{"one", 0, NULL, "the first bit", option__bits, FIELD(bits), .min = 1},
	{"four", 0, NULL, NULL, option__bits, FIELD(bits), .min = 4},
	{"number", 'n', "N", "from 3 to 7", option__unsigned, FIELD(number), .min = 3, .max = 7},
	{"many", 0, "N", "any", option__u64, FIELD(many), .max = 1e15},
	{"byte", 0, "N", "a small one", option__byte, FIELD(byte), .max = 200},
	{"size", 0, "BYTES", "of something whose\nhelp has two lines", option__size, FIELD(bytes),
	 .max = 1 << 20},
	{"duration", 0, "S", "not 0", option__duration, FIELD(duration), .min = 0.5},
	{"a-very-long-option", 0, "TIME", "what goes below", option__time, FIELD(time)},
	{.help = ""},
	{"color", 0, "red|green", "which", option__word, FIELD(color), WORDS(colors)},
	{"text", 0, "TEXT", "any", option__text, FIELD(text)},
	{NULL, 'o', "TEXT", "once", option__once, FIELD(once)},
	{"file", 0, "FILE", "some", option__file, FIELD(file)},
	{"maybe", 0, "[WORD]", "with or without", option__text, FIELD(maybe)},
	{"color", 0, "blue", "in the help text alone", NULL, .offset = 0},
	{.rows = inner_rows, FIELD(second)},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

static const struct option_table table = {
	.program = "gpuprobe test", .head = "Usage\n", .rows = rows, .tail = "\nEnd\n"};

struct line {
	struct command_line words;
	struct values values;
	struct error err;
	int ret;
};

static void parse(struct line *line, const char *text)
{
	split(&line->words, "test", text);
	line->values = (struct values){.log_level = LOG_WARN};
	line->ret = option_table__parse(&table, &line->values, line->words.argc, line->words.argv,
					&line->err);
}

static void accept(struct line *line, const char *text)
{
	parse(line, text);
	expect_accepted(text, line->ret, &line->err);
}

static void refuse(const char *text, const char *why)
{
	struct line line;

	parse(&line, text);
	assert_int_equal(line.ret, -EINVAL);
	if (!strstr(line.err.text, why))
		fail_msg("%s: %s", text, line.err.text);
}

static void values_go_where_the_rows_say(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "--one --four -n 5 --many 123456789012 --byte 200 --size 1K --duration 0.5 "
		      "--a-very 2ms");
	assert_int_equal(line.values.bits, 5);
	assert_int_equal(line.values.number, 5);
	assert_true(line.values.many == 123456789012);
	assert_int_equal(line.values.byte, 200);
	assert_int_equal(line.values.bytes, 1024);
	assert_true(line.values.duration == 0.5);
	assert_int_equal(line.values.time, 2000000);
	accept(&line, "--duration 2m");
	assert_true(line.values.duration == 120);
	accept(&line, "--duration 1500ms");
	assert_true(line.values.duration == 1.5);
	accept(&line, "--duration 1h");
	assert_true(line.values.duration == 3600);
	accept(&line, "--color green --text a -o b --file c -f --seconds=1.5");
	assert_int_equal(line.values.color, 1);
	assert_string_equal(line.values.text, "a");
	assert_string_equal(line.values.once, "b");
	assert_string_equal(line.values.file, "c");
	assert_false(line.values.first.flag);
	assert_true(line.values.second.flag && line.values.second.seconds == 1.5);
}

static void a_value_that_need_not_be(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "--maybe --one");
	assert_null(line.values.maybe);
	assert_int_equal(line.values.bits, 1);
	accept(&line, "--maybe yes --one");
	assert_string_equal(line.values.maybe, "yes");
	accept(&line, "--maybe=no");
	assert_string_equal(line.values.maybe, "no");
	accept(&line, "--maybe -- yes");
	assert_null(line.values.maybe);
}

static void mistakes_name_the_option(void **state)
{
	(void)state;
	refuse("-n 8", "-n, --number '8': ");
	refuse("--byte 201", "--byte '201': ");
	refuse("--size 2M", "--size '2M': ");
	refuse("--duration 0", "--duration '0': give more than 0 seconds");
	refuse("--duration 100ms", "--duration '100ms': give seconds from 0.5 to 1000000000, such "
				   "as 5, 0.5 or 2m");
	refuse("--duration 2d", "--duration '2d': give seconds");
	refuse("--duration m", "--duration 'm': give seconds");
	refuse("--duration infm", "--duration 'infm': give seconds");
	refuse("--seconds 0.1", "--seconds '0.1': ");
	refuse("--color blue", "--color 'blue': choose red or green");
	refuse("-o a -o b", "-o a and -o b do not go together");
	refuse("--file ~", "--file '': give the name of a file");
	refuse("--nothing", "unknown option '--nothing': see gpuprobe test --help");
	refuse("--duratoin 5", "unknown option '--duratoin': did you mean --duration? See gpuprobe "
			       "test --help");
	refuse("--duratoin=5", "did you mean --duration?");
	refuse("--color gren", "--color 'gren': choose red or green; did you mean green?");
	refuse("-x", "unknown option '-x'");
	refuse("--f", "'--f' may be more than one option: write it out (--four, --file, --flag), "
		      "see gpuprobe test --help");
	refuse("-n", "-n needs a value");
	refuse("--one=1", "--one takes no value");
}

static void it_ends_where_other_words_begin(void **state)
{
	struct line line;

	(void)state;
	accept(&line, "-vv word --one");
	assert_int_equal(line.values.log_level, LOG_DEBUG);
	assert_int_equal(line.values.bits, 0);
	assert_int_equal(optind, 2);
	optind++;
	assert_int_equal(option_table__parse_on(&table, &line.values, line.words.argc,
						line.words.argv, &line.err),
			 OPTIONS_RUN);
	assert_int_equal(line.values.bits, 1);
	parse(&line, "-q -h --nonsense");
	assert_int_equal(line.ret, OPTIONS_HELP);
	assert_int_equal(line.values.log_level, LOG_QUIET);
	parse(&line, "--version");
	assert_int_equal(line.ret, OPTIONS_VERSION);
}

static void the_help_text(void **state)
{
	static const char wanted[] =
		"Usage\n"
		"\nNumbers:\n"
		"  --one                   the first bit\n"
		"  -n, --number N          from 3 to 7\n"
		"  --many N                any\n"
		"  --byte N                a small one\n"
		"  --size BYTES            of something whose\n"
		"                          help has two lines\n"
		"  --duration S            not 0\n"
		"  --a-very-long-option TIME\n"
		"                          what goes below\n"
		"\n"
		"  --color red|green       which\n"
		"  --text TEXT             any\n"
		"  -o TEXT                 once\n"
		"  --file FILE             some\n"
		"  --maybe [WORD]          with or without\n"
		"  --color blue            in the help text alone\n"
		"  -f, --flag              a flag\n"
		"  --seconds S             or none\n"
		"  -v, --verbose           more messages on stderr (twice: even more)\n"
		"  -q, --quiet             no warnings\n"
		"  -h, --help              print this help\n"
		"  -V, --version           print the version\n"
		"\nEnd\n";
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	option_table__print_help(&table, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, wanted);
	free(text);
}

static void count(const struct option_row *row, void *arg)
{
	assert_non_null(row->take);
	++*(int *)arg;
}

static void each_option_once(void **state)
{
	int options = 0;

	(void)state;
	option_table__each(&table, count, &options);
	assert_int_equal(options, 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_go_where_the_rows_say),
		cmocka_unit_test(a_value_that_need_not_be),
		cmocka_unit_test(mistakes_name_the_option),
		cmocka_unit_test(it_ends_where_other_words_begin),
		cmocka_unit_test(the_help_text),
		cmocka_unit_test(each_option_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
