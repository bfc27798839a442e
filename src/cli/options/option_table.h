/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of a command as a table. Parsing, the help text and the completions of shells come from it; man pages are
 * written by hand (tests/integration/commands/test_man_pages.py compares the names).
 */
#ifndef CLI_OPTION_TABLE_H
#define CLI_OPTION_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"

struct option_row;

/*
 * Takes a value into the row's field; `text` is NULL without one. 0; a negative errno with a line for a person; or what
 * option_table__parse is to return at once.
 */
typedef int (*option_take)(const struct option_row *row, void *field, const char *text, struct error *err);

/*
 * An option, a heading of the help text (`help` alone), a line of it (`take` is NULL), or other rows for a part of the command's
 * structure (`rows`). Options that follow each other and differ in name and help alone are one with two names: what both names
 * begin with stands for it.
 */
struct option_row {
	const char *name;  /* the long one, without "--"; NULL: it has a letter alone */
	char letter;	   /* 0: none */
	const char *value; /* what the help text calls its value; NULL: it has none. "[WORD]": it need not have one */
	const char *help;  /* lines parted by '\n'; NULL: it is not in the help text */
	option_take take;
	size_t offset;		  /* of the field, in the command's structure */
	double min, max;	  /* of numbers; of option__bits, what to set */
	const char *const *words; /* of option__word, by the value that each stands for */
	size_t word_count;
	const struct option_row *rows; /* up to one that is all zero */
};

struct option_table {
	const char *program;	       /* "gpuprobe trace" */
	const char *head;	       /* of the help text: usage, and what the command does */
	const char *tail;	       /* its end; NULL: none */
	const struct option_row *rows; /* up to one that is all zero */
};

enum option_result {
	OPTIONS_RUN = 0,
	OPTIONS_HELP,	 /* -h */
	OPTIONS_VERSION, /* -V */
};

/*
 * Takes the options at the beginning of argv into `options`, up to the first other word, where optind stands then. Returns an
 * enum option_result (or one of the command's own, see option__result), -EINVAL with a line for a person, or -ENOMEM.
 */
int option_table__parse(const struct option_table *table, void *options, int argc, char **argv, struct error *err);

/* The same from optind on: options that come after other words. */
int option_table__parse_on(const struct option_table *table, void *options, int argc, char **argv, struct error *err);

void option_table__print_help(const struct option_table *table, FILE *out);

/* Calls `each` for every option, once a name. */
void option_table__each(const struct option_table *table, void (*each)(const struct option_row *row, void *arg), void *arg);

/* How messages name an option: "-p, --pid". */
struct option_name {
	char text[48];
};

struct option_name option_row__name(const struct option_row *row);

/* --- values, by the type of the field --- */

/* What a repeatable option was given: argv's texts, in a list that is to be freed. */
struct option_list {
	const char **texts;
	size_t count;
};

int option__flag(const struct option_row *row, void *field, const char *text, struct error *err);      /* bool: true */
int option__byte_flag(const struct option_row *row, void *field, const char *text, struct error *err); /* uint8_t: 1 */
int option__bits(const struct option_row *row, void *field, const char *text, struct error *err);      /* unsigned int: |= min */
int option__unsigned(const struct option_row *row, void *field, const char *text, struct error *err);  /* unsigned int, uint32_t */
int option__u64(const struct option_row *row, void *field, const char *text, struct error *err);       /* uint64_t, size_t */
int option__byte(const struct option_row *row, void *field, const char *text, struct error *err);      /* uint8_t */
int option__size(const struct option_row *row, void *field, const char *text, struct error *err);      /* uint64_t, bytes */
int option__seconds(const struct option_row *row, void *field, const char *text, struct error *err);   /* double: 0, or from min on */
int option__duration(const struct option_row *row, void *field, const char *text, struct error *err);  /* double: from min on */
int option__time(const struct option_row *row, void *field, const char *text, struct error *err);      /* uint64_t, nanoseconds */
int option__word(const struct option_row *row, void *field, const char *text, struct error *err);      /* an enum */
int option__text(const struct option_row *row, void *field, const char *text, struct error *err);      /* const char *: argv's */
int option__once(const struct option_row *row, void *field, const char *text, struct error *err);      /* the same, no second one */
int option__file(const struct option_row *row, void *field, const char *text, struct error *err);      /* the same, not empty */
int option__list(const struct option_row *row, void *field, const char *text, struct error *err);      /* struct option_list */

int option__verbose(const struct option_row *row, void *field, const char *text, struct error *err); /* enum log_level */
int option__quiet(const struct option_row *row, void *field, const char *text, struct error *err);   /* enum log_level */

/* Ends the command line: option_table__parse returns min, an enum option_result or one of the command's own beyond these. */
int option__result(const struct option_row *row, void *field, const char *text, struct error *err);

#define WORDS(list) .words = (list), .word_count = sizeof(list) / sizeof((list)[0])

/* --- what every command has --- */

extern const struct option_row log_rows[];  /* of an enum log_level: -v, -q, -h and -V */
extern const struct option_row help_rows[]; /* -h and -V alone */

#endif
