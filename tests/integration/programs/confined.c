// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process that forks, or executes a program, while it uses CUDA. It prints "ready", waits for a
 * line, and then does one of:
 *
 *   fork      three threads allocate and free, one waits for a second. Meanwhile a child is forked,
 *             which allocates 1,000 times at once and sets memory 100 times when its parent tells
 *             it to. Every call of the child fails: CUDA does not work in it
 *   exec      100 allocations, then a thread that is not the first executes the program anew, with
 *             "once"
 *   once      100 allocations
 *   spawn     as fork without threads, but the child executes the program anew, with "once"
 *
 * At its end it prints how many allocations it has made.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_api.h"

#define THREADS 3

static CUcontext context;
static CUfunction kernel;
static CUdeviceptr memory;
static atomic_bool stop;
static atomic_ulong allocations;
static const char *self;

static void need(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", what, result);
	_exit(1);
}

static void start(void)
{
	static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry "
				   "confined()\n{\n\tret;\n}\n";
	CUmodule module;

	need((int)cuInit(0), "cuInit");
	need((int)cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
	need((int)cuCtxSetCurrent(context), "cuCtxSetCurrent");
	need((int)cuModuleLoadData(&module, text), "cuModuleLoadData");
	need((int)cuModuleGetFunction(&kernel, module, "confined"), "cuModuleGetFunction");
}

/*
 * Each allocation has a launch, whose return is not followed: only the probes tell it from a second
 * one.
 */
static void allocate(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		CUdeviceptr address;

		need((int)cuMemAlloc(&address, 4096), "cuMemAlloc");
		allocations++;
		need((int)cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
		     "cuLaunchKernel");
		need((int)cuMemFree(address), "cuMemFree");
	}
}

static void *allocate_on(void *unused)
{
	(void)unused;
	need((int)cuCtxSetCurrent(context), "cuCtxSetCurrent");
	while (!stop) {
		allocate(1);
		usleep(50);
	}
	return NULL;
}

static void *wait_long(void *unused)
{
	(void)unused;
	need((int)cuCtxSetCurrent(context), "cuCtxSetCurrent");
	need((int)cuCtxSynchronize(), "cuCtxSynchronize");
	return NULL;
}

static void wait_for_line(void)
{
	char line[16];

	if (!fgets(line, sizeof(line), stdin))
		_exit(2);
}

static void be_child(int from_parent)
{
	CUdeviceptr address;
	char byte;

	for (int i = 0; i < 1000; i++)
		if (cuMemAlloc(&address, 4096) != 3)
			_exit(6);
	if (read(from_parent, &byte, 1) != 1)
		_exit(3);
	for (int i = 0; i < 100; i++)
		if (cuMemsetD8(memory, 0, 4096) != 3)
			_exit(6);
	_exit(0);
}

static void need_child(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || status) {
		fprintf(stderr, "the child ended with %#x\n", status);
		_exit(1);
	}
}

static void forks(void)
{
	pthread_t threads[THREADS], waiting;
	int to_child[2];
	pid_t child;

	need((int)cuMemAlloc(&memory, 4096), "cuMemAlloc");
	allocations++;
	need(pipe(to_child), "pipe");
	for (int i = 0; i < THREADS; i++)
		need(pthread_create(&threads[i], NULL, allocate_on, NULL), "pthread_create");
	need(pthread_create(&waiting, NULL, wait_long, NULL), "pthread_create");
	usleep(300000);
	child = fork();
	if (!child)
		be_child(to_child[0]);
	printf("forked %d\n", child);
	fflush(stdout);
	wait_for_line();
	if (write(to_child[1], "", 1) != 1)
		_exit(1);
	need_child(child);
	stop = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(waiting, NULL);
}

static void *execute(void *unused)
{
	(void)unused;
	execl(self, self, "once", NULL);
	_exit(4);
}

static void spawns(void)
{
	pid_t child;

	allocate(100);
	child = fork();
	if (!child)
		execute(NULL);
	need_child(child);
	allocate(100);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	self = argv[0];
	start();
	printf("ready\n");
	fflush(stdout);
	wait_for_line();
	if (!strcmp(how, "fork"))
		forks();
	else if (!strcmp(how, "spawn"))
		spawns();
	else
		allocate(100);
	printf("parent %lu\n", allocations);
	fflush(stdout);
	if (strcmp(how, "exec"))
		return 0;
	need(pthread_create(&thread, NULL, execute, NULL), "pthread_create");
	pthread_join(thread, NULL);
	return 5;
}
