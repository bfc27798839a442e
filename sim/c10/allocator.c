// SPDX-License-Identifier: BSD-2-Clause
// A caching allocator with static probe points, see allocator.h.
#include "c10/allocator.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "c10/expandable.h"
#include "c10/probe.h"
#include "c10/report.h"
#include "cuda_api.h"

#define ROUND 512
#define SMALL_MAX (1u << 20)	/* larger requests get pieces of large segments */
#define SMALL_SEGMENT (2u << 20)
#define LARGE_SEGMENT (20u << 20)
#define LARGE_REST ((1u << 20) + 1) /* a smaller rest of a piece for large requests stays in it */
#define OWN_SEGMENT (10u << 20) /* from this size on a request has a segment of its own */

__attribute__((visibility("hidden"))) SIM_SEMAPHORE(pytorch_malloc_semaphore);
__attribute__((visibility("hidden"))) SIM_SEMAPHORE(pytorch_free_semaphore);

/* An operand of one of the points is a variable: "8@sim_request(%rip)". */
__attribute__((visibility("default"))) uint64_t sim_request;

struct piece {
	char *address;
	size_t size, requested; /* requested 0: it is free */
	struct piece *next;	/* the next one in its segment */
};

struct segment {
	char *address;
	size_t size;
	int device;
	struct piece *pieces;
	struct expandable *expandable; /* NULL: from cudaMalloc */
	struct segment *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct segment *segments;
static struct c10_counts counts;
static size_t limit = SIZE_MAX; /* of bytes in segments */

/* --- probe points --- */

/* Registers, a part of one, and memory below the frame pointer: as in PyTorch 2.11. */
static __attribute__((noinline)) void passed_small(void *pointer, int device, uint64_t bytes,
						   volatile uintptr_t stream)
{
	register uint64_t in_r14 __asm__("r14") = bytes;

	__asm__ volatile(SIM_PROBE(pytorch, malloc, pytorch_malloc_semaphore,
				   "-8@%%rax -1@%%dl -8@%%r14 -8@%[stream]")
			 : : "a"(pointer), "d"(device), "r"(in_r14), [stream] "m"(stream));
}

/* Indexed memory, %ch, a wide variable with its address in a register, a constant. */
static __attribute__((noinline)) void passed_large(void *pointer, int device, uint64_t bytes)
{
	volatile uint64_t table[4] = {1, (uintptr_t)pointer, bytes, 3};
	register const volatile uint64_t *base __asm__("r12") = table;
	register uint64_t index __asm__("r13") = 2;

	__asm__ volatile(SIM_PROBE(pytorch, malloc, pytorch_malloc_semaphore,
				   "8@-8(%%r12,%%r13,8) 1@%%ch 8@16(%%r12) 4@$0")
			 : : "r"(base), "r"(index), "c"((uint64_t)(unsigned int)device << 8),
			   "m"(table));
}

/* A global variable. Callers hold the lock. */
static __attribute__((noinline)) void passed_own(void *pointer, int device, uint64_t bytes)
{
	register uint64_t in_r8 __asm__("r8") = (unsigned int)device;

	sim_request = bytes;
	__asm__ volatile(SIM_PROBE(pytorch, malloc, pytorch_malloc_semaphore,
				   "-8@%%rsi -4@%%r8d -8@sim_request(%%rip) 8@$-1")
			 : : "S"(pointer), "r"(in_r8), "m"(sim_request));
}

static __attribute__((noinline)) void passed_free(void *pointer)
{
	__asm__ volatile(SIM_PROBE(pytorch, free, pytorch_free_semaphore, "-8@%%rdi")
			 : : "D"(pointer));
}

static __attribute__((noinline)) void passed_free_of_own(void *pointer)
{
	void *volatile kept = pointer;

	__asm__ volatile(SIM_PROBE(pytorch, free, pytorch_free_semaphore, "-8@%[kept]")
			 : : [kept] "m"(kept));
}

/* --- segments --- */

static size_t rounded(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static size_t segment_size(size_t bytes)
{
	if (bytes <= SMALL_MAX)
		return SMALL_SEGMENT;
	return bytes < OWN_SEGMENT ? LARGE_SEGMENT : rounded(bytes, SMALL_SEGMENT);
}

static bool is_within_limit(size_t more)
{
	return more <= limit && counts.segment_bytes <= limit - more;
}

static struct segment *add_segment(size_t bytes, int device)
{
	struct segment *segment = calloc(1, sizeof(*segment));
	struct piece *whole = calloc(1, sizeof(*whole));
	void *address = NULL;

	if (!segment || !whole || !is_within_limit(segment_size(bytes)) ||
	    cudaMalloc(&address, segment_size(bytes))) {
		free(segment);
		free(whole);
		return NULL;
	}
	*whole = (struct piece){.address = address, .size = segment_size(bytes)};
	*segment = (struct segment){address, whole->size, device, whole, NULL, segments};
	segments = segment;
	counts.segments++;
	counts.segment_bytes += segment->size;
	return segment;
}

/* A free piece that is large enough; the rest of it stays free. */
static struct piece *take_piece(struct segment *segment, size_t size)
{
	for (struct piece *piece = segment->pieces; piece; piece = piece->next) {
		struct piece *rest;

		if (piece->requested || piece->size < size)
			continue;
		if (piece->size - size < (segment->size == SMALL_SEGMENT ? ROUND : LARGE_REST))
			return piece;
		rest = calloc(1, sizeof(*rest));
		if (!rest)
			return NULL;
		*rest = (struct piece){piece->address + size, piece->size - size, 0, piece->next};
		piece->size = size;
		piece->next = rest;
		return piece;
	}
	return NULL;
}

static struct piece *last_piece(const struct segment *segment)
{
	struct piece *piece = segment->pieces;

	while (piece && piece->next)
		piece = piece->next;
	return piece;
}

static struct segment *expandable_segment(int device)
{
	struct segment *segment;

	for (segment = segments; segment; segment = segment->next)
		if (segment->expandable && segment->device == device)
			return segment;
	segment = calloc(1, sizeof(*segment));
	if (!segment)
		return NULL;
	segment->expandable = expandable__new(device);
	if (!segment->expandable) {
		free(segment);
		return NULL;
	}
	segment->address = expandable__address(segment->expandable);
	segment->device = device;
	segment->next = segments;
	segments = segment;
	return segment;
}

/* Lengthens the segment so that its last piece is free and has so many bytes. */
static bool lengthen(struct segment *segment, size_t size)
{
	struct piece *last = last_piece(segment);
	size_t usable = last && !last->requested ? last->size : 0, more;

	if (!is_within_limit(size - usable))
		return false;
	more = expandable__grow(segment->expandable, size - usable);
	if (!more)
		return false;
	if (!usable) {
		struct piece *fresh = calloc(1, sizeof(*fresh));

		if (!fresh)
			abort();
		fresh->address = segment->address + segment->size;
		if (last)
			last->next = fresh;
		else
			segment->pieces = fresh;
		last = fresh;
	}
	last->size += more;
	segment->size += more;
	counts.segment_bytes += more;
	return true;
}

static struct piece *find_expandable_room(size_t size, int device)
{
	struct segment *segment = expandable_segment(device);
	struct piece *piece = segment ? take_piece(segment, size) : NULL;

	if (!piece && segment && lengthen(segment, size))
		piece = take_piece(segment, size);
	return piece;
}

static struct piece *find_room(size_t bytes, size_t size, int device)
{
	struct segment *segment;
	struct piece *piece;

	if (expandable__is_wanted())
		return find_expandable_room(size, device);
	for (segment = segments; segment; segment = segment->next) {
		if (segment->device != device || segment->size != segment_size(bytes))
			continue;
		piece = take_piece(segment, size);
		if (piece)
			return piece;
	}
	segment = add_segment(bytes, device);
	return segment ? take_piece(segment, size) : NULL;
}

static void join_free(struct segment *segment)
{
	struct piece *piece = segment->pieces, *next;

	while (piece && (next = piece->next)) {
		if (piece->requested || next->requested) {
			piece = next;
			continue;
		}
		piece->size += next->size;
		piece->next = next->next;
		free(next);
	}
}

static struct piece *find_piece(const void *address, struct segment **of)
{
	for (*of = segments; *of; *of = (*of)->next)
		for (struct piece *piece = (*of)->pieces; piece; piece = piece->next)
			if (piece->address == address && piece->requested)
				return piece;
	return NULL;
}

/* An expandable segment returns what is unused at its end, and stays. */
static void shorten(struct segment *segment)
{
	struct piece *last = last_piece(segment);
	size_t less;

	if (!last || last->requested)
		return;
	less = expandable__shrink(segment->expandable, last->size);
	last->size -= less;
	segment->size -= less;
	counts.segment_bytes -= less;
	if (last->size)
		return;
	for (struct piece **at = &segment->pieces; *at; at = &(*at)->next)
		if (*at == last) {
			*at = NULL;
			break;
		}
	free(last);
}

static void empty_cache(void)
{
	struct segment **at = &segments, *segment;

	while ((segment = *at)) {
		if (segment->expandable)
			shorten(segment);
		if (segment->expandable || segment->pieces->requested || segment->pieces->next) {
			at = &segment->next;
			continue;
		}
		cudaFree(segment->address);
		counts.segments--;
		counts.segment_bytes -= segment->size;
		*at = segment->next;
		free(segment->pieces);
		free(segment);
	}
}

/* --- the interface --- */

static void pass_malloc(void *pointer, int device, size_t bytes, uintptr_t stream)
{
	if (!pytorch_malloc_semaphore)
		return;
	if (bytes <= SMALL_MAX)
		passed_small(pointer, device, bytes, stream);
	else if (bytes < OWN_SEGMENT)
		passed_large(pointer, device, bytes);
	else
		passed_own(pointer, device, bytes);
}

void *c10_allocate(size_t bytes, int device, uintptr_t stream)
{
	size_t size = rounded(bytes ? bytes : 1, ROUND);
	struct piece *piece;
	void *address = NULL;

	pthread_mutex_lock(&lock);
	piece = find_room(size, size, device);
	if (!piece) {
		empty_cache();
		piece = find_room(size, size, device);
	}
	if (!piece)
		report_out_of_memory((long)size, counts.live_bytes, counts.segment_bytes,
				     (unsigned short)(1 | device << 8));
	if (piece) {
		address = piece->address;
		piece->requested = bytes ? bytes : 1;
		counts.allocations++;
		counts.live++;
		counts.bytes += piece->requested;
		counts.live_bytes += piece->requested;
		counts.rounded_bytes += piece->size;
		pass_malloc(address, device, piece->requested, stream);
	}
	pthread_mutex_unlock(&lock);
	return address;
}

static void *backward(void *bytes)
{
	return c10_allocate((size_t)bytes, 0, 0);
}

void *c10_allocate_in_thread(size_t bytes)
{
	pthread_t thread;
	void *made = NULL;

	if (!pthread_create(&thread, NULL, backward, (void *)bytes))
		pthread_join(thread, &made);
	return made;
}

void c10_free(void *address)
{
	struct segment *segment;
	struct piece *piece;

	if (!address)
		return;
	pthread_mutex_lock(&lock);
	piece = find_piece(address, &segment);
	if (piece) {
		if (pytorch_free_semaphore && piece->requested < OWN_SEGMENT)
			passed_free(address);
		else if (pytorch_free_semaphore)
			passed_free_of_own(address);
		counts.frees++;
		counts.live--;
		counts.freed_bytes += piece->requested;
		counts.live_bytes -= piece->requested;
		counts.rounded_bytes -= piece->size;
		piece->requested = 0;
		join_free(segment);
	}
	pthread_mutex_unlock(&lock);
}

void c10_empty_cache(void)
{
	pthread_mutex_lock(&lock);
	empty_cache();
	pthread_mutex_unlock(&lock);
}

void c10_set_limit(size_t bytes)
{
	pthread_mutex_lock(&lock);
	limit = bytes;
	pthread_mutex_unlock(&lock);
}

void c10_count(struct c10_counts *out)
{
	pthread_mutex_lock(&lock);
	*out = counts;
	pthread_mutex_unlock(&lock);
}

unsigned int c10_malloc_watchers(void)
{
	return pytorch_malloc_semaphore;
}

unsigned int c10_free_watchers(void)
{
	return pytorch_free_semaphore;
}
