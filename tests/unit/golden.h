/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares output with files that a person has checked, tests/unit/golden; GOLDEN=write writes them
 * anew. Include it after cmocka.h.
 */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole file, malloc. */
static inline char *golden_contents(FILE *file, size_t *length)
{
	char *text = NULL;

	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*length = (size_t)ftell(file);
	rewind(file);
	text = calloc(1, *length + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, *length, file), *length);
	return text;
}

static inline void expect_golden(const char *name, const char *text, size_t length)
{
	const char *mode = getenv("GOLDEN");
	bool writes = mode && !strcmp(mode, "write");
	size_t expected_length;
	char path[256], *expected;
	FILE *file;

	snprintf(path, sizeof(path), "tests/unit/golden/%s", name);
	file = fopen(path, writes ? "w+" : "r");
	assert_non_null(file);
	if (writes)
		assert_int_equal(fwrite(text, 1, length, file), length);
	expected = golden_contents(file, &expected_length);
	fclose(file);
	/* The length comes last, since a failure shows the texts. */
	assert_string_equal(text, expected);
	assert_int_equal(length, expected_length);
	free(expected);
}

#endif
