// SPDX-License-Identifier: BSD-2-Clause
/*
 * stuck WAY [FLAGS]: a program that gets stuck in one of several ways (main below). Just before it
 * gets stuck, each such thread prints
 *
 *   READY TID FUNCTION LINE
 *
 * with the function and the line of the program that it hangs in. In most ways the simulator hangs
 * the call (CUDA_SIM_HANG, see lib/dump.py) and SIGUSR1 resumes it; the other ways go on after a
 * line on stdin. Then the program checks that its data are unchanged and prints "right SUM". FLAGS
 * are cudaSetDeviceFlags'.
 */
#define _GNU_SOURCE
#include "cuda_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))
/* The call must be on the line that is printed. */
#define HANG(...) (say_ready(__func__, __LINE__), __VA_ARGS__)
#define NEED(...) need(__VA_ARGS__, #__VA_ARGS__)

#define COUNT 4096
#define LAUNCHES 200
#define CHILD_STATUS 7

static int host[COUNT];
static void *device;
static cudaStream_t stream;
static cudaEvent_t event;
static cudaKernel_t kernel;

static void need(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", what, result);
	exit(1);
}

static void say_ready(const char *function, int line)
{
	printf("READY %d %s %d\n", gettid(), function, line);
	fflush(stdout);
}

static NOINLINE void wait_for_stream(void)
{
	NEED(HANG(cudaStreamSynchronize(stream)));
}

static NOINLINE void wait_for_event(void)
{
	NEED(HANG(cudaEventSynchronize(event)));
}

static NOINLINE void wait_for_device(void)
{
	NEED(HANG(cudaDeviceSynchronize()));
}

static NOINLINE void copy_back(void)
{
	static int copy[COUNT];

	NEED(HANG(cudaMemcpy(copy, device, sizeof(copy), cudaMemcpyDeviceToHost)));
	NEED(memcmp(copy, host, sizeof(host)));
}

/* The last launch finds the queue full. */
static NOINLINE void fill_queue(void)
{
	static const dim3 one = {1, 1, 1};

	for (int i = 1; i <= LAUNCHES; i++) {
		if (i == LAUNCHES)
			say_ready(__func__, __LINE__ + 1);
		NEED(cudaLaunchKernel((const void *)kernel, one, one, NULL, 0, stream));
	}
}

static NOINLINE void allocate_more(void)
{
	void *more;

	NEED(HANG(cudaMalloc(&more, 1 << 20)));
	NEED(cudaFree(more));
}

static NOINLINE void load_module(void)
{
	static const char code[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry "
				   "late()\n{\n\tret;\n}\n";
	cudaLibrary_t library;

	NEED(HANG(cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0)));
	NEED(cudaLibraryUnload(library));
}

/*
 * Two threads, each holding the lock that the other wants: one in a CUDA callback, the other
 * between two calls.
 */
static pthread_mutex_t of_callback = PTHREAD_MUTEX_INITIALIZER,
		       of_other = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold;
static int crossings;

static void give_way(int number)
{
	(void)number;
	pthread_mutex_unlock(&of_callback);
}

static NOINLINE void on_host(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&of_callback);
	pthread_barrier_wait(&both_hold);
	HANG(pthread_mutex_lock(&of_other));
	crossings++;
	pthread_mutex_unlock(&of_other);
}

static void *call_back(void *unused)
{
	NEED(cudaLaunchHostFunc(stream, on_host, NULL));
	return unused;
}

static NOINLINE void lock_between_calls(void)
{
	pthread_mutex_lock(&of_other);
	pthread_barrier_wait(&both_hold);
	HANG(pthread_mutex_lock(&of_callback));
	crossings++;
	pthread_mutex_unlock(&of_callback);
	pthread_mutex_unlock(&of_other);
}

static void *call_cuda(void *unused)
{
	NEED(cudaStreamQuery(stream));
	lock_between_calls();
	NEED(cudaStreamQuery(stream));
	return unused;
}

static NOINLINE void cross_locks(void)
{
	pthread_t threads[2];
	char line[16];

	signal(SIGUSR2, give_way);
	pthread_barrier_init(&both_hold, NULL, 2);
	NEED(pthread_create(&threads[0], NULL, call_back, NULL) ||
	     pthread_create(&threads[1], NULL, call_cuda, NULL));
	NEED(read(STDIN_FILENO, line, sizeof(line)) <= 0);
	NEED(pthread_kill(threads[0], SIGUSR2));
	NEED(pthread_join(threads[0], NULL) || pthread_join(threads[1], NULL) || crossings != 2);
}

/* A child that answers when a line has arrived. */
static pid_t child;
static int answers[2];

static void start_child(void)
{
	char line[16];

	NEED(pipe(answers));
	child = fork();
	if (child)
		return;
	if (read(STDIN_FILENO, line, sizeof(line)) <= 0 || write(answers[1], line, 1) != 1)
		_exit(1);
	_exit(CHILD_STATUS);
}

static NOINLINE void wait_for_child(void)
{
	int status;

	NEED(HANG(waitpid(child, &status, 0)) != child || WEXITSTATUS(status) != CHILD_STATUS);
}

static NOINLINE void read_from_child(void)
{
	char answer;

	NEED(HANG(read(answers[0], &answer, 1)) != 1);
}

typedef int init_fn(void **comm, int ranks, int rank);
typedef int reduce_fn(const void *from, void *to, size_t count, int type, int operation, void *comm,
		      cudaStream_t stream);

static NOINLINE void reduce_gradients(void)
{
	void *library = dlopen("libnccl.so.2", RTLD_NOW), *comm = NULL;
	init_fn *init = library ? (init_fn *)dlsym(library, "ncclCommInitRank") : NULL;
	reduce_fn *reduce = library ? (reduce_fn *)dlsym(library, "ncclAllReduce") : NULL;

	NEED(!init || !reduce || init(&comm, 2, 0));
	NEED(HANG(reduce(device, device, COUNT, 2, 0, comm, stream)));
}

static void prepare(unsigned int flags)
{
	static const char code[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry "
				   "step()\n{\n\tret;\n}\n";
	cudaLibrary_t library;

	if (flags)
		NEED(cudaSetDeviceFlags(flags));
	for (int i = 0; i < COUNT; i++)
		host[i] = i * 7;
	NEED(cudaMalloc(&device, sizeof(host)));
	NEED(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
	NEED(cudaStreamCreate(&stream));
	NEED(cudaEventCreate(&event));
	NEED(cudaEventRecord(event, stream));
	NEED(cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
	NEED(cudaLibraryGetKernel(&kernel, library, "step"));
}

static void finish(void)
{
	static int copy[COUNT];
	long sum = 0;

	NEED(cudaMemcpy(copy, device, sizeof(copy), cudaMemcpyDeviceToHost));
	NEED(memcmp(copy, host, sizeof(host)));
	for (int i = 0; i < COUNT; i++)
		sum += copy[i];
	printf("right %ld\n", sum);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {
		{"stream", wait_for_stream}, {"event", wait_for_event},
		{"device", wait_for_device}, {"copy", copy_back},
		{"launch", fill_queue},	     {"allocate", allocate_more},
		{"load", load_module},	     {"deadlock", cross_locks},
		{"child", wait_for_child},   {"pipe", read_from_child},
		{"nccl", reduce_gradients},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(argv[1], ways[i].name))
			continue;
		if (ways[i].run == wait_for_child || ways[i].run == read_from_child)
			start_child();
		prepare(argc > 2 ? (unsigned int)atoi(argv[2]) : 0);
		ways[i].run();
		finish();
		return 0;
	}
	fprintf(stderr, "stuck: no such way\n");
	return 2;
}
