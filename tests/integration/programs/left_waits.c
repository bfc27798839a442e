// SPDX-License-Identifier: BSD-2-Clause
/*
 * N waits for the legacy default stream that never return, by the driver API. Then the first thread
 * launches onto that stream while nobody waits for it:
 *
 *   leave N   threads that end in the middle of a wait
 *   jump N    jumps out of a wait
 *   deep N    jumps out of a wait, from further up the stack than the later launches
 *   stay N    as jump, but the thread then stays alive without making calls
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda_api.h"

#define LAUNCHES 10

static CUcontext context;
static CUfunction kernel;
static jmp_buf away;

/* Runs `run` during the thread's next call (sim/README.md). */
void cuda_sim_interrupt(unsigned int skip, void (*run)(void *), void *argument);

static void need(int result)
{
	if (result) {
		fprintf(stderr, "a CUDA call failed: %d\n", result);
		exit(1);
	}
}

static void launch(void)
{
	need((int)cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static void start(void)
{
	static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry "
				   "left_waits()\n{\n\tret;\n}\n";
	CUmodule module;

	need((int)cuInit(0));
	need((int)cuDevicePrimaryCtxRetain(&context, 0));
	need((int)cuCtxSetCurrent(context));
	need((int)cuModuleLoadData(&module, text));
	need((int)cuModuleGetFunction(&kernel, module, "left_waits"));
}

static void end_thread(void *unused)
{
	(void)unused;
	syscall(SYS_exit, 0);
}

static void *leave(void *unused)
{
	(void)unused;
	need((int)cuCtxSetCurrent(context));
	launch();
	cuda_sim_interrupt(0, end_thread, NULL);
	cuCtxSynchronize();
	return NULL;
}

static void jump_away(void *unused)
{
	(void)unused;
	longjmp(away, 1);
}

static void jump(void)
{
	cuda_sim_interrupt(0, jump_away, NULL);
	if (!setjmp(away))
		cuStreamSynchronize(NULL);
}

/* The next launch is further down the stack than the abandoned call. */
static __attribute__((noinline)) void launch_deep(unsigned int depth)
{
	volatile char room[256];

	memset((char *)room, 0, sizeof(room));
	if (depth)
		launch_deep(depth - 1);
	else
		launch();
	room[0] = 1;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3)
		return 2;
	start();
	for (unsigned long i = strtoul(argv[2], NULL, 10); i; i--) {
		if (strcmp(argv[1], "leave")) {
			jump();
			if (!strcmp(argv[1], "deep"))
				launch_deep(8);
		} else if (pthread_create(&thread, NULL, leave, NULL) ||
			   pthread_join(thread, NULL)) {
			return 1;
		}
	}
	while (!strcmp(argv[1], "stay"))
		pause();
	for (int i = 0; i < LAUNCHES; i++)
		launch();
	return 0;
}
