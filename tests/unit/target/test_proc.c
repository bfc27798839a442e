// SPDX-License-Identifier: BSD-2-Clause
// What /proc reports about processes: odd names, stopped ones, families, ends.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "target/command_line.h"
#include "target/proc_maps.h"
#include "target/proc.h"
#include "target/process_memory.h"
#include "target/process_root.h"

static bool contains(const struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->pids[i] == pid)
			return true;
	}
	return false;
}

static uint64_t boottime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A child with the name `name`, which waits, and ends with this process. */
static pid_t start_child(const char *name)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void knows_itself(void **state)
{
	struct process_info info;
	char path[64];

	(void)state;
	assert_int_equal(proc__info(getpid(), &info), 0);
	assert_int_equal(info.pid, getpid());
	assert_int_equal(info.parent, getppid());
	assert_int_equal(info.state, 'R');
	assert_true(info.start_ns <= boottime());
	assert_true(info.start_ns + 600000000000ull > boottime());
	assert_true(proc__exists(getpid()));
	proc__exe_path(getpid(), path, sizeof(path));
	assert_int_equal(access(path, R_OK), 0);
	assert_int_equal(proc__pid_below(getpid(), 0), getpid());
	assert_int_equal(proc__pid_below(getpid(), 100), 0);
}

static void odd_names_are_read(void **state)
{
	static const char *const names[] = {"a) R 1 (b", ") S 0", "(", "two\nlines", " ", "plain"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint64_t before = boottime();
		pid_t pid = start_child(names[i]);
		struct process_info info;

		assert_int_equal(proc__info(pid, &info), 0);
		assert_string_equal(info.comm, names[i]);
		assert_int_equal(info.parent, getpid());
		/* The kernel's unit is a hundredth of a second. */
		assert_true(info.start_ns + 10000000 > before && info.start_ns <= boottime());
		end_child(pid);
	}
}

static void states_are_reported(void **state)
{
	pid_t pid = start_child("stopped");
	struct process_info info;

	(void)state;
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	assert_int_equal(proc__info(pid, &info), 0);
	assert_int_equal(info.state, 'T');
	assert_true(proc__exists(pid));
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc__info(pid, &info), 0);
	assert_int_equal(info.state, 'Z');
	assert_false(proc__exists(pid));
	waitpid(pid, NULL, 0);
	assert_int_equal(proc__info(pid, &info), -ESRCH);
	assert_false(proc__exists(pid));
}

static void *wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* A child whose main thread has ended, while another continues. */
static pid_t start_headless(void)
{
	char path[64], target[1];
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, wait_for_ever, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	assert_true(pid > 0);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	while (readlink(path, target, sizeof(target)) >= 0)
		usleep(1000);
	return pid;
}

static int count_mapping(const struct mapping *mapping, void *arg)
{
	(void)mapping;
	++*(int *)arg;
	return 0;
}

static void one_goes_on_without_its_main_thread(void **state)
{
	pid_t pid = start_headless();
	struct process_root *root;
	struct process_info info, own;
	int mappings = 0, there = 0;
	char path[64];

	(void)state;
	assert_int_equal(proc__info(pid, &info), 0);
	assert_int_equal(proc__info(getpid(), &own), 0);
	assert_int_equal(info.pid, pid);
	/* The remaining thread may be just before its pause. */
	assert_true(info.state == 'S' || info.state == 'R');
	assert_true(info.image == own.image);
	assert_true(proc__exists(pid));
	assert_int_not_equal(proc__living_thread(pid), pid);
	assert_int_equal(proc__of_thread(proc__living_thread(pid)), pid);
	assert_int_equal(proc_maps__each(pid, count_mapping, &mappings), 0);
	assert_true(mappings > 3);
	/* A forked child has the same at the same address. */
	assert_int_equal(
		process_memory__read(pid, (uint64_t)(uintptr_t)&proc__info, &there, sizeof(there)),
		0);
	assert_memory_equal(&there, (void *)(uintptr_t)&proc__info, sizeof(there));
	proc__exe_path(pid, path, sizeof(path));
	assert_int_equal(access(path, R_OK), 0);
	assert_int_equal(process_root__open(pid, &root), 0);
	process_root__free(root);
	end_child(pid);
	assert_int_equal(proc__living_thread(pid), pid);
}

static void nobody_is_esrch(void **state)
{
	struct process_info info;

	(void)state;
	assert_int_equal(proc__info(0, &info), -ESRCH);
	assert_int_equal(proc__info(-1, &info), -ESRCH);
	assert_int_equal(proc__info(999999999, &info), -ESRCH);
}

static void lists_processes(void **state)
{
	pid_t pid = start_child("listed");
	struct pid_list list;

	(void)state;
	assert_int_equal(proc__list(&list), 0);
	assert_true(contains(&list, getpid()));
	assert_true(contains(&list, pid));
	for (size_t i = 1; i < list.count; i++)
		assert_true(list.pids[i - 1] < list.pids[i]);
	pid_list__clear(&list);
	end_child(pid);
}

/* A child with a child of its own, whose pid it writes. */
static pid_t start_family(pid_t *grandchild)
{
	int out[2];
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		pid_t inner;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		inner = start_child("inner");
		if (write(out[1], &inner, sizeof(inner)) != sizeof(inner))
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(out[0], grandchild, sizeof(*grandchild)), sizeof(*grandchild));
	close(out[0]);
	close(out[1]);
	return pid;
}

static void finds_descendants(void **state)
{
	pid_t inner, outer = start_family(&inner), other = start_child("other");
	struct pid_list list;

	(void)state;
	assert_int_equal(proc__descendants(getpid(), &list), 0);
	assert_int_equal(list.count, 3);
	assert_true(contains(&list, outer) && contains(&list, inner) && contains(&list, other));
	pid_list__clear(&list);
	assert_int_equal(proc__descendants(outer, &list), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.pids[0], inner);
	pid_list__clear(&list);
	assert_int_equal(proc__descendants(inner, &list), 0);
	assert_int_equal(list.count, 0);
	pid_list__clear(&list);
	assert_int_equal(proc__descendants_of((pid_t[]){outer, inner, other, getpid()}, 4, &list),
			 0);
	assert_int_equal(list.count, 3);
	assert_true(contains(&list, outer) && contains(&list, inner) && contains(&list, other));
	pid_list__clear(&list);
	assert_int_equal(proc__descendants_of((pid_t[]){inner, other}, 2, &list), 0);
	assert_int_equal(list.count, 0);
	pid_list__clear(&list);
	end_child(outer);
	end_child(other);
}

static void knows_its_namespace(void **state)
{
	struct pid_namespace namespace;
	char link[64], expected[64];
	ssize_t n;

	(void)state;
	assert_int_equal(proc__own_namespace(&namespace), 0);
	n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);
	assert_true(n > 0);
	link[n] = '\0';
	snprintf(expected, sizeof(expected), "pid:[%llu]", (unsigned long long)namespace.inode);
	assert_string_equal(link, expected);
	assert_true(namespace.device != 0);
	assert_int_equal(namespace.depth, 0);
}

/* More run time after some work; none for a thread that does not exist. */
static void test_run_time(void **state)
{
	struct run_time before, after;
	volatile unsigned int work = 0;

	(void)state;
	assert_int_equal(proc__run_time(getpid(), &before), 0);
	do {
		work++;
		assert_int_equal(proc__run_time(getpid(), &after), 0);
	} while (after.ran_ns < before.ran_ns + 1000000);
	assert_true(after.waited_ns >= before.waited_ns);
	assert_int_equal(proc__run_time(0x7ffffff0, &after), -ESRCH);
}

/*
 * Children of the calling process will be in a time namespace with an offset of this many seconds.
 */
static bool unshare_time(int seconds)
{
	int fd;
	bool set;

	if (unshare(CLONE_NEWTIME))
		return false;
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	set = fd >= 0 && dprintf(fd, "boottime %d 5\n", seconds) > 0;
	close(fd);
	return set;
}

/*
 * In the namespace: returns a letter for what is wrong. The parent has read the same before, in the
 * kernel's time.
 */
static char look_inside(int seconds, const struct process_info *seen, uint64_t before)
{
	struct process_info info;
	struct error err = {""};

	clock__find_kernels();
	if (clock__check(&err) ||
	    boottime() / 1000000000 + 60 < before / 1000000000 + (uint64_t)(int64_t)seconds)
		return 'n'; /* no such namespace */
	if (clock__boot_ns() < before || clock__boot_ns() > before + 3600 * NS_PER_S)
		return 'c';
	if (proc__info(seen->pid, &info) || info.start_ns > seen->start_ns + 10 * NS_PER_MS ||
	    seen->start_ns > info.start_ns + 10 * NS_PER_MS)
		return 's';
	/* Between two namespaces: /proc shows the other's offset. */
	if (!unshare_time(seconds + 7))
		return 'u';
	clock__find_kernels();
	return clock__check(&err) == -EXDEV && strstr(err.text, "--fork") ? '.' : 'x';
}

/* In a time namespace the kernel's time is reported. */
static void reports_the_kernels_time(void **state)
{
	static const int offsets[] = {1000000, -20};

	(void)state;
	if (geteuid())
		skip();
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		struct process_info seen;
		pid_t child;
		int status;

		assert_int_equal(proc__info(getpid(), &seen), 0);
		child = fork();
		if (!child) {
			uint64_t before = clock__boot_ns();

			if (!unshare_time(offsets[i]))
				_exit('u');
			clock__find_kernels();
			if (clock__check(NULL) || clock__boot_ns() < before)
				_exit('b'); /* only its children are inside */
			child = fork();
			if (!child)
				_exit(look_inside(offsets[i], &seen, before));
			waitpid(child, &status, 0);
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 'k');
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), '.');
	}
}

/* Its words separated by blanks, cut if there is no more room; an empty one gives none. */
static void reports_the_command_line(void **state)
{
	struct process_info info;
	char text[64], few[6];
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/bin/sleep", "sleep", "30", (char *)NULL);
		_exit(1);
	}
	/* It has its new name before it has its new memory. */
	for (int i = 0; i < 10000; i++) {
		assert_int_equal(proc__info(pid, &info), 0);
		if (!strcmp(info.comm, "sleep") &&
		    !command_line__read(NULL, &info, text, sizeof(text)) &&
		    !strcmp(text, "sleep 30"))
			break;
		usleep(1000);
	}
	assert_string_equal(text, "sleep 30");
	assert_int_equal(command_line__read(NULL, &info, few, sizeof(few)), 0);
	assert_string_equal(few, "sleep");
	info.arguments_end = info.arguments;
	assert_int_equal(command_line__read(NULL, &info, text, sizeof(text)), -ENODATA);
	assert_string_equal(text, "");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_time),
		cmocka_unit_test(knows_itself),
		cmocka_unit_test(odd_names_are_read),
		cmocka_unit_test(states_are_reported),
		cmocka_unit_test(one_goes_on_without_its_main_thread),
		cmocka_unit_test(nobody_is_esrch),
		cmocka_unit_test(lists_processes),
		cmocka_unit_test(finds_descendants),
		cmocka_unit_test(knows_its_namespace),
		cmocka_unit_test(reports_the_kernels_time),
		cmocka_unit_test(reports_the_command_line),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
