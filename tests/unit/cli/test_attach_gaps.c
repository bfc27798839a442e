// SPDX-License-Identifier: BSD-2-Clause
// Gaps of a trace: reported once, with the first line of the process or at the end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/commands/attach_gaps.h"

/* Captures what the gaps write to stderr between begin() and end(). */
static int saved;
static FILE *taken;

static void begin(void)
{
	fflush(stderr);
	saved = dup(STDERR_FILENO);
	taken = tmpfile();
	assert_non_null(taken);
	dup2(fileno(taken), STDERR_FILENO);
}

static void end(char *text, size_t size)
{
	size_t length;

	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(taken);
	length = fread(text, 1, size - 1, taken);
	text[length] = '\0';
	fclose(taken);
}

static size_t lines_of(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static void test_attach_gaps(void **state)
{
	const struct log log = {.level = LOG_WARN};
	struct attach_gaps *gaps = attach_gaps__new(clock__boot_ns(), &log);
	const struct trace_process one = {.number = 7, .pid = 100, .comm = "one"},
				   other = {.number = 8, .pid = 101},
				   later = {.number = 9,
					    .pid = INT32_MAX,
					    .start_ns = UINT64_MAX,
					    .comm = "later"},
				   none = {.number = 7 + 1024, .pid = 103, .comm = "none"};
	char text[4096];

	(void)state;
	assert_non_null(gaps);
	begin();
	attach_gaps__line(gaps, &one);
	for (int i = 0; i < 3; i++) {
		attach_gaps__add(gaps, 100);
		attach_gaps__add(gaps, INT32_MAX);
		attach_gaps__line(gaps, &one);
		attach_gaps__line(gaps, &none);
		attach_gaps__line(gaps, &one);
		attach_gaps__line(gaps, &later);
	}
	attach_gaps__add(gaps, 101);
	attach_gaps__line(gaps, &other);
	attach_gaps__report_rest(gaps);
	end(text, sizeof(text));
	attach_gaps__free(gaps);
	assert_int_equal(lines_of(text), 3);
	assert_non_null(strstr(text, "process 100 (one): calls before "));
	assert_non_null(strstr(text, "process 101: calls before "));
	assert_non_null(strstr(text, "process 2147483647: calls before "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_attach_gaps)};

	return cmocka_run_group_tests_name("trace gaps", tests, NULL, NULL);
}
