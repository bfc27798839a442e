// SPDX-License-Identifier: BSD-2-Clause
// One stack of native and Python frames.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stack/merge.h"

static const struct merge_ranges ranges = {0x10000, 0x20000, 0x11000, 0x12000};

#define EVAL 0x11500
#define INTERPRETER 0x15000
#define NATIVE(n) (0x700000 + (n))

/*
 * The merged stack as text: native frames n0 n1 by their index, Python's p0 p1; `entries` has |
 * after an entry.
 */
static const char *merged(const uint64_t *native, uint32_t depth, const char *entries)
{
	static char text[512];
	struct merged_frame frames[64];
	uint32_t count = 0;
	bool entry[32] = {0};
	size_t n, at = 0;

	for (const char *c = entries; *c; c++) {
		if (*c == '|')
			entry[count - 1] = true;
		else
			count++;
	}
	n = python_merge(native, depth, entry, count, &ranges, frames);
	assert_true(n <= depth + count);
	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%c%u", i ? " " : "",
				       frames[i].python ? 'p' : 'n', frames[i].index);
	return text;
}

#define MERGED(entries, ...) \
	merged((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8, \
	       entries)

static void in_place_of_the_interpreter(void **state)
{
	(void)state;
	assert_string_equal(
		MERGED("ppp|", NATIVE(0), NATIVE(1), INTERPRETER, EVAL, INTERPRETER, NATIVE(2)),
		"n0 n1 p0 p1 p2 n5");
	/*
	 * However many frames one call of it runs, the next call's frames follow after its native
	 * caller.
	 */
	assert_string_equal(MERGED("ppppp|pp|", NATIVE(0), EVAL, NATIVE(1), EVAL, NATIVE(2)),
			    "n0 p0 p1 p2 p3 p4 n2 p5 p6 n4");
}

/* Python, C, Python: each call of the interpreter has its own frames. */
static void python_through_c(void **state)
{
	(void)state;
	assert_string_equal(MERGED("p|pp|p|", NATIVE(0), EVAL, INTERPRETER, NATIVE(1), NATIVE(2),
				   EVAL, INTERPRETER, EVAL, NATIVE(3)),
			    "n0 p0 n3 n4 p1 p2 p3 n8");
}

/* Up to 3.10 each frame is a call. */
static void a_call_each(void **state)
{
	(void)state;
	assert_string_equal(
		MERGED("p|p|p|", NATIVE(0), EVAL, INTERPRETER, EVAL, NATIVE(1), EVAL, NATIVE(2)),
		"n0 p0 p1 n4 p2 n6");
}

static void stacks_that_could_not_be_followed(void **state)
{
	(void)state;
	assert_string_equal(MERGED("pp|p|", NATIVE(0), NATIVE(1)), "n0 n1 p0 p1 p2");
	assert_string_equal(MERGED("p|p|", NATIVE(0), INTERPRETER, NATIVE(1)), "n0 p0 p1 n2");
	assert_string_equal(MERGED("p|p|", NATIVE(0), EVAL, NATIVE(1)), "n0 p0 p1 n2");
	/* More calls than Python frames: those were cut. */
	assert_string_equal(MERGED("p|p", NATIVE(0), EVAL, NATIVE(1), EVAL, NATIVE(2), EVAL, EVAL),
			    "n0 p0 n2 p1 n4");
	assert_string_equal(MERGED("", NATIVE(0), EVAL, NATIVE(1)), "n0 n2");
	assert_string_equal(merged(NULL, 0, "pp|"), "p0 p1");
}

/* The interpreter's last instruction may be a call: the return address is then after it. */
static void bounds(void **state)
{
	(void)state;
	assert_string_equal(MERGED("p|", NATIVE(0), 0x12000, NATIVE(1)), "n0 p0 n2");
	assert_string_equal(MERGED("p|p|", NATIVE(0), 0x20000, NATIVE(1), 0x10000),
			    "n0 p0 p1 n2 n3");
	assert_string_equal(MERGED("p|", 0x20000, NATIVE(1)), "p0 n1");
	assert_string_equal(MERGED("p|", 0x20001, NATIVE(1)), "n0 n1 p0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_place_of_the_interpreter),
		cmocka_unit_test(python_through_c),
		cmocka_unit_test(a_call_each),
		cmocka_unit_test(stacks_that_could_not_be_followed),
		cmocka_unit_test(bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
