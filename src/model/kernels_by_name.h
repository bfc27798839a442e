/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernels as they are shown, for which the handles of kernels.c count: all handles of one name are one kernel, and a
 * handle without a name is one by itself until it gets one. A kernel outlives its handles.
 */
#ifndef MODEL_KERNELS_BY_NAME_H
#define MODEL_KERNELS_BY_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "gpuprobe/state.h"
#include "model/model.h"

struct shown_kernel {
	struct shape_record folded_shape;  /* of handles that are gone */
	struct shape_record current_shape; /* as `current` */
	char *mangled;			   /* NULL while unknown */
	char *full, *brief;
	uint64_t handle; /* the latest */
	uint64_t serial;
	/* [0] executed, [1] captured */
	uint64_t folded[2];			/* launches of handles that are gone */
	uint64_t current[2];			/* of all handles, as summed up last */
	uint64_t folded_missed, current_missed; /* of both sorts: estimated */
	UT_hash_handle hh;			/* by mangled name, once named */
	struct shown_kernel *prev_unnamed, *next_unnamed;
};

/* Begins as all zero. */
struct kernels_by_name {
	struct shown_kernel *named; /* a uthash table */
	struct shown_kernel *unnamed;
	struct shown_kernel *rest; /* among these: stands for all that are beyond a bound; NULL: there are none */
	size_t unnamed_count;
	uint64_t next_serial;
	size_t name_bytes;	/* of `named` */
	size_t *all_name_bytes; /* with those of other processes; NULL: there are none */
	uint64_t names_ns;	/* CPU time that they have taken */
};

/* Frees all kernels and leaves it empty; the structure is the caller's. */
void kernels_by_name__clear(struct kernels_by_name *kernels);

/* What they take in memory, about. */
size_t kernels_by_name__bytes(const struct kernels_by_name *kernels);

/*
 * Adds a kernel without a name, for the handle; where there are a thousand, and for KERNEL_OTHER, one that all others share.
 * NULL without memory.
 */
struct shown_kernel *kernels_by_name__add(struct kernels_by_name *kernels, uint64_t handle);

/* Frees a kernel that has no name and that no handle stands for; not the one that is shared. */
void kernels_by_name__drop(struct kernels_by_name *kernels, struct shown_kernel *shown);

/*
 * Gives the kernel at *place, which has none and which the handle stands for, its mangled name; or makes it part of the kernel that has the name
 * already, which is at *place then. Where names have taken too much memory it stays without. Returns 0, or -ENOMEM
 * with all as it was.
 */
int kernels_by_name__name(struct kernels_by_name *kernels, struct shown_kernel **place, uint64_t handle, const char *mangled);

/* Adds the samples of one handle to those of others of the same kernel. */
void shape_record__merge(struct shape_record *sum, const struct shape_record *shape);

/* Sets what is current of each kernel to what handles that are gone had; the caller adds what the others have. */
void kernels_by_name__begin_sum(const struct kernels_by_name *kernels);

/*
 * Rewrites the process's list of kernels by what is current, most launches first, and its totals. Names stay the
 * kernels'. Returns 0, or -ENOMEM with the process as it was.
 */
int kernels_by_name__list(const struct kernels_by_name *kernels, struct process *process);

#endif
