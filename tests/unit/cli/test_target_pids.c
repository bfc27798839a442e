// SPDX-License-Identifier: BSD-2-Clause
// Which of the target processes are reported as having made no CUDA call.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/session/target_pids.h"

#define MANY 20
#define NOBODY 2147483647 /* above the largest pid */

static void expect_text(const struct target_processes *targets, const char *expected)
{
	char text[SILENT_TEXT_SIZE];

	assert_int_equal(silent_targets__write(targets, text), *expected != '\0');
	assert_string_equal(text, expected);
}

static void sentences(void **unused)
{
	struct target_process processes[MANY] = {
		{.pid = 1, .comm = "one"}, {.pid = 2, .comm = "two"}, {.pid = 3, .comm = "three"}};
	struct target_processes targets = {.processes = processes};

	(void)unused;
	expect_text(&targets, "");
	targets.count = 1;
	expect_text(&targets, "process 1 (one): no CUDA call seen since attach");
	strcpy(processes[0].doing, "thread 1 is in cuInit");
	expect_text(&targets,
		    "process 1 (one): no CUDA call seen since attach: thread 1 is in cuInit");
	processes[0].doing[0] = '\0';
	targets.count = 3;
	processes[1].called = true;
	expect_text(&targets, "processes 1 (one), 3 (three): no CUDA call seen since attach");
	strcpy(processes[2].doing, "thread 3 is in cuInit");
	expect_text(&targets, "processes 1 (one), 3 (three): no CUDA call seen since attach; 3: "
			      "thread 3 is in cuInit");
	targets.unclear = true;
	expect_text(&targets, "");
	targets.unclear = false;
	processes[0].called = processes[2].called = true;
	expect_text(&targets, "");
}

static void many_are_counted(void **unused)
{
	struct target_process processes[MANY];
	struct target_processes targets = {.processes = processes, .count = MANY};
	char text[SILENT_TEXT_SIZE];

	(void)unused;
	for (int i = 0; i < MANY; i++)
		processes[i] =
			(struct target_process){.pid = NOBODY - i, .comm = "fifteen letters"};
	assert_true(silent_targets__write(&targets, text));
	assert_non_null(strstr(
		text, "2147483640 (fifteen letters) and 12 more: no CUDA call seen since attach"));
	assert_null(strstr(text, "2147483639"));
	/* There is room to report all eight. */
	for (int i = 0; i < MANY; i++)
		memset(processes[i].doing, 'x', sizeof(processes[i].doing) - 1);
	assert_true(silent_targets__write(&targets, text));
	assert_int_equal(text[strlen(text) - sizeof(processes->doing) + 1], 'x');
	assert_int_equal(text[strlen(text) - 1], 'x');
}

static void each_is_asked_for_once(void **unused)
{
	struct target_process processes[3];
	struct target_processes targets = {.processes = processes};

	(void)unused;
	target_pids__add(&targets, getpid());
	target_pids__add(&targets, getpid());
	target_pids__add(&targets, NOBODY);
	assert_int_equal(targets.count, 1);
	assert_int_equal(processes[0].pid, getpid());
}

/* A child's call counts for all of its ancestors. */
static void descendants(void **unused)
{
	struct target_process processes[3] = {
		{.pid = getppid()}, {.pid = getpid()}, {.pid = NOBODY}};
	struct target_processes targets = {.processes = processes, .count = 3};
	pid_t child = fork();

	(void)unused;
	if (!child) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	target_pids__see_call(&targets, child, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(processes[0].called && processes[1].called && !processes[2].called);
	assert_int_equal(silent_targets__count(&targets), 1);
}

/* An ended process is known by the parent that it had. */
static void an_ended_child(void **unused)
{
	struct target_process processes[2] = {{.pid = getpid()}, {.pid = NOBODY}};
	struct target_processes targets = {.processes = processes, .count = 2};

	(void)unused;
	target_pids__see_call(&targets, NOBODY - 1, getpid());
	assert_true(processes[0].called);
	assert_int_equal(silent_targets__count(&targets), 1);
}

/* Its ancestors are no longer known: it may descend from any of them. */
static void an_orphan(void **unused)
{
	struct target_process processes[1] = {{.pid = getpid()}};
	struct target_processes targets = {.processes = processes, .count = 1};

	(void)unused;
	target_pids__see_call(&targets, NOBODY, 0);
	assert_true(targets.unclear);
	assert_int_equal(silent_targets__count(&targets), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences),
		cmocka_unit_test(many_are_counted),
		cmocka_unit_test(each_is_asked_for_once),
		cmocka_unit_test(descendants),
		cmocka_unit_test(an_ended_child),
		cmocka_unit_test(an_orphan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
