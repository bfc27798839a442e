// SPDX-License-Identifier: BSD-2-Clause
/*
 * made_up WHAT COUNT [wait]: a program that makes up COUNT things for gpuprobe to keep, with the
 * libcuda of made_up_driver.c.
 *
 *   errors   COUNT error codes, with one failed free each
 *   kernels  COUNT kernel handles without names, with one launch each
 *   memory   COUNT allocations of 4,096 bytes, none of which is freed
 *   usual    what a program does: COUNT launches of 20 kernels with names, memory, copies and waits
 *   again    starts `usual` again and again, one after the other, until it is killed
 *
 * With `wait` it prints READY afterwards, and ends after a line on stdin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNELS 20
#define FIRST_HANDLE 0x10000

extern int made_up_result;
extern unsigned long made_up_value;

int cuInit(unsigned int flags);
int cuMemAlloc_v2(unsigned long *pointer, size_t size);
int cuMemFree_v2(unsigned long pointer);
int cuMemcpyHtoD_v2(unsigned long to, const void *from, size_t size);
int cuCtxSynchronize(void);
int cuModuleLoadData(unsigned long *module, const void *image);
int cuModuleGetFunction(unsigned long *function, unsigned long module, const char *name);
int cuLaunchKernel(unsigned long function, unsigned int gx, unsigned int gy, unsigned int gz,
		   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
		   void *stream, void **arguments, void **extra);

static void launch(unsigned long handle)
{
	cuLaunchKernel(handle, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static unsigned long handle_of(long number)
{
	return FIRST_HANDLE + 16 * (unsigned long)number;
}

static void make_errors(long count)
{
	for (long i = 1; i <= count; i++) {
		made_up_result = (int)i;
		cuMemFree_v2((unsigned long)i);
	}
	made_up_result = 0;
}

static void make_kernels(long count)
{
	for (long i = 0; i < count; i++)
		launch(handle_of(i));
}

static void make_memory(long count)
{
	unsigned long pointer;

	for (long i = 0; i < count; i++) {
		made_up_value = 0x100000000000 + 4096 * (unsigned long)i;
		cuMemAlloc_v2(&pointer, 4096);
	}
}

static void load_kernels(void)
{
	unsigned long module, function;
	char name[32];

	cuModuleLoadData(&module, "");
	for (long i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "_Z9kernel_%02ldPfi", i);
		made_up_value = handle_of(i);
		cuModuleGetFunction(&function, module, name);
	}
}

static void run_as_usual(long count)
{
	unsigned long pointer;
	char data[256] = "";

	load_kernels();
	made_up_value = 0x700000000000;
	cuMemAlloc_v2(&pointer, 4096);
	for (long i = 0; i < count; i++) {
		cuMemcpyHtoD_v2(pointer, data, sizeof(data));
		launch(handle_of(i % KERNELS));
		if (i % 16 == 0)
			cuCtxSynchronize();
	}
	cuMemFree_v2(pointer);
}

static void run_again(const char *program, char *count)
{
	char *words[] = {(char *)program, "usual", count, NULL};
	pid_t child;

	for (;;) {
		child = fork();
		if (!child) {
			execv(program, words);
			_exit(127);
		}
		if (child < 0 || waitpid(child, NULL, 0) < 0)
			exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	if (!strcmp(what, "again"))
		run_again("/proc/self/exe", argv[2]);
	cuInit(0);
	if (!strcmp(what, "errors"))
		make_errors(count);
	else if (!strcmp(what, "kernels"))
		make_kernels(count);
	else if (!strcmp(what, "memory"))
		make_memory(count);
	else if (!strcmp(what, "usual"))
		run_as_usual(count);
	else
		return 2;
	if (argc > 3) {
		puts("READY");
		fflush(stdout);
		getchar();
	}
	return 0;
}
