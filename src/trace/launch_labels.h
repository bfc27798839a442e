/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels of the kernels that one process launches. A kernel has one name and one label, whichever
 * of its handles the process launches.
 */
#ifndef TRACE_LAUNCH_LABELS_H
#define TRACE_LAUNCH_LABELS_H

#include <stddef.h>

#include "symbol/label_set.h"

/*
 * Memory of one process's labels. Kernels beyond it, of a program that invents names, have labels
 * without a number.
 */
#define LAUNCH_LABELS_BYTES_MAX (4u << 20)
/* The same for all processes together. */
#define ALL_LAUNCH_LABELS_BYTES_MAX (64u << 20)

struct labelled_kernel;

/* Initially all zero. */
struct launch_labels {
	struct labelled_kernel *kernels; /* a uthash table */
	struct label_set set;
	size_t bytes;
};

/*
 * Writes the label of the kernel with that name, the same each time. *all_bytes are the bytes of
 * all processes, which it adds to. Returns 0 or -ENOMEM.
 */
int launch_labels__write(struct launch_labels *labels, size_t *all_bytes, const char *mangled,
			 const char *readable, char label[KERNEL_LABEL_SIZE]);

/* Frees the contents and takes their bytes from *all_bytes; the caller owns the struct. */
void launch_labels__clear(struct launch_labels *labels, size_t *all_bytes);

#endif
