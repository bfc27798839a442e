/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Static probe points of frameworks' allocators (api/allocators.tsv) in a file, and the numbers
 * under which BPF knows where their operands are. Points with the same operands share a number, as
 * the copies of a library in many containers do.
 */
#ifndef PROBE_ALLOCATOR_POINTS_H
#define PROBE_ALLOCATOR_POINTS_H

#include <stddef.h>

#include "base/error.h"
#include "gpuprobe/tensor.h"
#include "probe/links.h"

struct bpf_map;
struct elf_file;

/* More points of one file are refused; PyTorch's libc10_cuda.so has three. */
#define ALLOCATOR_POINTS_MAX 64

struct allocator_points {
	struct bpf_map *map; /* tensor_points; the object owns it */
	struct tensor_point *points;
	size_t count;
};

void allocator_points__clear(struct allocator_points *points);

/*
 * Finds the points of the file whose base name is `base`. Returns 0 and *sites (malloc), *count of
 * them, or a negative errno with the reason in `err`: -ENOEXEC if the file has no such points, or
 * not all that its allocator needs, or operands that are not understood; -ENOSPC if there are too
 * many.
 */
int allocator_points__find(struct allocator_points *points, struct elf_file *file, const char *base,
			   struct link_point **sites, size_t *count, struct error *err);

#endif
