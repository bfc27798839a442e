/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernels of one process: launch counts are kept by handle and generation, and shown by name. A
 * name outlives its handles: when a handle is gone, its counts are added to the name.
 */
#ifndef MODEL_KERNELS_H
#define MODEL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/state.h"
#include "model/missed.h"
#include "model/model.h"

struct kernel_table;

struct kernel_table *kernel_table__new(void);
void kernel_table__free(struct kernel_table *table);

/* Approximate size in memory; 0 for NULL. */
size_t kernel_table__bytes(const struct kernel_table *table);

/*
 * Also adds the size of the table's names to *name_bytes, which tables share. Call it before the
 * table has names; the variable must outlive the table. Once the shared size is too large, further
 * kernels stay without names in tables that have more than a few.
 */
void kernel_table__share(struct kernel_table *table, size_t *name_bytes);

/*
 * Sets the handle's count to `launches`; `name` is its mangled name or NULL. Once named, a handle
 * keeps its name for its generation. Returns 0 or -ENOMEM.
 */
int kernel_table__set(struct kernel_table *table, const struct launch_key *key, uint64_t launches,
		      const char *name);

/* Sets the shape of the handle's sampled launches. Returns 0 or -ENOMEM. */
int kernel_table__set_shape(struct kernel_table *table, const struct kernel_key *key,
			    const struct shape_record *shape);

/* Whether the handle has a name, so that none need be looked up. */
int kernel_table__is_named(const struct kernel_table *table, const struct launch_key *key);

/* What a kernel is called, see struct kernel. */
struct kernel_texts {
	const char *full, *brief, *label;
};

/*
 * Sets the kernel's names, which the table owns and keeps. Returns false while it has none.
 */
bool kernel_table__texts(const struct kernel_table *table, const struct kernel_key *key,
			 struct kernel_texts *texts);

/*
 * Whether the handle is, or recently was, a kernel's. *label is set to the label of the latest
 * kernel it stood for, NULL if that has none. The table owns the names. It remembers the latest
 * 4,096 handles that are gone.
 */
bool kernel_table__knows(const struct kernel_table *table, uint64_t handle, const char **label);

/* The same for a process: from its table, or in a recorded model from its known_kernels. */
bool process__knows_kernel(const struct process *process, uint64_t handle, const char **label);

/*
 * The handle's generation is over. Returns 1 if this was already called before, so that counts in
 * flight at that time have arrived, otherwise 0.
 */
int kernel_table__retire(struct kernel_table *table, const struct launch_key *key);

/* Whether all counts of the handle belong to past generations. */
int kernel_table__is_over(const struct kernel_table *table, const struct kernel_key *key);

/* The handle is gone and its count final: adds it to its name's count. Returns 0 or -ENOMEM. */
int kernel_table__fold(struct kernel_table *table, const struct launch_key *key);

/*
 * For estimated launches: like kernel_table__fold, but done by kernel_table__fold_left after missed
 * launches were distributed.
 */
void kernel_table__leave(struct kernel_table *table, const struct launch_key *key);
int kernel_table__fold_left(struct kernel_table *table);

/*
 * Sums what missed launches are distributed by: weights before this reading, and launches since,
 * captured ones included.
 */
void kernel_table__weigh(const struct kernel_table *table, double *weight, uint64_t *fresh);

/*
 * Distributes missed launches; `rest` as in missed_share__of. Returns their number, and adds
 * executed ones to missed[0], captured ones to missed[1].
 */
uint64_t kernel_table__miss(struct kernel_table *table, const struct missed_share *share,
			    double *rest, uint64_t missed[2]);

/*
 * Rewrites the process's list of kernels, most launches first, and its total. Returns 0 or -ENOMEM.
 */
int kernel_table__list(struct kernel_table *table, struct process *process);

/*
 * No further counts or lookups will come: keeps only the process's latest list and the names in it,
 * which takes a fifth of the memory. Without memory to do so, everything stays.
 */
void kernel_table__settle(struct kernel_table *table, struct process *process);

/* Releases a list made by kernel_table__list; the table owns the strings. */
void kernel_table__clear_list(struct process *process);

#endif
