/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: early_late < FIFO
 *
 * early() allocates 512 bytes twice. Once a byte has come on standard input, late() allocates 4096
 * bytes twice. Nothing is freed.
 */
#include <unistd.h>

int cudaMalloc(void **address, size_t size);

#define NOINLINE __attribute__((noinline, noclone))

static volatile int failures;

NOINLINE void early(void)
{
	void *address;

	failures += cudaMalloc(&address, 512); /* early */
	failures += cudaMalloc(&address, 512);
}

NOINLINE void late(void)
{
	void *address;

	failures += cudaMalloc(&address, 4096); /* late */
	failures += cudaMalloc(&address, 4096);
}

int main(void)
{
	char byte;

	early();
	if (read(STDIN_FILENO, &byte, 1) < 0)
		return 1;
	late();
	return failures != 0;
}
