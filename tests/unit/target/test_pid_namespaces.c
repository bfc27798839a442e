// SPDX-License-Identifier: BSD-2-Clause
// Which pid namespaces have a process: a new one, until its processes are gone; and cases that
// cannot be determined.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "target/pid_namespaces.h"
#include "target/proc.h"

#define FIRST_NAMESPACE UINT64_C(4026531836)

static uint64_t own_namespace(void)
{
	struct pid_namespace own;

	assert_int_equal(proc__own_namespace(&own), 0);
	return own.inode;
}

/*
 * A waiting child in new namespaces of these kinds, which ends with this process; -1: not
 * permitted.
 */
static pid_t start_child(int flags)
{
	pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The number is not reused while it is open. */
static int open_namespace(pid_t pid, uint64_t *number)
{
	struct stat status;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	*number = status.st_ino;
	return fd;
}

static bool is_living(uint64_t number)
{
	struct pid_namespaces living;
	bool found;

	assert_int_equal(pid_namespaces__read(&living), 0);
	found = pid_namespaces__has(&living, number);
	pid_namespaces__clear(&living);
	assert_null(living.numbers);
	return found;
}

static void lives_as_long_as_its_process(void **state)
{
	uint64_t number;
	pid_t pid;
	int fd;

	(void)state;
	if (own_namespace() != FIRST_NAMESPACE)
		skip();
	pid = start_child(CLONE_NEWPID);
	if (pid < 0)
		skip();
	fd = open_namespace(pid, &number);
	assert_int_not_equal(number, FIRST_NAMESPACE);
	assert_int_equal(proc__depth(pid), 1);
	assert_true(is_living(number));
	assert_true(is_living(FIRST_NAMESPACE));
	end_child(pid);
	assert_int_equal(proc__depth(pid), -ESRCH);
	assert_true(is_living(FIRST_NAMESPACE));
	assert_false(is_living(number));
	close(fd);
}

/* Runs in a child, whose exit status it returns: 77 if the test is not permitted. */
static int status_of(int (*run)(void), int flags)
{
	pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	int status;

	if (pid < 0)
		return 77;
	if (!pid)
		_exit(run());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int read_here(void)
{
	struct pid_namespaces living;

	return -pid_namespaces__read(&living);
}

static int read_with_own_proc(void)
{
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("proc", "/proc", "proc", 0, NULL))
		return 77;
	return read_here();
}

static int read_with_hiding_proc(void)
{
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("proc", "/proc", "proc", 0, "hidepid=1"))
		return 77;
	return read_here();
}

static void expect_status(int (*run)(void), int flags, int expected)
{
	int status = status_of(run, flags);

	if (status == 77)
		skip();
	assert_int_equal(status, expected);
}

/* Its pids and namespaces are visible, but not all processes. */
static void cannot_be_reported_in_another(void **state)
{
	(void)state;
	expect_status(read_with_own_proc, CLONE_NEWPID | CLONE_NEWNS, EXDEV);
}

/* /proc belongs to the namespace above. */
static void cannot_be_reported_with_another_proc(void **state)
{
	(void)state;
	expect_status(read_here, CLONE_NEWPID, EXDEV);
}

static void cannot_be_reported_where_processes_hide(void **state)
{
	(void)state;
	if (own_namespace() != FIRST_NAMESPACE)
		skip();
	expect_status(read_with_hiding_proc, CLONE_NEWNS, EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lives_as_long_as_its_process),
		cmocka_unit_test(cannot_be_reported_in_another),
		cmocka_unit_test(cannot_be_reported_with_another_proc),
		cmocka_unit_test(cannot_be_reported_where_processes_hide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
