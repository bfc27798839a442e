// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that switch stacks inside CUDA calls, by the driver API. Calls that sleep
 * (CUDA_SIM_LATENCY) switch there, as with libraries that replace blocking system calls.
 *
 *   coroutines N GAP   N coroutines, stacks of 64 KiB, GAP KiB apart; each makes five allocations,
 *                      waits and frees
 *   downwards N GAP    the same, the first one's stack above the others'
 *   signal WHERE       ten waits, in each of which a handler on an alternate stack WHERE (above,
 *                      below) allocates and frees
 *   away WHERE         ten waits by such a handler, which jumps out of them; then twenty
 *                      allocations
 *   left               a coroutine is abandoned inside a wait, and its stack freed; then twenty
 *                      allocations
 *   stays              twenty allocations, none on another stack
 *   cancel             a thread with a clean-up handler is cancelled in a wait
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "cuda_api.h"

#define STACK_SIZE (64 << 10)
#define COROUTINES_MAX 8
#define ROUNDS 5

static CUcontext context;
static ucontext_t first, coroutines[COROUTINES_MAX];
static bool done[COROUTINES_MAX];
static int count, current = -1, given_way;
static bool raises, jumps, cancels, in_handler;
static sigjmp_buf away;

static void check(CUresult result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: error %d\n", what, result);
	_exit(1);
}

/* The next unfinished coroutine; -1: there is no other. */
static int next_coroutine(void)
{
	for (int i = 1; i < count; i++)
		if (!done[(current + i) % count])
			return (current + i) % count;
	return -1;
}

static void give_way(void)
{
	int own = current, next = next_coroutine();

	if (next < 0)
		return;
	given_way++;
	current = next;
	swapcontext(&coroutines[own], &coroutines[next]);
}

/* Replaces libc's: the simulated driver sleeps with it. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	if (current >= 0)
		give_way();
	if (raises && !in_handler)
		raise(SIGUSR1);
	if (jumps && in_handler)
		siglongjmp(away, 1);
	if (cancels)
		sleep(20); /* a raw system call is no cancellation point */
	return syscall(SYS_clock_nanosleep, clock, flags, time, rest) ? errno : 0;
}

static void allocate(int times)
{
	CUdeviceptr memory;

	while (times--) {
		check(cuMemAlloc_v2(&memory, 1000), "cuMemAlloc_v2");
		check(cuMemFree_v2(memory), "cuMemFree_v2");
	}
}

static void work(void)
{
	CUdeviceptr memory;
	int next;

	for (int i = 0; i < ROUNDS; i++) {
		check(cuMemAlloc_v2(&memory, 1000), "cuMemAlloc_v2");
		check(cuCtxSynchronize(), "cuCtxSynchronize");
		check(cuMemFree_v2(memory), "cuMemFree_v2");
	}
	done[current] = true;
	next = next_coroutine();
	if (next < 0)
		setcontext(&first);
	current = next;
	setcontext(&coroutines[next]);
}

static void *stacks_of(int number, size_t gap)
{
	void *area = mmap(NULL, number * (STACK_SIZE + gap), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		exit(1);
	return area;
}

static void run_coroutines(int number, size_t gap, bool downwards)
{
	char *area = stacks_of(number, gap);
	volatile bool ran = false;

	count = number;
	for (int i = 0; i < count; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp =
			area + (downwards ? count - 1 - i : i) * (STACK_SIZE + gap);
		coroutines[i].uc_stack.ss_size = STACK_SIZE;
		makecontext(&coroutines[i], work, 0);
	}
	getcontext(&first);
	if (!ran) {
		ran = true;
		current = 0;
		setcontext(&coroutines[0]);
	}
	current = -1;
	if (!given_way)
		exit(1);
}

static void on_signal(int number)
{
	(void)number;
	in_handler = true;
	if (jumps)
		check(cuCtxSynchronize(), "cuCtxSynchronize");
	else
		allocate(1);
	in_handler = false;
}

static void catch_on(void *stack)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = STACK_SIZE};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

static void run_signals(void *stack)
{
	catch_on(stack);
	raises = true;
	for (int i = 0; i < 10; i++)
		check(cuCtxSynchronize(), "cuCtxSynchronize");
	raises = false;
}

static void run_jumps(void *stack)
{
	volatile int left = 10;

	catch_on(stack);
	jumps = true;
	sigsetjmp(away, 1);
	in_handler = false;
	if (left-- > 0)
		raise(SIGUSR1);
	jumps = false;
	allocate(20);
}

static void leave(void)
{
	check(cuCtxSynchronize(), "cuCtxSynchronize");
}

/* The second coroutine continues where the first switches away for good. */
static void run_left(void)
{
	char *area = stacks_of(1, 0);
	volatile bool ran = false;

	count = 2;
	getcontext(&coroutines[0]);
	coroutines[0].uc_stack.ss_sp = area;
	coroutines[0].uc_stack.ss_size = STACK_SIZE;
	makecontext(&coroutines[0], leave, 0);
	getcontext(&coroutines[1]);
	if (!ran) {
		ran = true;
		current = 0;
		setcontext(&coroutines[0]);
	}
	current = -1;
	munmap(area, STACK_SIZE);
	allocate(20);
}

static void on_cancel(void *cleaned)
{
	*(bool *)cleaned = true;
}

static void *wait_long(void *cleaned)
{
	check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	pthread_cleanup_push(on_cancel, cleaned);
	check(cuCtxSynchronize(), "cuCtxSynchronize");
	pthread_cleanup_pop(0);
	return NULL;
}

static int run_cancel(void)
{
	pthread_t thread;
	bool cleaned = false;

	cancels = true;
	pthread_create(&thread, NULL, wait_long, &cleaned);
	usleep(300000);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	return cleaned ? 0 : 3;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char above[STACK_SIZE];
	CUdevice device;
	int status = 0;

	check(cuInit(0), "cuInit");
	check(cuDeviceGet(&device, 0), "cuDeviceGet");
	check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	if (!strcmp(what, "coroutines") || !strcmp(what, "downwards"))
		run_coroutines(atoi(argv[2]), (size_t)atoi(argv[3]) << 10, *what == 'd');
	else if (!strcmp(what, "signal"))
		run_signals(*argv[2] == 'a' ? above : stacks_of(1, 0));
	else if (!strcmp(what, "away"))
		run_jumps(*argv[2] == 'a' ? above : stacks_of(1, 0));
	else if (!strcmp(what, "left"))
		run_left();
	else if (!strcmp(what, "stays"))
		allocate(20);
	else
		status = run_cancel();
	return status;
}
