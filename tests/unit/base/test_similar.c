// SPDX-License-Identifier: BSD-2-Clause
// Which word a mistyped one was meant to be, and which words are too far away.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/similar.h"

static const char *const words[] = {
	"duration", "display-interval", "interval", "json", "top", "stat",
	"trace",    "memleak",		"fp"};

static const char *meant(const char *word)
{
	return similar__find(word, words, sizeof(words) / sizeof(*words));
}

static void a_letter_too_many_too_few_or_another(void **state)
{
	(void)state;
	assert_string_equal(meant("durration"), "duration");
	assert_string_equal(meant("duratin"), "duration");
	assert_string_equal(meant("jzon"), "json");
	assert_string_equal(meant("JSON"), "json");
	assert_string_equal(meant("stats"), "stat");
	assert_string_equal(meant("intervall"), "interval");
}

/* Four letters may have one mistake: without swaps this would be two. */
static void letters_swapped(void **state)
{
	(void)state;
	assert_string_equal(meant("tsat"), "stat");
	assert_string_equal(meant("jsno"), "json");
	assert_string_equal(meant("tarce"), "trace");
	assert_string_equal(meant("duratoin"), "duration");
}

static void the_end_of_a_word(void **state)
{
	static const char *const names[] = {"cudaMalloc", "cudaMallocHost"};

	(void)state;
	assert_string_equal(similar__find("Malloc", names, 2), "cudaMalloc");
}

static void the_beginning_of_one_word(void **state)
{
	static const char *const names[] = {"diagnose", "diff", "memory"};

	(void)state;
	assert_string_equal(meant("dur"), "duration");
	assert_string_equal(similar__find("diag", names, 3), "diagnose");
	assert_string_equal(similar__find("mem", names, 3), "memory");
	assert_null(similar__find("di", names, 3));
	assert_null(similar__find("me", names, 3));
	assert_null(similar__find("mem", (const char *const[]){"memory", "memleak"}, 2));
}

static void nothing_is_similar(void **state)
{
	char longest[200];

	(void)state;
	assert_null(meant(""));
	assert_null(meant("train.py"));
	assert_null(meant("tp"));
	assert_null(meant("gz"));
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_null(meant(longest));
	/* A candidate may be of any length. */
	assert_null(similar__find("a", (const char *const[]){longest}, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_letter_too_many_too_few_or_another),
		cmocka_unit_test(letters_swapped),
		cmocka_unit_test(the_end_of_a_word),
		cmocka_unit_test(the_beginning_of_one_word),
		cmocka_unit_test(nothing_is_similar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
