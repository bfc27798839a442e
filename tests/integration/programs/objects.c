/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: objects KIND PATTERN PAUSE_US SECONDS [COMMAND]
 *
 * Requests, each of which makes an object in serve(): event, stream, exec (an executable graph),
 * module. PATTERN says what becomes of it:
 *
 *   leak    nothing destroys it
 *   each    the request destroys it
 *   pool    300 are made at the start and reused
 *   cache   the oldest of 1,000 is destroyed
 *   spikes  a batch of 200 is made, then destroyed
 *   fill    4,000 are made at once; then the shell runs COMMAND, and the program ends
 *
 * Prints the number of objects that are live before the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int cudaFree(void *address);
int cudaEventCreate(void **event);
int cudaEventDestroy(void *event);
int cudaStreamCreate(void **stream);
int cudaStreamDestroy(void *stream);
int cudaGraphCreate(void **graph, unsigned int flags);
int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
int cudaGraphExecDestroy(void *exec);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);

#define NOINLINE __attribute__((noinline, noclone))
#define POOL 300
#define CACHE 1000
#define SPIKE 200
#define FILL 4000

static const char image[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			    ".visible .entry small()\n{\n\tret;\n}\n";

static volatile int failures;
static const char *kind;
static void *graph, *ring[CACHE];
static long live;

NOINLINE void *serve(void)
{
	void *object = NULL;

	live++;
	if (!strcmp(kind, "event"))
		failures += cudaEventCreate(&object);
	else if (!strcmp(kind, "stream"))
		failures += cudaStreamCreate(&object);
	else if (!strcmp(kind, "exec"))
		failures += cudaGraphInstantiate(&object, graph, 0);
	else
		failures += cuModuleLoadData(&object, image);
	return object;
}

static void end(void *object)
{
	if (!object)
		return;
	live--;
	if (!strcmp(kind, "event"))
		failures += cudaEventDestroy(object);
	else if (!strcmp(kind, "stream"))
		failures += cudaStreamDestroy(object);
	else if (!strcmp(kind, "exec"))
		failures += cudaGraphExecDestroy(object);
	else
		failures += cuModuleUnload(object);
}

static void request(const char *pattern, long number)
{
	if (!strcmp(pattern, "leak")) {
		serve();
	} else if (!strcmp(pattern, "each")) {
		end(serve());
	} else if (!strcmp(pattern, "pool")) {
		if (number < POOL)
			serve();
	} else if (!strcmp(pattern, "cache")) {
		end(ring[number % CACHE]);
		ring[number % CACHE] = serve();
	} else {
		if (number % (2 * SPIKE) < SPIKE)
			ring[number % SPIKE] = serve();
		else
			end(ring[number % SPIKE]);
	}
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fill(const char *command)
{
	while (live < FILL)
		serve();
	failures += system(command) != 0;
}

int main(int argc, char **argv)
{
	double until;

	if (argc != 5 && argc != 6)
		return 2;
	kind = argv[1];
	until = now_s() + (double)atol(argv[4]);
	failures += cudaFree(NULL);
	failures += cudaGraphCreate(&graph, 0);
	if (argc == 6)
		fill(argv[5]);
	for (long number = 0; argc == 5 && now_s() < until; number++) {
		request(argv[2], number);
		usleep((unsigned int)atol(argv[3]));
	}
	printf("%ld\n", live);
	return failures ? 1 : 0;
}
