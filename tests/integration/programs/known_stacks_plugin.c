// SPDX-License-Identifier: BSD-2-Clause
/* A library that is loaded, calls CUDA and is unloaded; see known_stacks.c. */
#define KNOWN_PLUGIN
#include "known_stacks.h"

#ifndef NAME
#define NAME plugin_inner
#endif
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

int cudaMalloc(void **address, unsigned long size);
void plugin_run(struct known_frame **top, known_write_fn *write, unsigned long number);

static KNOWN void NAME(struct known_frame **top, known_write_fn *write, unsigned long number)
{
	ENTER_AT(TEXT(NAME), top);
	void *address;

	if (CUDA_CALL_BY(write, "cudaMalloc", number, cudaMalloc(&address, number)))
		abort();
}

KNOWN void plugin_run(struct known_frame **top, known_write_fn *write, unsigned long number)
{
	ENTER_AT("plugin_run", top);

	CALL(NAME(top, write, number));
}
