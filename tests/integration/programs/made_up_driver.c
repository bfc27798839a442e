// SPDX-License-Identifier: BSD-2-Clause
// A libcuda that does nothing: the program sets its results, pointers and handles (made_up.c).
#include <stddef.h>

int made_up_result;
unsigned long made_up_value = 0x700000000000;

#define FUNCTION(name) __attribute__((noinline)) int name
#define BODY(out) \
	{ \
		if (out) \
			*(out) = made_up_value; \
		return made_up_result; \
	}
#define NOTHING ((unsigned long *)NULL)

FUNCTION(cuInit)
(unsigned int flags)
{
	(void)flags;
	return made_up_result;
}
FUNCTION(cuMemAlloc_v2)
(unsigned long *pointer, size_t size)
{
	(void)size;
	BODY(pointer)
}
FUNCTION(cuMemFree_v2)
(unsigned long pointer)
{
	(void)pointer;
	BODY(NOTHING)
}
FUNCTION(cuMemcpyHtoD_v2)
(unsigned long to, const void *from, size_t size)
{
	(void)to;
	(void)from;
	(void)size;
	BODY(NOTHING)
}
FUNCTION(cuCtxSynchronize)
(void){BODY(NOTHING)} FUNCTION(cuModuleLoadData)(unsigned long *module, const void *image)
{
	(void)image;
	BODY(module)
}
FUNCTION(cuModuleGetFunction)
(unsigned long *function, unsigned long module, const char *name)
{
	(void)module;
	(void)name;
	BODY(function)
}
FUNCTION(cuLaunchKernel)
(unsigned long function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
 unsigned int by, unsigned int bz, unsigned int shared, void *stream, void **arguments,
 void **extra)
{
	(void)function;
	(void)gx;
	(void)gy;
	(void)gz;
	(void)bx;
	(void)by;
	(void)bz;
	(void)shared;
	(void)stream;
	(void)arguments;
	(void)extra;
	BODY(NOTHING)
}
