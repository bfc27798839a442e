/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * malloc and calloc that fail when the test wants it. FAILING_MEMORY is defined if they do: a
 * sanitized program has allocation functions of its own. Include in the test's own source.
 */
#ifndef TESTS_FAILING_MEMORY_H
#define TESTS_FAILING_MEMORY_H

#ifndef GPUPROBE_SANITIZED
#define FAILING_MEMORY

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This many allocations later one fails, and all after it. SIZE_MAX: none. */
static size_t allocations_left = SIZE_MAX;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

static bool may_allocate(void)
{
	if (allocations_left && allocations_left != SIZE_MAX)
		allocations_left--;
	return allocations_left;
}

void *malloc(size_t size)
{
	return may_allocate() ? __libc_malloc(size) : NULL;
}

void *calloc(size_t count, size_t size)
{
	return may_allocate() ? __libc_calloc(count, size) : NULL;
}

#endif
#endif
