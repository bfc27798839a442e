/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels as they are shown; the handles of kernels.c count for them. All handles with one name are
 * one kernel, and a nameless handle is a kernel of its own until it gets a name. A kernel outlives
 * its handles.
 */
#ifndef MODEL_KERNELS_BY_NAME_H
#define MODEL_KERNELS_BY_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "gpuprobe/state.h"
#include "model/model.h"
#include "symbol/label_set.h"

struct shown_kernel {
	struct shape_record folded_shape;  /* from handles that are gone */
	struct shape_record current_shape; /* like `current` */
	char *mangled;			   /* NULL while unknown */
	char *full, *brief, *label;
	uint64_t handle; /* the latest handle */
	uint64_t serial;
	/* [0] executed, [1] captured */
	uint64_t folded[2];			/* launches of handles that are gone */
	uint64_t current[2];			/* launches of all handles, at the latest sum */
	uint64_t folded_missed, current_missed; /* estimated, both executed and captured */
	UT_hash_handle hh;			/* keyed by mangled name, once named */
	struct shown_kernel *prev_unnamed, *next_unnamed;
};

/* Initially all zero. */
struct kernels_by_name {
	struct shown_kernel *named; /* a uthash table */
	struct shown_kernel *unnamed;
	/* one of `unnamed`: stands for all beyond the limit; NULL: none */
	struct shown_kernel *rest;
	size_t unnamed_count;
	uint64_t next_serial;
	struct label_set labels;
	size_t name_bytes;	/* bytes of `named` and `labels` */
	size_t *all_name_bytes; /* bytes including other processes; NULL: no shared count */
	uint64_t names_ns;	/* CPU time spent on names */
};

/* Frees all kernels and leaves it empty; the caller owns the struct. */
void kernels_by_name__clear(struct kernels_by_name *kernels);

/* Approximate size in memory. */
size_t kernels_by_name__bytes(const struct kernels_by_name *kernels);

/*
 * Adds a nameless kernel for the handle. Beyond a thousand, and for KERNEL_OTHER, returns one that
 * they all share. NULL without memory.
 */
struct shown_kernel *kernels_by_name__add(struct kernels_by_name *kernels, uint64_t handle);

/* Frees a nameless kernel that no handle refers to; not the shared one. */
void kernels_by_name__drop(struct kernels_by_name *kernels, struct shown_kernel *shown);

/*
 * Names the nameless kernel at *entry, which the handle refers to. If a kernel with that name
 * exists, merges the two and sets *entry to it. If names have taken too much memory, the kernel
 * stays nameless. Returns 0, or -ENOMEM with everything unchanged.
 */
int kernels_by_name__name(struct kernels_by_name *kernels, struct shown_kernel **entry,
			  uint64_t handle, const char *mangled);

/* Merges the samples of one handle into those of the same kernel. */
void shape_record__merge(struct shape_record *sum, const struct shape_record *shape);

/* Sets each kernel's current sums to those of handles that are gone; the caller adds the others. */
void kernels_by_name__begin_sum(const struct kernels_by_name *kernels);

/*
 * Rewrites the process's list of kernels from the current sums, most launches first, and its
 * totals. The kernels keep owning the names. Returns 0, or -ENOMEM with the process unchanged.
 */
int kernels_by_name__list(const struct kernels_by_name *kernels, struct process *process);

#endif
