/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: leaks FREED KEPT [PAUSE_US [READY]]
 *
 * Three call sites of known sizes. churn() allocates 4096 bytes and frees them FREED times.
 * grow_cache() allocates 10000 bytes KEPT times and frees none. They take turns, with a pause in
 * between. keep_one_of_ten() frees nine of ten allocations of 512 bytes. If READY is given, that
 * file is created before the first call, and a byte is read from standard input before the end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int cudaMalloc(void **address, size_t size);
int cudaFree(void *address);

#define NOINLINE __attribute__((noinline, noclone))

static volatile int failures;

NOINLINE void churn(void)
{
	void *address;

	failures += cudaMalloc(&address, 4096);
	failures += cudaFree(address);
}

NOINLINE void grow_cache(void)
{
	void *address;

	failures += cudaMalloc(&address, 10000);
}

NOINLINE void keep_one_of_ten(void)
{
	void *address[10];

	for (int i = 0; i < 10; i++)
		failures += cudaMalloc(&address[i], 512);
	for (int i = 1; i < 10; i++)
		failures += cudaFree(address[i]);
}

static void run(long freed, long kept, long pause_us)
{
	for (long i = 0; i < freed || i < kept; i++) {
		if (i < freed)
			churn();
		if (i < kept)
			grow_cache();
		if (pause_us)
			usleep((unsigned int)pause_us);
	}
}

int main(int argc, char **argv)
{
	long pause_us = argc > 3 ? atol(argv[3]) : 0;
	char byte;

	if (argc < 3)
		return 2;
	if (argc > 4)
		close(creat(argv[4], 0644));
	keep_one_of_ten();
	run(atol(argv[1]), atol(argv[2]), pause_us);
	if (argc > 4 && read(STDIN_FILENO, &byte, 1) < 0)
		return 1;
	return failures != 0;
}
