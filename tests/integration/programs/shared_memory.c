// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes that share their memory (CLONE_VM without CLONE_THREAD). One allocates 10 times 100
 * bytes, one frees 5 of them and launches 7 times, and the first launches 3 times.
 *
 *   shared_memory DRIVER HOW [waits]
 *
 * HOW: child     a child frees
 *      nested    a child of the child frees
 *      first     the child allocates, before its parent has called anything; the parent frees
 *      sibling   as child, but its parent is the parent of the one that it shares with
 *                (CLONE_PARENT)
 *      spawned   as child, and a child by vfork launches once more
 *      outlives  as child, but the parent ends before that, without its launches
 *
 * The addresses are made up: the driver may do nothing. With "waits" it prints READY and waits for
 * a line once the driver is open, prints ready for a child and waits for a line before the child
 * calls, and prints DONE and waits at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOCATIONS 10
#define BASE 0x700000000000

static int (*allocate)(unsigned long *, size_t);
static int (*release)(unsigned long);
static int (*launch)(void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
		     unsigned int, unsigned int, void *, void **, void **);
static const char *how;
static bool waits;
static volatile bool done;

static bool is(const char *name)
{
	return !strcmp(how, name);
}

/* Uses only system calls: a child without thread-local storage of its own prints it, too. */
static void say(const char *word)
{
	char byte = 0;

	if (!waits)
		return;
	if (write(STDOUT_FILENO, word, strlen(word)) < 0)
		_exit(2);
	while (byte != '\n')
		if (read(STDIN_FILENO, &byte, 1) != 1)
			_exit(2);
}

static void *need(void *driver, const char *name)
{
	void *found = dlsym(driver, name);

	if (!found) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		_exit(1);
	}
	return found;
}

static void allocate_all(void)
{
	for (unsigned long i = 0; i < ALLOCATIONS; i++) {
		unsigned long address = BASE + 4096 * i;

		allocate(&address, 100);
	}
}

static void free_some(void)
{
	for (unsigned long i = 0; i < 5; i++)
		release(BASE + 4096 * i);
	for (int i = 0; i < 7; i++)
		launch((void *)0x1000, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void start(int (*work)(void *), void *arg, int flags)
{
	char *stack = malloc(65536);
	pid_t pid = stack ? clone(work, stack + 65536, CLONE_VM | SIGCHLD | flags, arg) : -1;

	if (pid < 0)
		_exit(3);
	if (flags || is("outlives"))
		return;
	waitpid(pid, NULL, 0);
}

static int be_child(void *arg)
{
	if (arg) {
		start(be_child, NULL, 0);
		return 0;
	}
	say("ready\n");
	if (is("outlives"))
		while (kill(getppid(), 0) == 0 && getppid() != 1)
			usleep(1000);
	if (is("first"))
		allocate_all();
	else
		free_some();
	if (is("outlives"))
		say("DONE\n");
	done = true;
	return 0;
}

static void launch_from_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		launch((void *)0x1000, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	void *driver = dlopen(argv[1], RTLD_NOW);

	if (!driver) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	how = argv[2];
	waits = argc > 3;
	allocate = need(driver, "cuMemAlloc_v2");
	release = need(driver, "cuMemFree_v2");
	launch = need(driver, "cuLaunchKernel");
	say("READY\n");
	if (!is("first"))
		allocate_all();
	start(be_child, is("nested") ? driver : NULL, is("sibling") ? CLONE_PARENT : 0);
	if (is("outlives"))
		_exit(0);
	while (!done)
		usleep(1000);
	if (is("first"))
		free_some();
	if (is("spawned"))
		launch_from_vfork();
	for (int i = 0; i < 3; i++)
		launch((void *)0x1000, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	say("DONE\n");
	return 0;
}
