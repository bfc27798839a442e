/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for PyTorch's libc10_cuda.so: a caching allocator with the probe points pytorch:malloc
 * and pytorch:free. It takes segments from the simulated CUDA and hands out pieces, rounded to 512
 * bytes. Points of one name differ in where their operands are. If CUDA has no memory left, it
 * returns unused segments, tries again, and calls c10::reportOutOfMemoryToProfiler, in PyTorch's
 * order. PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True is understood.
 */
#ifndef SIM_C10_ALLOCATOR_H
#define SIM_C10_ALLOCATOR_H

#include <stddef.h>
#include <stdint.h>

#define C10_EXPORT __attribute__((visibility("default")))

/* What the allocator has done so far, which tests compare with. */
struct c10_counts {
	uint64_t allocations, bytes; /* as requested */
	uint64_t frees, freed_bytes;
	uint64_t live, live_bytes;
	uint64_t rounded_bytes; /* of live pieces, with what is too small to split off */
	uint64_t segments, segment_bytes;
};

/* A piece of memory on a device (0: the current one); NULL if there is none. Thread-safe. */
C10_EXPORT void *c10_allocate(size_t bytes, int device, uintptr_t stream);

/* The same by a thread without Python, as autograd's. */
C10_EXPORT void *c10_allocate_in_thread(size_t bytes);

/* Takes back a piece; its segment stays. NULL is fine. */
C10_EXPORT void c10_free(void *piece);

/* Returns segments without pieces to CUDA. */
C10_EXPORT void c10_empty_cache(void);

/* Bytes in segments are at most this, as by PyTorch's set_per_process_memory_fraction. */
C10_EXPORT void c10_set_limit(size_t bytes);

C10_EXPORT void c10_count(struct c10_counts *counts);

/* The watchers of pytorch:malloc and pytorch:free, as the semaphores say. */
C10_EXPORT unsigned int c10_malloc_watchers(void);
C10_EXPORT unsigned int c10_free_watchers(void);

#endif
