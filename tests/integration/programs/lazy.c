// SPDX-License-Identifier: BSD-2-Clause
/*
 * With -DDRIVER, a libcuda whose launches load modules by calling its own exported functions, as
 * the driver's lazy loading would appear. Otherwise a program that launches the handles 1 to N with
 * it. Each first launch takes 15 ms; that of every other handle loads a module.
 */
#define KERNELS 16

int cuInit(unsigned flags);
int cuMemAlloc_v2(void **memory, unsigned long size);
int cuModuleLoadData(void **module, const void *image);
int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **params, void **extra);

#ifdef DRIVER

#include <unistd.h>

static char known[KERNELS + 1], modules[KERNELS];
static int module_count;

int cuInit(unsigned flags)
{
	return (int)flags;
}

/* A library is recognised as a driver by this function. */
int cuMemAlloc_v2(void **memory, unsigned long size)
{
	(void)memory;
	return size != 0;
}

int cuModuleLoadData(void **module, const void *image)
{
	(void)image;
	usleep(1000);
	*module = &modules[module_count++];
	return 0;
}

int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	unsigned long number = (unsigned long)kernel;
	void *module;

	(void)(gx + gy + gz + bx + by + bz + shared);
	(void)stream, (void)params, (void)extra;
	if (number > KERNELS || known[number])
		return 0;
	known[number] = 1;
	usleep(15000);
	return number % 2 ? 0 : cuModuleLoadData(&module, &known);
}

#else

#include <stdlib.h>

int main(int argc, char **argv)
{
	unsigned long step = argc > 1 ? strtoul(argv[1], 0, 0) : 1;

	if (cuInit(0))
		return 1;
	for (unsigned long number = 1; number <= KERNELS; number += step)
		for (int i = 0; i < 3; i++)
			if (cuLaunchKernel((void *)number, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0))
				return 1;
	return 0;
}

#endif
