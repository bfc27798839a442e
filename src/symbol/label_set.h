/* SPDX-License-Identifier: BSD-2-Clause */
/* The labels of a program's kernels. Equal ones get marks, so that each label is one kernel. */
#ifndef SYMBOL_LABEL_SET_H
#define SYMBOL_LABEL_SET_H

#include <stddef.h>

#include "symbol/kernel_label.h"

struct label_use;

/* Initially all zero. */
struct label_set {
	struct label_use *uses; /* a uthash table */
	size_t bytes;		/* memory that it takes */
};

/*
 * Writes the label of a further kernel: `label` itself the first time, then "label #3f2a", at most
 * KERNEL_LABEL_MAX bytes long. The mark comes from the kernel's mangled name, so that it is the
 * same in other runs and commands. Marks that are equal by chance get numbers: "label #3f2a.2".
 * `label` comes from kernel_label__write. Returns 0 or -ENOMEM.
 */
int label_set__take(struct label_set *set, const char *label, const char *mangled,
		    char unique[KERNEL_LABEL_SIZE]);

/* Frees the contents; the caller owns the struct. */
void label_set__clear(struct label_set *set);

#endif
