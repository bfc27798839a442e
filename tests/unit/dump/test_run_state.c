// SPDX-License-Identifier: BSD-2-Clause
// Whether threads run, by the kernel's bits, and a control group that is frozen.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump/run_state.h"
#include "target/cgroup_place.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* What Linux 6.18 has been seen to set, and 6.1 to 6.18 can. */
static void bits_tell(void **state)
{
	static const struct {
		uint32_t bits;
		enum dump_run run;
	} samples[] = {
		{0x0000, DUMP_READY},
		{0x0001, DUMP_SLEEPS},
		{0x2001, DUMP_SLEEPS}, /* may be frozen meanwhile */
		{0x0002, DUMP_SLEEPS_ON},
		{0x2002, DUMP_SLEEPS_ON},
		{0x0102, DUMP_SLEEPS_ON}, /* TASK_KILLABLE */
		{0x0402, DUMP_SLEEPS},	  /* TASK_IDLE */
		{0x1000, DUMP_SLEEPS_ON}, /* TASK_RTLOCK_WAIT */
		{0x0104, DUMP_STOPPED},
		{0x0008, DUMP_TRACED},
		{0x0108, DUMP_TRACED},
		{0x0200, DUMP_READY}, /* TASK_WAKING */
		{0x0800, DUMP_READY}, /* TASK_NEW */
		{0x8000, DUMP_FROZEN}};

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		struct thread_look *look = test_calloc(1, sizeof(*look));

		look->state = samples[i].bits;
		assert_int_equal(run_state__of(look), samples[i].run);
		look->on_cpu = 1;
		assert_int_equal(run_state__of(look), DUMP_RUNS);
		test_free(look);
	}
}

/* --- a group of this test's own --- */

static char group[64];

static int write_group(const char *file, const char *text)
{
	char path[128];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/%s", group, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ret = fd >= 0 && write(fd, text, strlen(text)) > 0 ? 0 : -1;
	close(fd);
	return ret;
}

/* Freezing is done when it is done: the kernel tells when. */
static void wait_until_frozen(pid_t pid, bool frozen)
{
	for (int i = 0; i < 1000 && run_state__in_frozen_group(pid) != frozen; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	assert_int_equal(run_state__in_frozen_group(pid), frozen);
}

static void frozen_groups_are_told(void **state)
{
	const char *mount = cgroup_place__mount();
	char text[16];
	pid_t pid;

	(void)state;
	if (!mount)
		skip();
	snprintf(group, sizeof(group), "%s/gpuprobe-test-%d", mount, (int)getpid());
	if (mkdir(group, 0755))
		skip();
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(text, sizeof(text), "%d", (int)pid);
	assert_int_equal(write_group("cgroup.procs", text), 0);
	assert_false(run_state__in_frozen_group(pid));
	assert_int_equal(write_group("cgroup.freeze", "1"), 0);
	wait_until_frozen(pid, true);
	assert_false(run_state__in_frozen_group(getpid()));
	assert_int_equal(write_group("cgroup.freeze", "0"), 0);
	wait_until_frozen(pid, false);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(run_state__in_frozen_group(pid));
	assert_int_equal(rmdir(group), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_tell),
		cmocka_unit_test(frozen_groups_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
