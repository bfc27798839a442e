// SPDX-License-Identifier: BSD-2-Clause
/*
 * CUDA calls from stacks that the program knows (known_stacks.h). Each call has its own number: the
 * bytes of an allocation, or the address of a free that fails.
 *
 *   known_stacks TRUTH [PLUGIN]
 *
 * Functions with Rust names stand for Rust functions: legacy names with a hash, and v0 names.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "known_stacks.h"

struct dim3 {
	unsigned int x, y, z;
};

int cudaMalloc(void **address, unsigned long size);
int cudaFree(void *address);
int cudaDeviceSynchronize(void);
int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **parameters,
		     unsigned long shared, void *stream);

static KNOWN void allocate(unsigned long number)
{
	ENTER("allocate");
	void *address;

	if (CUDA_CALL("cudaMalloc", number, cudaMalloc(&address, number)))
		abort();
}

static KNOWN void free_nothing(unsigned long number)
{
	ENTER("free_nothing");

	if (!CUDA_CALL("cudaFree", number, cudaFree((void *)number)))
		abort();
}

static KNOWN void wait_for_device(unsigned long number)
{
	ENTER("wait_for_device");

	if (CUDA_CALL("cudaDeviceSynchronize", number, cudaDeviceSynchronize()))
		abort();
}

static int no_kernel;

/* No kernel, so it fails. */
static KNOWN void launch(unsigned long number)
{
	ENTER("launch");
	const struct dim3 one = {1, 1, 1};

	if (!CUDA_CALL("cudaLaunchKernel", number,
		       cudaLaunchKernel(&no_kernel, one, one, NULL, 0, NULL)))
		abort();
}

static KNOWN void recurse(int depth, void (*last)(unsigned long), unsigned long number)
{
	ENTER("recurse");

	if (depth)
		CALL(recurse(depth - 1, last, number));
	else
		CALL(last(number));
}

/* The frame's size is only known at run time. */
static KNOWN void with_alloca(unsigned long size, int depth)
{
	ENTER("with_alloca");
	volatile char *room = (volatile char *)alloca(size);

	room[0] = room[size - 1] = 1;
	if (depth)
		CALL(with_alloca(size + 333, depth - 1));
	else
		CALL(allocate(1003));
}

/* Many registers to save, and a realigned stack. */
static KNOWN long aligned(long a, long b, long c, long d, long e, long f, long g)
{
	ENTER("aligned");
	volatile long numbers[8] __attribute__((aligned(64))) = {a, b, c, d, e, f, g, a * b};

	CALL(allocate(1004));
	return numbers[0] + a * b + c * d + e * f + g * numbers[7] + a * c;
}

static KNOWN void on_signal(int number)
{
	ENTER("on_signal");

	CALL(recurse(3, allocate, 1010 + (unsigned long)number - SIGUSR1));
}

static KNOWN void on_fault(int number, siginfo_t *info, void *context)
{
	ENTER("on_fault");

	(void)number;
	(void)info;
	CALL(allocate(1006));
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

/* The signal interrupts the program's own instruction. */
static KNOWN void fault(void)
{
	ENTER("fault");
	{
		SIGNALLED();

		((struct known_frame *)known.caller)->line = __LINE__ + 1;
		__asm__ volatile("ud2" ::: "memory");
	}
}

static KNOWN void raise_signal(void)
{
	ENTER("raise_signal");
	{
		struct known_frame *own = &known;
		SIGNALLED();

		own->line = __LINE__ + 1;
		raise(SIGUSR1);
	}
}

static KNOWN void *work(void *argument)
{
	ENTER("work");

	CALL(recurse(5, allocate, (unsigned long)argument));
	return NULL;
}

static KNOWN void run_threads(void)
{
	pthread_t threads[3];

	for (unsigned long i = 0; i < 3; i++) {
		if (pthread_create(&threads[i], NULL, work, (void *)(1020 + i)))
			abort();
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static long lines_of(const char *path)
{
	FILE *file = fopen(path, "r");
	long lines = 0;

	for (int character; file && (character = getc(file)) != EOF;)
		lines += character == '\n';
	if (file)
		fclose(file);
	return lines;
}

static bool is_seen(const char *trace, const char *question)
{
	return (!trace || lines_of(trace) > lines_of(known_path)) &&
	       (!question || access(question, F_OK));
}

/*
 * Waits until the mappings have been read: the file TRACE_FILE has a line of each call behind its
 * first, or the reader of gpuprobe's reports has removed the file QUESTION, which is created here.
 */
static void wait_until_seen(void)
{
	const char *trace = getenv("TRACE_FILE"), *question = getenv("QUESTION");

	if (question && fclose(fopen(question, "w")))
		abort();
	for (int tries = 0; !is_seen(trace, question); tries++) {
		if (tries == 6000)
			abort();
		usleep(10000);
	}
}

static KNOWN void run_child(void)
{
	ENTER("run_child");
	pid_t pid = fork();

	if (!pid) {
		CALL(recurse(2, allocate, 1030));
		CALL(recurse(2, free_nothing, 1031));
		wait_until_seen();
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

KNOWN void rust_old(void) __asm__("_ZN4shop5cache4grow17h0123456789abcdefE");
KNOWN void rust_new(void) __asm__("_RNvNtCs1234_4shop5cache6shrink");

KNOWN void rust_old(void)
{
	ENTER("shop::cache::grow");

	CALL(allocate(1040));
}

KNOWN void rust_new(void)
{
	ENTER("shop::cache::shrink");

	CALL(rust_old());
}

/* Its code is at another address each time, and another library takes the old one. */
static KNOWN void run_plugin(const char *path, unsigned long number)
{
	ENTER("run_plugin");
	void *library = dlopen(path, RTLD_NOW);
	void (*run)(struct known_frame **, known_write_fn *, unsigned long) =
		library ? (void (*)(struct known_frame **, known_write_fn *, unsigned long))dlsym(
				  library, "plugin_run") :
			  NULL;

	if (!run)
		abort();
	CALL(run(&known_top, known_write, number));
	wait_until_seen();
	dlclose(library);
}

int main(int count, char **arguments)
{
	struct sigaction fault_action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	known_open(arguments[1]);
	ENTER("main");
	sigaction(SIGILL, &fault_action, NULL);
	signal(SIGUSR1, on_signal);
	CALL(run_child()); /* first: the child of a process that has called CUDA cannot use it */
	CALL(allocate(1000));
	CALL(recurse(120, allocate, 1001));
	CALL(recurse(300, allocate, 1002));
	CALL(with_alloca(100, 6));
	CALL(aligned(1, 2, 3, count, 5, 6, 7));
	CALL(recurse(7, free_nothing, 1005));
	CALL(fault());
	CALL(recurse(4, launch, 1007));
	CALL(recurse(9, wait_for_device, 1008));
	CALL(raise_signal());
	run_threads();
	CALL(rust_new());
	for (int i = 2; i < count; i++)
		CALL(run_plugin(arguments[i], 1048 + (unsigned long)i));
	return 0;
}
