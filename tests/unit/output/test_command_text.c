// SPDX-License-Identifier: BSD-2-Clause
// Command lines without directories.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "output/command_text.h"

static void expect(const char *command, const char *expected)
{
	char text[64];

	command_text__shorten(command, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void test_directories(void **state)
{
	(void)state;
	expect("/opt/conda/bin/python3 /home/ann/train.py", "python3 train.py");
	expect("./bin/train --data data/set", "train --data data/set");
	expect("a  b", "a  b");
	expect("ls /home/ann/", "ls /home/ann/");
	expect("/", "/");
	expect("", "");
}

static void test_little_room(void **state)
{
	char text[8], least[1];

	(void)state;
	command_text__shorten("/bin/python3 -m x", text, sizeof(text));
	assert_string_equal(text, "python3");
	command_text__shorten("x", least, sizeof(least));
	assert_string_equal(least, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_little_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
