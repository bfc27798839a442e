/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of the tables in api/, and helpers that parse them. */
#ifndef TESTS_API_TEXT_H
#define TESTS_API_TEXT_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../../api/table.h"

#define HEADER "layer\tsymbol\tfamily\toperation\tkind\tflags\troles\targuments\tnote\n"
#define MALLOC \
	"runtime\tcudaMalloc\tmemory\talloc\tdevice\t-\tout=devPtr size=size\t" \
	"devPtr rdi void **; size rsi size_t\t-\n"
#define OTHER(symbol, flags, arguments) \
	"runtime\t" symbol "\tother\t-\t-\t" flags "\t-\t" arguments "\t-\n"
#define CODES "layer\tcode\tname\n"

typedef int (*table_reader)(struct table *table, FILE *in, const char *file, struct error *err);

static inline int read_bytes(struct table *table, table_reader reader, const char *text,
			     size_t length, struct error *err)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, length, "r");
	int rc;

	assert_non_null(in);
	rc = reader(table, in, "t.tsv", err);
	fclose(in);
	return rc;
}

static inline struct table *read_good(const char *text)
{
	struct error err = {.text = ""};
	struct table *table = table__new();
	int rc;

	assert_non_null(table);
	rc = read_bytes(table, table__read_functions, text, strlen(text), &err);
	assert_string_equal(err.text, "");
	assert_int_equal(rc, 0);
	return table;
}

/* Reads a text that must fail, with exactly this message. */
static inline void expect_error(table_reader reader, const char *text, size_t length,
				const char *message)
{
	struct error err = {.text = ""};
	struct table *table = table__new();

	assert_non_null(table);
	assert_int_equal(read_bytes(table, reader, text, length, &err), -EINVAL);
	assert_string_equal(err.text, message);
	table__free(table);
}

static inline void expect_bad_row(const char *row, const char *what)
{
	char message[256], text[2400];

	snprintf(text, sizeof(text), HEADER "%s\n", row);
	snprintf(message, sizeof(message), "t.tsv:2: %s", what);
	expect_error(table__read_functions, text, strlen(text), message);
}

#endif
