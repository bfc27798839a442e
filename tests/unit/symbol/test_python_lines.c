// SPDX-License-Identifier: BSD-2-Clause
// Line tables in all formats: by hand, from this machine's interpreter, and random bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/python_lines.h"

static int line_at(enum python_lines form, const void *table, size_t size, int first_line,
		   uint32_t offset)
{
	/* Of exactly this size, so that a read beyond it is caught. */
	uint8_t *copy = malloc(size ? size : 1);
	int line;

	assert_non_null(copy);
	memcpy(copy, table, size);
	line = python_lines__find(form, copy, size, first_line, offset);
	free(copy);
	return line;
}

/* The steps follow the bytes: 0-5 line 10, 6-9 line 11, 10-265 line 9, from 266 on line 309. */
static void lnotab(void **state)
{
	static const uint8_t table[] = {6, 1, 4, 0xfe, 255, 0, 1, 127, 0, 127, 0, 46};
	static const struct {
		uint32_t offset;
		int line;
	} expected[] = {{0, 10},  {5, 10},  {6, 11},	{9, 11},    {10, 9},
			{264, 9}, {265, 9}, {266, 309}, {5000, 309}};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		assert_int_equal(
			line_at(PYTHON_LINES_LNOTAB, table, sizeof(table), 10, expected[i].offset),
			expected[i].line);
	assert_int_equal(line_at(PYTHON_LINES_LNOTAB, table, 0, 10, 7), 10);
	assert_int_equal(line_at(PYTHON_LINES_LNOTAB, table, 1, 10, 7), 10);
}

/*
 * The steps precede the bytes: 0-3 line 10, 4-9 line 8, 10-11 none, 12-265 and 266-267 line 135,
 * end.
 */
static void ranges(void **state)
{
	static const uint8_t table[] = {4, 0, 6, 0xfe, 2, 0x80, 0, 127, 254, 0, 2, 0};
	static const struct {
		uint32_t offset;
		int line;
	} expected[] = {
		{0, 10}, {3, 10},   {4, 8},	{9, 8},	    {10, 0},
		{11, 0}, {12, 135}, {265, 135}, {267, 135}, {268, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		assert_int_equal(
			line_at(PYTHON_LINES_RANGES, table, sizeof(table), 10, expected[i].offset),
			expected[i].line);
}

/* One entry of each kind. */
static void locations(void **state)
{
	static const uint8_t table[] = {
		0x80 | 3 << 3 | 1,
		0x25, /* short: 0-3, no step */
		0x80 | 11 << 3 | 0,
		4,
		9, /* one line: 4-5, +1 */
		0x80 | 13 << 3 | 7,
		0x40 | 2,
		3, /* no columns: 6-21, +97 */
		0x80 | 14 << 3 | 0,
		5,
		2,
		1,
		1,		    /* long: 22-23, -2, with an end line and columns */
		0x80 | 15 << 3 | 2, /* none: 24-29 */
		0x80 | 10 << 3 | 0,
		1,
		2, /* one line: 30-31, no step */
	};
	static const struct {
		uint32_t offset;
		int line;
	} expected[] = {
		{0, 10},   {3, 10}, {4, 11}, {5, 11},	{6, 108},  {21, 108}, {22, 106},
		{23, 106}, {24, 0}, {29, 0}, {30, 106}, {31, 106}, {32, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		assert_int_equal(line_at(PYTHON_LINES_LOCATIONS, table, sizeof(table), 10,
					 expected[i].offset),
				 expected[i].line);
}

/*
 * Prints for each code object: first line, table, and the line of each instruction according to
 * CPython itself.
 */
static const char script[] =
	"import sys, types, inspect, argparse, ast, json, typing, asyncio.base_events as events\n"
	"def walk(code):\n"
	"    yield code\n"
	"    for constant in code.co_consts:\n"
	"        if isinstance(constant, types.CodeType):\n"
	"            yield from walk(constant)\n"
	"for module in (inspect, argparse, ast, json, typing, events, types):\n"
	"    source = open(module.__file__, encoding='utf-8').read()\n"
	"    for code in walk(compile(source, module.__file__, 'exec')):\n"
	"        print(code.co_firstlineno, code.co_linetable.hex() or '-', end=' ')\n"
	"        print(*(f'{start}:{end}:{line or 0}' for start, end, line in code.co_lines()))\n";

static const char *next_word(char **at)
{
	return strsep(at, " \n");
}

static size_t from_hex(const char *text, uint8_t *bytes)
{
	size_t size = strlen(text) / 2;
	unsigned int byte;

	for (size_t i = 0; i < size; i++) {
		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return size;
}

/* Compares a line printed by the script; returns the number of instructions compared. */
static size_t compare(enum python_lines form, char *text)
{
	static uint8_t table[65536];
	int first_line = atoi(next_word(&text)), line;
	size_t size = from_hex(next_word(&text), table), compared = 0;
	unsigned int start, end;
	const char *word;

	while ((word = next_word(&text)) && *word) {
		assert_int_equal(sscanf(word, "%u:%u:%d", &start, &end, &line), 3);
		for (; start < end; start += 2, compared++) {
			if (python_lines__find(form, table, size, first_line, start) != line)
				fail_msg("byte %u of a function at %d: line %d instead of %d",
					 start, first_line,
					 python_lines__find(form, table, size, first_line, start),
					 line);
		}
	}
	return compared;
}

static void compare_with(const char *python, enum python_lines form, size_t at_least)
{
	char command[4096], *line = NULL;
	size_t room = 0, compared = 0;
	FILE *in;

	snprintf(command, sizeof(command), "%s -c \"%s\"", python, script);
	in = popen(command, "r");
	assert_non_null(in);
	while (getline(&line, &room, in) > 0)
		compared += compare(form, line);
	free(line);
	assert_int_equal(pclose(in), 0);
	assert_true(compared >= at_least);
}

/* Every instruction of several modules, with Debian's interpreter (3.11). */
static void against_the_interpreter(void **state)
{
	(void)state;
	compare_with("/usr/bin/python3", PYTHON_LINES_LOCATIONS, 50000);
}

/* Other interpreters if available: PYTHON_OF_3_10 and PYTHON_OF_3_13 name them. */
static void against_others(void **state)
{
	static const struct {
		const char *variable;
		enum python_lines form;
	} others[] = {
		{"PYTHON_OF_3_10", PYTHON_LINES_RANGES},
		{"PYTHON_OF_3_12", PYTHON_LINES_LOCATIONS},
		{"PYTHON_OF_3_13", PYTHON_LINES_LOCATIONS},
		{"PYTHON_OF_3_14", PYTHON_LINES_LOCATIONS},
	};
	bool any = false;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const char *python = getenv(others[i].variable);

		if (python)
			compare_with(python, others[i].form, 40000);
		any |= python != NULL;
	}
	if (!any)
		skip();
}

/* Whatever the bytes are, a line is none or positive, and nothing beyond them is read. */
static void random_bytes(void **state)
{
	uint8_t table[512];
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		size_t size = (size_t)rand_r(&seed) % sizeof(table);
		uint32_t offset = (uint32_t)rand_r(&seed) % 4096;

		for (size_t i = 0; i < size; i++)
			table[i] = (uint8_t)rand_r(&seed);
		/* Half of them with bytes that may begin an entry. */
		for (size_t i = 0; round % 2 && i < size; i += 1 + (size_t)rand_r(&seed) % 4)
			table[i] |= 0x80;
		for (int form = PYTHON_LINES_LNOTAB; form <= PYTHON_LINES_LOCATIONS; form++)
			assert_true(line_at(form, table, size, (int)(seed & 0xffff), offset) >= 0);
	}
	assert_int_equal(line_at(PYTHON_LINES_LOCATIONS + 1, table, 4, 1, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lnotab),	  cmocka_unit_test(ranges),
		cmocka_unit_test(locations),	  cmocka_unit_test(against_the_interpreter),
		cmocka_unit_test(against_others), cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
