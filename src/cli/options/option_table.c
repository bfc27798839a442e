// SPDX-License-Identifier: BSD-2-Clause
// Parses command lines by tables of options, see option_table.h.
#include "cli/options/option_table.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/arguments.h"

#define MOST_OPTIONS 64 /* limit for one command */
#define FIRST_ID 256	/* ids for getopt_long, above all letters */
#define TEXT_COLUMN 26	/* column of the help text */

/* An option and the offset of its field. */
struct placed_row {
	const struct option_row *row;
	size_t offset;
};

/* The table in the form that getopt_long takes. */
struct flat_table {
	struct placed_row rows[MOST_OPTIONS];
	size_t row_count;
	struct option options[MOST_OPTIONS + 1];
	size_t option_count;
	char letters[2 * MOST_OPTIONS + 3];
};

static bool is_end(const struct option_row *row)
{
	return !row->name && !row->letter && !row->help && !row->rows;
}

static bool is_optional(const struct option_row *row)
{
	return row->value && row->value[0] == '[';
}

static int argument_of(const struct option_row *row)
{
	if (!row->value)
		return no_argument;
	return is_optional(row) ? optional_argument : required_argument;
}

static void add_letter(struct flat_table *flat, const struct option_row *row)
{
	size_t length = strlen(flat->letters);

	flat->letters[length++] = row->letter;
	if (row->value)
		flat->letters[length] = ':';
}

static bool do_the_same(const struct placed_row *one, const struct placed_row *other)
{
	return one->row->take == other->row->take && one->offset == other->offset &&
	       one->row->min == other->row->min && one->row->max == other->row->max &&
	       one->row->words == other->row->words;
}

/* Two names of one option have one id, so that getopt_long accepts their common prefix. */
static int id_of_name(const struct flat_table *flat, const struct placed_row *placed)
{
	const struct placed_row *before = flat->row_count ? &flat->rows[flat->row_count - 1] : NULL;

	if (before && before->row->name && do_the_same(before, placed))
		return flat->options[flat->option_count - 1].val;
	return FIRST_ID + (int)flat->row_count;
}

static void add_option(struct flat_table *flat, const struct option_row *row, size_t offset)
{
	const struct placed_row placed = {row, offset};
	int id = id_of_name(flat, &placed);

	if (row->name)
		flat->options[flat->option_count++] =
			(struct option){row->name, argument_of(row), NULL, id};
	if (row->letter)
		add_letter(flat, row);
	flat->rows[flat->row_count++] = placed;
}

static void flatten(struct flat_table *flat, const struct option_row *rows, size_t offset)
{
	for (const struct option_row *row = rows; !is_end(row); row++) {
		if (row->rows)
			flatten(flat, row->rows, offset + row->offset);
		if (row->take && flat->row_count < MOST_OPTIONS)
			add_option(flat, row, offset + row->offset);
	}
}

static const struct placed_row *find_row(const struct flat_table *flat, int id)
{
	if (id >= FIRST_ID)
		return (size_t)(id - FIRST_ID) < flat->row_count ? &flat->rows[id - FIRST_ID] :
								   NULL;
	for (size_t i = 0; i < flat->row_count; i++)
		if (flat->rows[i].row->letter == id)
			return &flat->rows[i];
	return NULL;
}

/* An optional value may be the next word, because only an option's value can follow there. */
static const char *value_of(const struct option_row *row, int argc, char **argv)
{
	if (!optarg && is_optional(row) && optind < argc && *argv[optind] != '-')
		return argv[optind++];
	return optarg;
}

static int parse(const struct option_table *table, const struct flat_table *flat, void *options,
		 int argc, char **argv, struct error *err)
{
	int id, ret = 0;

	/* Words after COMMAND belong to COMMAND. */
	while (!ret && (id = getopt_long(argc, argv, flat->letters, flat->options, NULL)) != -1) {
		const struct placed_row *placed =
			id == '?' || id == ':' ? NULL : find_row(flat, id);

		if (!placed)
			return arguments__bad_option(id, argc, argv, flat->options, table->program,
						     err);
		ret = placed->row->take(placed->row, (char *)options + placed->offset,
					value_of(placed->row, argc, argv), err);
	}
	return ret;
}

int option_table__parse_on(const struct option_table *table, void *options, int argc, char **argv,
			   struct error *err)
{
	/*
	 * "+": options end at the first other word; ":": getopt_long reports a missing value
	 * separately.
	 */
	struct flat_table flat = {.letters = "+:"};

	opterr = 0;
	flatten(&flat, table->rows, 0);
	return parse(table, &flat, options, argc, argv, err);
}

int option_table__parse(const struct option_table *table, void *options, int argc, char **argv,
			struct error *err)
{
	optind = 0; /* a new argv: makes getopt_long start afresh */
	return option_table__parse_on(table, options, argc, argv, err);
}

static void each_row(const struct option_row *rows,
		     void (*each)(const struct option_row *row, void *arg), void *arg)
{
	for (const struct option_row *row = rows; !is_end(row); row++) {
		if (row->rows)
			each_row(row->rows, each, arg);
		else if (row->take)
			each(row, arg);
	}
}

void option_table__each(const struct option_table *table,
			void (*each)(const struct option_row *row, void *arg), void *arg)
{
	each_row(table->rows, each, arg);
}

/* --- the help text --- */

static int print_option(const struct option_row *row, FILE *out)
{
	int length = fprintf(out, "  ");

	if (row->letter)
		length += fprintf(out, "-%c%s", row->letter, row->name ? ", " : "");
	if (row->name)
		length += fprintf(out, "--%s", row->name);
	if (row->value)
		length += fprintf(out, " %s", row->value);
	return length;
}

static void print_row(const struct option_row *row, FILE *out)
{
	const char *line = row->help;
	int column = print_option(row, out);

	if (column > TEXT_COLUMN - 2) {
		fputc('\n', out);
		column = 0;
	}
	while (line) {
		const char *end = strchr(line, '\n');

		fprintf(out, "%*s%.*s\n", TEXT_COLUMN - column, "",
			(int)(end ? (size_t)(end - line) : strlen(line)), line);
		line = end ? end + 1 : NULL;
		column = 0;
	}
}

static void print_rows(const struct option_row *rows, FILE *out)
{
	for (const struct option_row *row = rows; !is_end(row); row++) {
		if (row->rows)
			print_rows(row->rows, out);
		else if (row->help && !row->name && !row->letter)
			fprintf(out, "%s%s\n", *row->help ? "\n" : "", row->help);
		else if (row->help)
			print_row(row, out);
	}
}

void option_table__print_help(const struct option_table *table, FILE *out)
{
	fputs(table->head, out);
	print_rows(table->rows, out);
	if (table->tail)
		fputs(table->tail, out);
}

/* --- values --- */

struct option_name option_row__name(const struct option_row *row)
{
	struct option_name name;

	if (row->letter && row->name)
		snprintf(name.text, sizeof(name.text), "-%c, --%s", row->letter, row->name);
	else if (row->name)
		snprintf(name.text, sizeof(name.text), "--%s", row->name);
	else
		snprintf(name.text, sizeof(name.text), "-%c", row->letter);
	return name;
}

int option__flag(const struct option_row *row, void *field, const char *text, struct error *err)
{
	(void)row;
	(void)text;
	(void)err;
	*(bool *)field = true;
	return 0;
}

int option__byte_flag(const struct option_row *row, void *field, const char *text,
		      struct error *err)
{
	(void)row;
	(void)text;
	(void)err;
	*(uint8_t *)field = 1;
	return 0;
}

int option__bits(const struct option_row *row, void *field, const char *text, struct error *err)
{
	(void)text;
	(void)err;
	*(unsigned int *)field |= (unsigned int)row->min;
	return 0;
}

static int number_of(const struct option_row *row, const char *text, unsigned long *number,
		     struct error *err)
{
	/* Converted to double, LONG_MAX becomes one larger. */
	unsigned long max = row->max >= (double)LONG_MAX ? LONG_MAX : (unsigned long)row->max;

	return arguments__number(option_row__name(row).text, text, (unsigned long)row->min, max,
				 number, err);
}

int option__unsigned(const struct option_row *row, void *field, const char *text, struct error *err)
{
	unsigned long number = 0;
	int ret = number_of(row, text, &number, err);

	*(unsigned int *)field = (unsigned int)number;
	return ret;
}

int option__u64(const struct option_row *row, void *field, const char *text, struct error *err)
{
	unsigned long number = 0;
	int ret = number_of(row, text, &number, err);

	*(uint64_t *)field = number;
	return ret;
}

int option__byte(const struct option_row *row, void *field, const char *text, struct error *err)
{
	unsigned long number = 0;
	int ret = number_of(row, text, &number, err);

	*(uint8_t *)field = (uint8_t)number;
	return ret;
}

int option__size(const struct option_row *row, void *field, const char *text, struct error *err)
{
	return arguments__size(option_row__name(row).text, text, (uint64_t)row->min,
			       (uint64_t)row->max, field, err);
}

int option__seconds(const struct option_row *row, void *field, const char *text, struct error *err)
{
	return arguments__seconds(option_row__name(row).text, text, row->min, field, err);
}

int option__duration(const struct option_row *row, void *field, const char *text, struct error *err)
{
	int ret = option__seconds(row, field, text, err);

	if (!ret && *(double *)field <= 0)
		return error__set(err, -EINVAL, "%s '%.100s': give more than 0 seconds",
				  option_row__name(row).text, text);
	return ret;
}

int option__time(const struct option_row *row, void *field, const char *text, struct error *err)
{
	return arguments__time(option_row__name(row).text, text, field, err);
}

int option__word(const struct option_row *row, void *field, const char *text, struct error *err)
{
	size_t which = 0;
	int ret = arguments__word(option_row__name(row).text, text, row->words, row->word_count,
				  &which, err);

	*(unsigned int *)field = (unsigned int)which;
	return ret;
}

int option__text(const struct option_row *row, void *field, const char *text, struct error *err)
{
	(void)row;
	(void)err;
	*(const char **)field = text;
	return 0;
}

int option__once(const struct option_row *row, void *field, const char *text, struct error *err)
{
	return arguments__once(option_row__name(row).text, field, text, err);
}

int option__file(const struct option_row *row, void *field, const char *text, struct error *err)
{
	return arguments__file(option_row__name(row).text, field, text, err);
}

int option__list(const struct option_row *row, void *field, const char *text, struct error *err)
{
	struct option_list *list = field;

	(void)row;
	return arguments__append(&list->texts, &list->count, text, err);
}

int option__result(const struct option_row *row, void *field, const char *text, struct error *err)
{
	(void)field;
	(void)text;
	(void)err;
	return (int)row->min;
}

/* --- options that every command has --- */

int option__verbose(const struct option_row *row, void *field, const char *text, struct error *err)
{
	enum log_level *level = field;

	(void)row;
	(void)text;
	(void)err;
	*level = *level < LOG_INFO ? LOG_INFO : LOG_DEBUG;
	return 0;
}

int option__quiet(const struct option_row *row, void *field, const char *text, struct error *err)
{
	(void)row;
	(void)text;
	(void)err;
	*(enum log_level *)field = LOG_QUIET;
	return 0;
}

const struct option_row help_rows[] = {
	{"help", 'h', NULL, "print this help", option__result, .min = OPTIONS_HELP},
	{"version", 'V', NULL, "print the version", option__result, .min = OPTIONS_VERSION},
	{0},
};

static const struct option_row verbose_rows[] = {
	{"verbose", 'v', NULL, "more messages on stderr (twice: even more)", option__verbose,
	 .offset = 0},
	{0},
};

const struct option_row log_rows[] = {
	{.rows = verbose_rows},
	{"quiet", 'q', NULL, "no warnings", option__quiet, .offset = 0},
	{.rows = help_rows},
	{0},
};

const struct option_row note_log_rows[] = {
	{.rows = verbose_rows},
	{"quiet", 'q', NULL, "no warnings and no notes", option__quiet, .offset = 0},
	{.rows = help_rows},
	{0},
};
