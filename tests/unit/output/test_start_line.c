// SPDX-License-Identifier: BSD-2-Clause
// The lines at the start of commands that run for a while (output/start_line.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/start_line.h"

static void expect_busy(double load, long cpus, const char *expected)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	start_line__print_busy(out, load, cpus);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* Each CPU has more than four threads to run. */
static void says_that_the_machine_is_busy(void **state)
{
	(void)state;
	expect_busy(0, 2, "");
	expect_busy(8, 2, "");
	expect_busy(8.6, 2,
		    "gpuprobe: the machine is busy (load 9 on 2 CPUs): starting takes longer\n");
	expect_busy(35, 1,
		    "gpuprobe: the machine is busy (load 35 on 1 CPU): starting takes longer\n");
	expect_busy(35, 64, "");
}

static void expect_start(const struct start_line *start, const char *expected)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	start_line__print(out, start);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* What is watched includes the filters of the command line. */
static void says_what_is_watched(void **state)
{
	const int32_t pids[] = {12, 34};

	(void)state;
	expect_start(&(struct start_line){.interval = 5, .only = ""},
		     "gpuprobe: watching the CUDA calls of all processes, a report every 5.0 s; "
		     "Ctrl-C ends with a last report\n");
	expect_start(&(struct start_line){.duration = 10, .only = "--uid 7 --comm \033"},
		     "gpuprobe: watching the CUDA calls of all processes (only --uid 7 --comm "
		     "\\x1b); ends after 10.0 s, or by Ctrl-C\n");
	/* No report comes before the one at the end. */
	expect_start(&(struct start_line){.duration = 5, .interval = 5, .only = ""},
		     "gpuprobe: watching the CUDA calls of all processes; ends after 5.0 s, or by "
		     "Ctrl-C\n");
	expect_start(&(struct start_line){.pids = pids, .pid_count = 2, .only = "--pod a"},
		     "gpuprobe: watching the CUDA calls of processes 12, 34 and their children "
		     "(only --pod a); ends with them, or by Ctrl-C\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_that_the_machine_is_busy),
		cmocka_unit_test(says_what_is_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
