/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call sites of one process: counted by stack id, shown by stack. They outlive the maps they
 * were read from. Stacks may be evicted (stack/stacks.h), so the ids are kept.
 */
#ifndef MODEL_SITES_H
#define MODEL_SITES_H

#include "gpuprobe/stack.h"
#include "gpuprobe/state.h"
#include "model/kernels.h"
#include "model/model.h"

struct site_table;

/* The stack with this id, or NULL. */
typedef const struct stack *(*site_stack_fn)(void *arg, uint64_t id);

/* NULL without memory. */
struct site_table *site_table__new(void);
void site_table__free(struct site_table *table);

/* Approximate size in memory; 0 for NULL. */
size_t site_table__bytes(const struct site_table *table);

/*
 * Stores the current counts of all sites as mark number `mark`, below SITE_MARKS, replacing that
 * mark's earlier counts.
 */
void site_table__mark(struct site_table *table, int mark);

/*
 * A reading begins: launches without their own stack, and live memory if `with_live`, are added
 * anew.
 */
void site_table__begin(struct site_table *table, bool with_live);

/* Sets a site's current counts. Returns 0 or -ENOMEM. */
int site_table__set(struct site_table *table, const struct call_site_key *key,
		    const struct call_site_record *record);

/*
 * The site's map entry is to be deleted, because its stack is the same as another id's. Returns 1
 * if this was already called before, so that counts in flight at that time have arrived, otherwise
 * 0.
 */
int site_table__retire(struct site_table *table, const struct call_site_key *key);

/* The entry is deleted now: adds its counts to the site of the id `same`. Returns 0 or -ENOMEM. */
int site_table__fold(struct site_table *table, const struct call_site_key *key, uint64_t same);

/*
 * Launches at a site without their own stack, as of this reading: they count for the site's latest
 * stack. Returns 0 or -ENOMEM.
 */
int site_table__add_launches(struct site_table *table, const struct launch_site_key *key,
			     uint64_t stack, uint64_t launches);

/*
 * Sets a kernel's names; the caller owns them, and they must outlive the table. Returns 0 or
 * -ENOMEM.
 */
int site_table__name(struct site_table *table, const struct kernel_key *key,
		     const struct kernel_texts *texts);

/*
 * A wait of this function that was in progress at attach, with its duration so far; `stack`
 * outlives the table's use. Returns 0 or -ENOMEM.
 */
int site_table__set_wait(struct site_table *table, const struct stack *stack, uint16_t row,
			 uint64_t ns);

/* Adds `count` live allocations of `bytes` each. Returns 0 or -ENOMEM. */
int site_table__add_live(struct site_table *table, uint64_t stack, uint32_t count, uint64_t bytes,
			 uint64_t start_ns);

/*
 * Rewrites the process's lists of sites and of live sites. A site's counts at `mark` are its early
 * part (-1: none). Returns 0 or -ENOMEM.
 */
int site_table__list(const struct site_table *table, struct process *process, int mark,
		     site_stack_fn find, void *arg);

/* The same for live sites alone, into a list (malloc) that the caller owns and frees. */
int site_table__list_live(const struct site_table *table, struct live_site **list, size_t *count,
			  site_stack_fn find, void *arg);

/*
 * Removes all references to stacks from the process's lists until they are rewritten; lists of
 * sites become empty.
 */
void site_table__forget_stacks(struct process *process);

/* Releases the lists. */
void site_table__clear_lists(struct process *process);

#endif
