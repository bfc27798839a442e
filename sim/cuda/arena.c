// SPDX-License-Identifier: BSD-2-Clause
/*
 * Address ranges. Freed spans wait in bins by size, newest first. Only when the range is used up
 * are neighbours merged, and merged spans cut.
 */
#define _GNU_SOURCE
#include "cuda/arena.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <uthash.h>

#define SMALL 512ull
#define LARGE (2ull << 20)

struct bin {
	uint64_t size;
	struct span *newest;
	UT_hash_handle hh;
};

/* Maps a device file, as the real driver does; without one in this root, anonymous memory. */
static bool start(struct arena *arena, uint64_t size, int flags)
{
	int device = open("/dev/zero", O_RDWR | O_CLOEXEC);
	void *base;

	if (device < 0)
		flags |= MAP_ANONYMOUS;
	base = mmap(NULL, size + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | flags,
		    device, 0);
	if (device >= 0)
		close(device);
	if (base == MAP_FAILED)
		return false;
	madvise(base, size + LARGE, MADV_DONTDUMP);
	madvise(base, size + LARGE, MADV_NOHUGEPAGE);
	arena->base = ((uint64_t)(uintptr_t)base + LARGE - 1) & ~(LARGE - 1);
	arena->size = size;
	return true;
}

bool arena__start(struct arena *arena, uint64_t size)
{
	return start(arena, size, 0);
}

bool arena__start_low(struct arena *arena, uint64_t size)
{
	return start(arena, size, MAP_32BIT);
}

uint64_t arena__round(uint64_t size)
{
	uint64_t unit = size >= LARGE / 2 ? LARGE : SMALL;

	return (size + unit - 1) & ~(unit - 1);
}

static struct span *new_span(struct arena *arena)
{
	struct span *span = arena->spare;

	if (!span)
		return malloc(sizeof(*span));
	arena->spare = span->next;
	return span;
}

static void drop_span(struct arena *arena, struct span *span)
{
	span->next = arena->spare;
	arena->spare = span;
}

static uint64_t take_fresh(struct arena *arena, uint64_t size)
{
	uint64_t start = arena->used;

	if (size >= LARGE)
		start = (start + LARGE - 1) & ~(LARGE - 1);
	if (size > arena->size || start > arena->size - size)
		return 0;
	if (start > arena->used)
		arena__give(arena, arena->base + arena->used, start - arena->used);
	arena->used = start + size;
	return arena->base + start;
}

static int by_address(const void *a, const void *b)
{
	const struct span *const *left = a, *const *right = b;

	return (*left)->address < (*right)->address ? -1 : 1;
}

/* Empties all bins into an array sorted by address. */
static struct span **collect(struct arena *arena, size_t *count)
{
	struct span **spans = NULL;
	struct bin *bin, *next;
	size_t n = 0;

	for (bin = arena->bins; bin; bin = bin->hh.next)
		for (struct span *span = bin->newest; span; span = span->next)
			n++;
	spans = calloc(n ? n : 1, sizeof(*spans));
	if (!spans)
		return NULL;
	n = 0;
	HASH_ITER(hh, arena->bins, bin, next) {
		for (struct span *span = bin->newest; span; span = span->next)
			spans[n++] = span;
		HASH_DEL(arena->bins, bin);
		free(bin);
	}
	qsort(spans, n, sizeof(*spans), by_address);
	*count = n;
	return spans;
}

/* Merges neighbours among the free spans and takes the first that is large enough. */
static uint64_t take_merged(struct arena *arena, uint64_t size)
{
	uint64_t taken = 0, unit = size >= LARGE ? LARGE : SMALL;
	struct span **spans;
	size_t count;

	spans = collect(arena, &count);
	for (size_t i = 0; spans && i < count;) {
		uint64_t start = spans[i]->address, end = start, aligned;

		do {
			end += spans[i]->size;
			drop_span(arena, spans[i++]);
		} while (i < count && spans[i]->address == end);
		aligned = (start + unit - 1) & ~(unit - 1);
		if (!taken && aligned < end && end - aligned >= size) {
			taken = aligned;
			if (aligned > start)
				arena__give(arena, start, aligned - start);
			start = aligned + size;
		}
		if (end > start)
			arena__give(arena, start, end - start);
	}
	free(spans);
	return taken;
}

uint64_t arena__take(struct arena *arena, uint64_t size)
{
	struct span *span;
	struct bin *bin;
	uint64_t address;

	HASH_FIND(hh, arena->bins, &size, sizeof(size), bin);
	if (bin && bin->newest) {
		span = bin->newest;
		bin->newest = span->next;
		address = span->address;
		drop_span(arena, span);
		return address;
	}
	address = take_fresh(arena, size);
	return address ? address : take_merged(arena, size);
}

void arena__give(struct arena *arena, uint64_t address, uint64_t size)
{
	struct span *span = new_span(arena);
	struct bin *bin;

	HASH_FIND(hh, arena->bins, &size, sizeof(size), bin);
	if (!bin) {
		bin = calloc(1, sizeof(*bin));
		if (bin) {
			bin->size = size;
			HASH_ADD(hh, arena->bins, size, sizeof(size), bin);
		}
	}
	if (!span || !bin) {
		free(span);
		return;		/* without memory only the addresses are lost */
	}
	span->address = address;
	span->size = size;
	span->next = bin->newest;
	bin->newest = span;
}

void arena__discard(uint64_t address, uint64_t size)
{
	madvise((void *)(uintptr_t)address, size, MADV_DONTNEED);
}
