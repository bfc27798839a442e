// SPDX-License-Identifier: BSD-2-Clause
// When a thread last ran: the text of /proc/TID/sched, and a child that sleeps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "target/last_run.h"
#include "target/proc.h"

static void test_parse(void **state)
{
	(void)state;
	assert_int_equal(last_run__parse("cat (7640, #threads: 1)\n"
					 "-------\n"
					 "se.exec_start      :      13859935.045278\n"
					 "se.vruntime        :         26771.351103\n"),
			 13859935045278);
	assert_int_equal(last_run__parse("x (1, #threads: 1)\nse.vruntime : 1.000000\n"), 0);
	assert_int_equal(last_run__parse("x\nse.exec_start : none\n"), 0);
	assert_int_equal(last_run__parse("x\nse.exec_start : 18446744073709551615.000000\n"), 0);
	assert_int_equal(last_run__parse(""), 0);
}

static void sleep_for(uint64_t ns)
{
	struct timespec left = {.tv_nsec = (long)ns};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static bool sleeps(pid_t pid)
{
	struct process_info info;

	return !proc__info(pid, &info) && info.state == 'S';
}

/* Its last run was after its birth, and before this process saw it asleep. */
static void test_a_child_that_sleeps(void **state)
{
	struct cpu_clocks *clocks = cpu_clocks__new();
	uint64_t ago = 0, born = clock__boot_ns(), slept = 100 * NS_PER_MS;
	int ends[2], ret;
	pid_t child;
	char byte;

	(void)state;
	assert_non_null(clocks);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	while (!sleeps(child))
		sleep_for(NS_PER_MS);
	sleep_for(slept);
	ret = last_run__ago(clocks, child, &ago);
	close(ends[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(ends[0]);
	cpu_clocks__free(clocks);
	if (ret == -ENODATA)
		skip();
	assert_int_equal(ret, 0);
	assert_true(ago > 0);
	assert_true(ago <= clock__boot_ns() - born);
}

static void test_no_thread(void **state)
{
	struct cpu_clocks *clocks = cpu_clocks__new();
	uint64_t ago = 7;

	(void)state;
	assert_int_equal(last_run__ago(clocks, INT32_MAX, &ago), -ENODATA);
	assert_int_equal(ago, 7);
	cpu_clocks__free(clocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_a_child_that_sleeps),
		cmocka_unit_test(test_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
