// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes whose threads start and end in unusual ways, by the driver API:
 *
 *   leaderless N     the first thread ends; another makes N launches and keeps an allocation
 *   exec N PROGRAM   a thread other than the first replaces the process, after N launches
 *   many N           N threads, 32 at a time, each with one launch and one pair of allocation and
 *                    free
 *   jump N           N allocations from which a signal handler jumps away, then N that succeed
 *   leave N          N threads, one after the other, that end in the middle of a launch
 *   inside N WHAT HOW [PROGRAM]
 *                    N launches, then a call of WHAT (launch, wait, alloc) in the middle of which
 *                    the process exits, execs PROGRAM or jumps away by longjmp; after a jump N more
 *                    launches
 *   again N          N frees from which the program jumps away, when the memory is free and its
 *                    address reused
 *   fork N           four threads launch while N children are forked, each of which makes one
 *                    attempt
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_api.h"

#define AT_A_TIME 32

static CUcontext context;
static CUfunction kernel;
static unsigned long number;
static char **arguments;
static sigjmp_buf away;
static atomic_bool enough;

/* From the simulated libcuda: on exec nothing else writes the truth file. */
void cuda_sim_write_truth(void);
/* Runs `run` during the thread's next call (sim/README.md). */
void cuda_sim_interrupt(unsigned int skip, void (*run)(void *), void *argument);

static void need(int result)
{
	if (result) {
		fprintf(stderr, "a CUDA call failed: %d\n", result);
		exit(1);
	}
}

static void launch(unsigned long count)
{
	while (count--)
		need((int)cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static void start(void)
{
	static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry "
				   "threads()\n{\n\tret;\n}\n";
	CUmodule module;

	need((int)cuInit(0));
	need((int)cuDevicePrimaryCtxRetain(&context, 0));
	need((int)cuCtxSetCurrent(context));
	need((int)cuModuleLoadData(&module, text));
	need((int)cuModuleGetFunction(&kernel, module, "threads"));
}

static void *without_leader(void *first)
{
	CUdeviceptr address;

	pthread_join(*(pthread_t *)first, NULL);
	need((int)cuCtxSetCurrent(context));
	need((int)cuMemAlloc(&address, 4321));
	launch(number);
	exit(0);
}

static void *replace(void *unused)
{
	(void)unused;
	need((int)cuCtxSetCurrent(context));
	launch(number);
	cuda_sim_write_truth();
	execv(arguments[0], arguments);
	_exit(1);
}

static void *once(void *unused)
{
	CUdeviceptr address;

	(void)unused;
	need((int)cuCtxSetCurrent(context));
	need((int)cuMemAlloc(&address, 64));
	launch(1);
	need((int)cuMemFree(address));
	return NULL;
}

static void many(void)
{
	pthread_t threads[AT_A_TIME];

	for (unsigned long done = 0; done < number; done += AT_A_TIME) {
		for (int i = 0; i < AT_A_TIME; i++)
			if (pthread_create(&threads[i], NULL, once, NULL))
				exit(1);
		for (int i = 0; i < AT_A_TIME; i++)
			pthread_join(threads[i], NULL);
	}
}

static void jump_away(int signal)
{
	(void)signal;
	siglongjmp(away, 1);
}

static void send_alarm(void *unused)
{
	(void)unused;
	raise(SIGALRM);
}

/* A signal comes in the middle of an allocation, and its handler jumps out of it. */
static void jump(void)
{
	CUdeviceptr address;

	signal(SIGALRM, jump_away);
	for (unsigned long i = 0; i < number; i++) {
		if (sigsetjmp(away, 1))
			continue;
		cuda_sim_interrupt(0, send_alarm, NULL);
		cuMemAllocManaged(&address, 100, 1);
		exit(1);
	}
	for (unsigned long i = 0; i < number; i++)
		need((int)cuMemAlloc(&address, 50));
}

static void give_away(void *memory)
{
	CUdeviceptr *address = memory;
	CUdeviceptr before = *address;

	need((int)cuMemFree(before));
	need((int)cuMemAlloc(address, 4096));
	if (*address != before)
		exit(3);
	siglongjmp(away, 1);
}

static void again(void)
{
	static CUdeviceptr address;

	for (unsigned long i = 0; i < number; i++) {
		need((int)cuMemAlloc(&address, 4096));
		if (!sigsetjmp(away, 1)) {
			cuda_sim_interrupt(0, give_away, &address);
			cuMemFree(address);
		}
		launch(1);
	}
}

static void end_thread(void *unused)
{
	(void)unused;
	syscall(SYS_exit, 0);
}

static void *leave_in_launch(void *unused)
{
	(void)unused;
	need((int)cuCtxSetCurrent(context));
	launch(1);
	cuda_sim_interrupt(0, end_thread, NULL);
	launch(1);
	return NULL;
}

static void leave(void)
{
	pthread_t thread;

	for (unsigned long i = 0; i < number; i++)
		if (pthread_create(&thread, NULL, leave_in_launch, NULL) ||
		    pthread_join(thread, NULL))
			exit(1);
}

static void end_inside(void *how)
{
	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "jump"))
		siglongjmp(away, 1);
	cuda_sim_write_truth();
	execv(arguments[2], arguments + 2);
	_exit(1);
}

static void inside(void)
{
	CUdeviceptr address;

	launch(number);
	if (!sigsetjmp(away, 1)) {
		cuda_sim_interrupt(0, end_inside, arguments[1]);
		if (!strcmp(arguments[0], "wait"))
			need((int)cuCtxSynchronize());
		else if (!strcmp(arguments[0], "alloc"))
			need((int)cuMemAlloc(&address, 64));
		else
			launch(1);
		exit(1);
	}
	launch(number);
}

static void *launch_on(void *unused)
{
	(void)unused;
	need((int)cuCtxSetCurrent(context));
	while (!atomic_load(&enough)) {
		launch(1);
		usleep(100);
	}
	return NULL;
}

/* A driver does not work in a forked child. */
static _Noreturn void try_once(void)
{
	CUdeviceptr address;

	if ((int)cuMemAlloc(&address, 64) != 3)
		_exit(1);
	cuda_sim_write_truth();
	_exit(0);
}

static void fork_beside_threads(void)
{
	pthread_t threads[4];
	int status;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, launch_on, NULL))
			exit(1);
	for (unsigned long i = 0; i < number; i++) {
		pid_t pid = fork();

		if (!pid)
			try_once();
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			exit(1);
	}
	atomic_store(&enough, true);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static _Noreturn void usage(void)
{
	fputs("usage: threads leaderless|exec|many|jump|again|leave|inside|fork N [ARG...]\n",
	      stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	static pthread_t self; /* the main stack is reused once its thread has ended */
	pthread_t thread;

	if (argc < 3)
		usage();
	self = pthread_self();
	number = strtoul(argv[2], NULL, 10);
	arguments = argv + 3;
	start();
	if (!strcmp(argv[1], "leaderless")) {
		if (pthread_create(&thread, NULL, without_leader, &self))
			return 1;
		pthread_exit(NULL);
	}
	if (!strcmp(argv[1], "exec") && argc > 3) {
		if (pthread_create(&thread, NULL, replace, NULL))
			return 1;
		pthread_join(thread, NULL);
		return 1;
	}
	if (!strcmp(argv[1], "many"))
		many();
	else if (!strcmp(argv[1], "jump"))
		jump();
	else if (!strcmp(argv[1], "again"))
		again();
	else if (!strcmp(argv[1], "leave"))
		leave();
	else if (!strcmp(argv[1], "inside") && argc > 4 && (argc > 5 || strcmp(argv[4], "exec")))
		inside();
	else if (!strcmp(argv[1], "fork"))
		fork_beside_threads();
	else
		usage();
	return 0;
}
