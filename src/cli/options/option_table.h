/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of a command as a table, from which parsing, the help text and shell completions are
 * generated. Man pages are written by hand (tests/integration/commands/test_man_pages.py compares
 * the names).
 */
#ifndef CLI_OPTION_TABLE_H
#define CLI_OPTION_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"

struct option_row;

/*
 * Stores a value in the row's field; `text` is NULL if there is none. Returns 0, a negative errno
 * with a message, or a positive result that option_table__parse returns at once.
 */
typedef int (*option_take)(const struct option_row *row, void *field, const char *text,
			   struct error *err);

/*
 * A row is an option, a heading of the help text (only `help`), a line of it (`take` is NULL), or a
 * list of rows for a part of the command's structure (`rows`). Adjacent options that differ only in
 * name and help are one option with two names; the prefix that both names share is a valid
 * abbreviation.
 */
struct option_row {
	const char *name; /* long name without "--"; NULL: it has only a letter */
	char letter;	  /* 0: none */
	/* the value's name in the help text; NULL: no value. "[WORD]": optional */
	const char *value;
	const char *help; /* lines separated by '\n'; NULL: not in the help text */
	option_take take;
	size_t offset; /* of the field in the command's structure */
	/* limits of numbers; for option__bits, `min` has the bits to set */
	double min, max;
	const char *const *words; /* for option__word, indexed by value */
	size_t word_count;
	const struct option_row *rows; /* terminated by an all-zero row */
};

struct option_table {
	const char *program;	       /* "gpuprobe trace" */
	const char *head;	       /* head of the help text: usage, and what the command does */
	const char *tail;	       /* end of the help text; NULL: none */
	const struct option_row *rows; /* terminated by an all-zero row */
};

enum option_result {
	OPTIONS_RUN = 0,
	OPTIONS_HELP,	 /* -h */
	OPTIONS_VERSION, /* -V */
};

/*
 * Parses the options at the beginning of argv into `options`, up to the first other word, which
 * optind then points at. Returns an enum option_result (or one of the command's own, see
 * option__result), -EINVAL with a message, or -ENOMEM.
 */
int option_table__parse(const struct option_table *table, void *options, int argc, char **argv,
			struct error *err);

/* The same from optind on, for options that follow other words. */
int option_table__parse_on(const struct option_table *table, void *options, int argc, char **argv,
			   struct error *err);

void option_table__print_help(const struct option_table *table, FILE *out);

/* Calls `each` for every option, once for each name. */
void option_table__each(const struct option_table *table,
			void (*each)(const struct option_row *row, void *arg), void *arg);

/* An option's name in messages: "-p, --pid". */
struct option_name {
	char text[48];
};

struct option_name option_row__name(const struct option_row *row);

/* --- values, by the type of the field --- */

/* The values of a repeatable option. The texts belong to argv; the caller frees the list. */
struct option_list {
	const char **texts;
	size_t count;
};

/* bool: true */
int option__flag(const struct option_row *row, void *field, const char *text, struct error *err);
/* uint8_t: 1 */
int option__byte_flag(const struct option_row *row, void *field, const char *text,
		      struct error *err);
/* unsigned int: |= min */
int option__bits(const struct option_row *row, void *field, const char *text, struct error *err);
/* unsigned int, uint32_t */
int option__unsigned(const struct option_row *row, void *field, const char *text,
		     struct error *err);
/* uint64_t, size_t */
int option__u64(const struct option_row *row, void *field, const char *text, struct error *err);
/* uint8_t */
int option__byte(const struct option_row *row, void *field, const char *text, struct error *err);
/* uint64_t, bytes */
int option__size(const struct option_row *row, void *field, const char *text, struct error *err);
/* double: 0, or at least min */
int option__seconds(const struct option_row *row, void *field, const char *text, struct error *err);
/* double: at least min */
int option__duration(const struct option_row *row, void *field, const char *text,
		     struct error *err);
/* uint64_t, nanoseconds */
int option__time(const struct option_row *row, void *field, const char *text, struct error *err);
/* an enum */
int option__word(const struct option_row *row, void *field, const char *text, struct error *err);
/* const char *: belongs to argv */
int option__text(const struct option_row *row, void *field, const char *text, struct error *err);
/* the same, at most once */
int option__once(const struct option_row *row, void *field, const char *text, struct error *err);
/* the same, not empty */
int option__file(const struct option_row *row, void *field, const char *text, struct error *err);
/* struct option_list */
int option__list(const struct option_row *row, void *field, const char *text, struct error *err);

/* enum log_level */
int option__verbose(const struct option_row *row, void *field, const char *text, struct error *err);
/* enum log_level */
int option__quiet(const struct option_row *row, void *field, const char *text, struct error *err);

/*
 * Ends parsing: option_table__parse returns `min`, which is an enum option_result or one of the
 * command's own values above these.
 */
int option__result(const struct option_row *row, void *field, const char *text, struct error *err);

#define WORDS(list) .words = (list), .word_count = sizeof(list) / sizeof((list)[0])

/* --- options that every command has --- */

extern const struct option_row log_rows[]; /* for an enum log_level: -v, -q, -h and -V */
/* log_rows of commands that print notes too, which -q leaves out */
extern const struct option_row note_log_rows[];
extern const struct option_row help_rows[]; /* only -h and -V */

#endif
