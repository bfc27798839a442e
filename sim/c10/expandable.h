/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that grows in place, as PyTorch's expandable segments: addresses are reserved once, and
 * physical memory is mapped there in pieces of 20 MiB. Callers hold the allocator's lock.
 */
#ifndef SIM_C10_EXPANDABLE_H
#define SIM_C10_EXPANDABLE_H

#include <stdbool.h>
#include <stddef.h>

struct expandable;

/* Whether PYTORCH_CUDA_ALLOC_CONF has expandable_segments:True. */
bool expandable__is_wanted(void);

/* Reserves addresses for more than the device has. NULL on failure; it is never freed. */
struct expandable *expandable__new(int device);

char *expandable__address(const struct expandable *memory);

/*
 * Maps at least so many bytes more at the end. Returns how many; 0 if there is less: the pieces
 * that there were are returned.
 */
size_t expandable__grow(struct expandable *memory, size_t bytes);

/* Unmaps at most so many bytes at the end, in whole pieces. Returns how many. */
size_t expandable__shrink(struct expandable *memory, size_t bytes);

#endif
