// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that opens its driver with dlopen and needs nothing else: it can be linked statically,
 * and with musl.
 *
 *   opened DRIVER HOW [waits]
 *
 * HOW: plain          the main thread calls
 *      ended-first    the main thread ends, then another one opens the driver
 *      ended-after    the main thread opens the driver, calls and ends; then another thread opens
 *                     it anew and calls
 *
 * It allocates 10 times, frees 9 of them, and launches 27 times. With "waits" it prints READY,
 * OPENED and DONE, and waits for a line each time: before it opens the driver, before it calls, and
 * after that. The addresses are made up: the driver may do nothing.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALLOCATIONS 10
#define LAUNCHES 27

static const char *path;
static bool waits;

static void *need(void *found, const char *what)
{
	if (found)
		return found;
	fprintf(stderr, "%s: %s\n", what, dlerror());
	_exit(1);
}

static void say(const char *word)
{
	char line[16];

	if (!waits)
		return;
	puts(word);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		_exit(2);
}

static void call(void)
{
	static unsigned long next = 0x700000000000;
	void *driver = need(dlopen(path, RTLD_NOW), path);
	int (*init)(unsigned int) = need(dlsym(driver, "cuInit"), "cuInit");
	int (*allocate)(unsigned long *, size_t) =
		need(dlsym(driver, "cuMemAlloc_v2"), "cuMemAlloc_v2");
	int (*release)(unsigned long) = need(dlsym(driver, "cuMemFree_v2"), "cuMemFree_v2");
	int (*launch)(void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
		      unsigned int, unsigned int, void *, void **, void **) =
		need(dlsym(driver, "cuLaunchKernel"), "cuLaunchKernel");
	unsigned long first = next, address;

	say("OPENED");
	init(0);
	for (int i = 0; i < ALLOCATIONS; i++) {
		address = next;
		next += 4096;
		allocate(&address, 100 * ((size_t)i + 1));
	}
	for (int i = 0; i < ALLOCATIONS - 1; i++)
		release(first + 4096 * (unsigned long)i);
	for (int i = 0; i < LAUNCHES; i++)
		launch((void *)0x1000, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	dlclose(driver);
}

/* Once the main thread has ended, /proc no longer shows the process's program. */
static void await_end_of_main(void)
{
	char link[64], target[1];

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)getpid());
	while (readlink(link, target, sizeof(target)) >= 0)
		usleep(1000);
}

static void *go_on(void *unused)
{
	(void)unused;
	await_end_of_main();
	say("READY");
	call();
	say("DONE");
	exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	path = argv[1];
	waits = argc > 3;
	if (strcmp(argv[2], "ended-first") != 0) {
		say("READY");
		call();
		say("DONE");
	}
	if (!strcmp(argv[2], "plain"))
		return 0;
	if (pthread_create(&thread, NULL, go_on, NULL))
		return 3;
	pthread_exit(NULL);
}
