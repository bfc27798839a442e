/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares a text with a file of tests/unit/golden that a person has checked; GOLDEN=write writes
 * the files anew. Include it after cmocka.h.
 */
#ifndef TESTS_GOLDEN_FILE_H
#define TESTS_GOLDEN_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file from its beginning (malloc), with a zero behind it. */
static inline char *golden_file__contents(FILE *file, size_t *length)
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

static inline void golden_file__expect(const char *name, const char *text, size_t length)
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
	expected = golden_file__contents(file, &expected_length);
	fclose(file);
	/* The length comes last, since a failure shows the texts. */
	assert_string_equal(text, expected);
	assert_int_equal(length, expected_length);
	free(expected);
}

#endif
