/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernels of one process: launch counts come by handle and generation,
 * and are shown by name. A name outlives its handles: what a handle counted
 * is folded into the name when the handle is gone.
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

/* What it takes in memory, about; 0 for NULL. */
size_t kernel_table__bytes(const struct kernel_table *table);

/*
 * Counts what its names take in *name_bytes, too, with those of other tables; to be called before it has any, and to
 * outlive the table. Where they are too much, kernels stay without names in tables that have more than a few.
 */
void kernel_table__share(struct kernel_table *table, size_t *name_bytes);

/*
 * The handle's count now stands at `launches`; `name` is its mangled name or
 * NULL. Once named, a handle keeps its name for its generation. Returns 0 or -ENOMEM.
 */
int kernel_table__set(struct kernel_table *table, const struct launch_key *key, uint64_t launches,
		      const char *name);

/* What the handle's sampled launches looked like. Returns 0 or -ENOMEM. */
int kernel_table__set_shape(struct kernel_table *table, const struct kernel_key *key,
			    const struct shape_record *shape);

/* Whether the handle has its name, so that none need be looked for. */
int kernel_table__is_named(const struct kernel_table *table, const struct launch_key *key);

/* The kernel's names, which are the table's and stay; NULL while it has none. */
const char *kernel_table__full_name(const struct kernel_table *table, const struct kernel_key *key,
				    const char **brief);

/*
 * Whether the handle is, or lately was, a kernel's; `brief` is then the short name of the latest
 * one that it stood for, NULL while that has none. Names stay the table's. The latest 4,096 handles that
 * are gone are known.
 */
bool kernel_table__knows(const struct kernel_table *table, uint64_t handle, const char **brief);

/*
 * The handle's generation is over. Returns 1 if that was said of it before,
 * so that what was under way then has been counted, else 0.
 */
int kernel_table__retire(struct kernel_table *table, const struct launch_key *key);

/* Whether all that the handle counted is of a generation that is over. */
int kernel_table__is_over(const struct kernel_table *table, const struct kernel_key *key);

/* The handle is gone and its count final: it becomes part of its name's count. Returns 0 or -ENOMEM. */
int kernel_table__fold(struct kernel_table *table, const struct launch_key *key);

/* Where launches are estimated: as kernel_table__fold, but by kernel_table__fold_left, after what was missed is shared out. */
void kernel_table__leave(struct kernel_table *table, const struct launch_key *key);
int kernel_table__fold_left(struct kernel_table *table);

/* Adds up what missed launches are shared out by: weights before this reading, and launches since, captured ones too. */
void kernel_table__weigh(const struct kernel_table *table, double *weight, uint64_t *fresh);

/*
 * Shares out what was missed; `rest` as of missed_share__of. Returns how many launches that was, and adds them
 * to missed[0], captured ones to missed[1].
 */
uint64_t kernel_table__miss(struct kernel_table *table, const struct missed_share *share, double *rest,
			    uint64_t missed[2]);

/* Rewrites the process's list of kernels, most launches first, and its total. Returns 0 or -ENOMEM. */
int kernel_table__list(struct kernel_table *table, struct process *process);

/*
 * Nothing will be counted any more, and no handle asked about: the process's list stays as it was made last, and of the
 * table its names alone, which takes a fifth of the memory. Without memory for that all stays.
 */
void kernel_table__settle(struct kernel_table *table, struct process *process);

/* Releases a list that kernel_table__list made; the strings belong to the table. */
void kernel_table__clear_list(struct process *process);

#endif
