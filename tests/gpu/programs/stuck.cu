// SPDX-License-Identifier: BSD-2-Clause
/*
 * stuck WAY [FLAGS]: a program that gets stuck behind a kernel which does not end, or waits for
 * something else, in one of several ways (main below). Just before it gets stuck, each such thread
 * prints
 *
 *   READY TID FUNCTION LINE
 *
 * with the function and the line of the program that it hangs in. A line on stdin ends the kernel.
 * Then the program checks that its data are unchanged and prints "right". FLAGS are
 * cudaSetDeviceFlags'. If a call returned although the kernel still ran, it prints RETURNED. For
 * tests/gpu/dump.py.
 */
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))
/* The call must be on the line that is printed. */
#define HANG(...) (say_ready(__func__, __LINE__), __VA_ARGS__)
#define NEED(...) need(__VA_ARGS__, #__VA_ARGS__)

static const int COUNT = 4096, LAUNCHES = 8192, CHILD_STATUS = 7;

static int host[COUNT];
static int *device, *pinned;
static volatile int *go; /* mapped memory, which the kernel sees */
static cudaStream_t stream;
static cudaEvent_t event;
static pid_t child;

static __global__ void spin(volatile int *until)
{
	while (!*until)
		;
}

static __global__ void step(int *values)
{
	values[threadIdx.x] += 0;
}

static void need(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", what, result);
	_exit(1);
}

static void say_ready(const char *function, int line)
{
	printf("READY %d %s %d\n", gettid(), function, line);
	fflush(stdout);
}

static NOINLINE void wait_for_stream()
{
	NEED(HANG(cudaStreamSynchronize(stream)));
}

static NOINLINE void wait_for_event()
{
	NEED(HANG(cudaEventSynchronize(event)));
}

static NOINLINE void wait_for_device()
{
	NEED(HANG(cudaDeviceSynchronize()));
}

static NOINLINE void copy_back()
{
	NEED(HANG(cudaMemcpy(pinned, device, sizeof(host), cudaMemcpyDeviceToHost)));
}

/* One of the launches finds the queue full. */
static NOINLINE void fill_queue()
{
	int *values = device;
	void *arguments[] = {&values};

	say_ready(__func__, __LINE__ + 2);
	for (int i = 0; i < LAUNCHES; i++)
		NEED(cudaLaunchKernel((const void *)step, dim3(1), dim3(1), arguments, 0, stream));
}

static NOINLINE void free_memory()
{
	void *more;

	NEED(cudaMalloc(&more, 1 << 20));
	NEED(HANG(cudaFree(more)));
}

static NOINLINE void load_module()
{
	static const char code[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 4 .b8 big[4194304];\n"
				   ".visible .entry other()\n{\n\tret;\n}\n";
	cudaLibrary_t library;
	size_t bytes;
	void *at;

	NEED(cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
	NEED(HANG(cudaLibraryGetGlobal(&at, &bytes, library, "big")));
	NEED(cudaLibraryUnload(library));
}

/* The callback needs the lock held by the thread that waits for its stream. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void CUDART_CB on_host(void *)
{
	HANG(pthread_mutex_lock(&lock));
	pthread_mutex_unlock(&lock);
}

static NOINLINE void wait_with_lock()
{
	pthread_mutex_lock(&lock);
	NEED(cudaLaunchHostFunc(stream, on_host, NULL));
	NEED(HANG(cudaStreamSynchronize(stream)));
}

static NOINLINE void wait_for_child()
{
	int status;

	NEED(HANG(waitpid(child, &status, 0)) != child || WEXITSTATUS(status) != CHILD_STATUS);
}

/* Lets the kernel end. */
static void *listen_for_go(void *)
{
	char line[16];

	NEED(read(STDIN_FILENO, line, sizeof(line)) <= 0);
	*go = 1;
	pthread_mutex_trylock(&lock); /* the waiting thread may hold it */
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* A child that answers when a line has arrived. It is forked before CUDA is used. */
static void start_child()
{
	char line[16];

	child = fork();
	if (child)
		return;
	NEED(read(STDIN_FILENO, line, sizeof(line)) <= 0);
	_exit(CHILD_STATUS);
}

static void prepare(unsigned int flags, bool behind_kernel)
{
	pthread_t listener;
	void *mapped;

	NEED(cudaSetDeviceFlags(cudaDeviceMapHost | flags));
	NEED(cudaHostAlloc(&mapped, sizeof(int), cudaHostAllocMapped));
	go = (volatile int *)mapped;
	*go = 0;
	for (int i = 0; i < COUNT; i++)
		host[i] = i * 7;
	NEED(cudaMallocHost(&pinned, sizeof(host)));
	NEED(cudaMalloc(&device, sizeof(host)));
	NEED(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
	NEED(cudaStreamCreate(&stream));
	NEED(cudaEventCreate(&event));
	step<<<1, 1, 0, stream>>>(device);
	NEED(cudaStreamSynchronize(stream));
	if (!child)
		NEED(pthread_create(&listener, NULL, listen_for_go, NULL));
	if (behind_kernel)
		spin<<<1, 1, 0, stream>>>(go);
	NEED(cudaEventRecord(event, stream));
}

static void finish()
{
	if (!child && !*go) {
		puts("RETURNED");
		fflush(stdout);
		while (!*go)
			usleep(1000);
	}
	NEED(cudaMemcpy(pinned, device, sizeof(host), cudaMemcpyDeviceToHost));
	NEED(memcmp(pinned, host, sizeof(host)));
	puts("right");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} ways[] = {
		{"stream", wait_for_stream}, {"event", wait_for_event},	  {"device", wait_for_device}, {"copy", copy_back},
		{"launch", fill_queue},	     {"free", free_memory},       {"load", load_module},
		{"deadlock", wait_with_lock}, {"child", wait_for_child},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(argv[1], ways[i].name))
			continue;
		if (ways[i].run == wait_for_child)
			start_child();
		prepare(argc > 2 ? (unsigned int)atoi(argv[2]) : 0,
			ways[i].run != wait_for_child && ways[i].run != wait_with_lock);
		ways[i].run();
		finish();
		return 0;
	}
	fprintf(stderr, "stuck: no such way\n");
	return 2;
}
