// SPDX-License-Identifier: BSD-2-Clause
// Threads that wait for child processes.
#include <asm/unistd_64.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "dump/waiting_scene.h"
#include "no_valgrind.h"
#include "target/proc.h"

/* The process ends with its parent, which may already be gone. */
static void end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

static pid_t start_grandchild(void)
{
	pid_t parent = getpid(), pid;

	/* Inherited by the grandchild: it may be looked at as soon as it exists. */
	prctl(PR_SET_NAME, "grandchild");
	pid = fork();
	if (pid == 0) {
		end_with(parent);
		wait_forever();
	}
	return pid;
}

static void wait_for_child(void)
{
	waitpid(start_grandchild(), NULL, 0);
}

static void wait_for_any_child(void)
{
	start_grandchild();
	waitpid(-1, NULL, 0);
}

static void wait_for_id(void)
{
	siginfo_t info;

	waitid(P_PID, (id_t)start_grandchild(), &info, WEXITED);
}

static void wait_for_pidfd(void)
{
	siginfo_t info;

	waitid((idtype_t)3 /* P_PIDFD */, (id_t)syscall(SYS_pidfd_open, start_grandchild(), 0),
	       &info, WEXITED);
}

static void clone_like_vfork(void)
{
	pid_t parent = getpid();

	if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
		end_with(parent);
		wait_forever();
	}
}

static void check_grandchild(const struct dump_waiting *waiting, pid_t pid)
{
	struct process_info info;

	assert_int_equal(waiting->kind, DUMP_WAIT_CHILD);
	assert_int_equal(proc__info(waiting->other, &info), 0);
	assert_int_equal(info.parent, pid);
}

static void children_are_reported(void **state)
{
	static const struct {
		void (*work)(void);
		uint64_t number;
		bool which;
	} samples[] = {{wait_for_child, __NR_wait4, true},
		       {wait_for_any_child, __NR_wait4, false},
		       {wait_for_id, __NR_waitid, true},
		       {wait_for_pidfd, __NR_waitid, true},
		       {clone_like_vfork, __NR_clone, false}};

	(void)state;
	not_under_valgrind();
	for (size_t i = 0; i < COUNT(samples); i++) {
		pid_t pid = start_child(samples[i].work);
		struct thread_look *look = look_at(pid, samples[i].number);
		struct dump_waiting waiting = find_by(pid, look);

		if (samples[i].which)
			check_grandchild(&waiting, pid);
		assert_int_equal(waiting.kind, DUMP_WAIT_CHILD);
		assert_true(samples[i].which || (!waiting.other && !waiting.other_comm[0]));
		free(look);
		end_child(pid);
	}
}

static int inside_fd; /* where the process in its own pid namespace reports that it is running */

/*
 * The first process of a namespace ends with the one that waits for it, and so do all others
 * inside.
 */
static void wait_in_namespace(void)
{
	int ready[2];
	pid_t pid;
	char byte;

	if (unshare(CLONE_NEWPID) || pipe(ready))
		_exit(1);
	pid = fork();
	if (pid == 0) {
		/* Its parent, outside the namespace, has pid 0 for it, gone or not. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		wait_for_child();
		_exit(1);
	}
	if (read(ready[0], &byte, 1) != 1)
		_exit(1);
	if (write(inside_fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	wait_forever();
}

/* Such a process's own pid is 2 or so; gpuprobe sees another number. */
static void pids_of_a_namespace_are_translated(void **state)
{
	struct dump_waiting waiting;
	struct thread_look *look;
	pid_t pid, inside;
	int ends[2];

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(pipe(ends), 0);
	inside_fd = ends[1];
	pid = start_child(wait_in_namespace);
	assert_int_equal(read(ends[0], &inside, sizeof(inside)), sizeof(inside));
	look = look_at(inside, __NR_wait4);
	assert_int_equal(look->argument[0], 2);
	waiting = find_by(inside, look);
	check_grandchild(&waiting, inside);
	assert_string_equal(waiting.other_comm, "grandchild");
	look->argument[0] = 77;
	waiting = find_by(inside, look);
	assert_int_equal(waiting.kind, DUMP_WAIT_CHILD);
	assert_int_equal(waiting.other, 0);
	free(look);
	end_child(pid);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_reported),
		cmocka_unit_test(pids_of_a_namespace_are_translated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
