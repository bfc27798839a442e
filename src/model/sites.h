/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call sites of one process: counts come by id of stack, and are shown by
 * stack. They outlast the maps that they were read from. Stacks may leave
 * (stack/stacks.h), so ids are what is kept.
 */
#ifndef MODEL_SITES_H
#define MODEL_SITES_H

#include "gpuprobe/stack.h"
#include "gpuprobe/state.h"
#include "model/model.h"

struct site_table;

/* The stack with this id, or NULL. */
typedef const struct stack *(*site_stack_fn)(void *arg, uint64_t id);

/* NULL without memory. */
struct site_table *site_table__new(void);
void site_table__free(struct site_table *table);

/* What it takes in memory, about; 0 for NULL. */
size_t site_table__bytes(const struct site_table *table);

/* What all sites stand at now is kept as mark number `mark`, below SITE_MARKS; what that was before is gone. */
void site_table__mark(struct site_table *table, int mark);

/* A reading begins: launches without a stack of their own, and live memory if it is read anew, are told from here on. */
void site_table__begin(struct site_table *table, bool with_live);

/* What a site stands at now. Returns 0 or -ENOMEM. */
int site_table__set(struct site_table *table, const struct call_site_key *key, const struct call_site_record *record);

/*
 * The site's entry in the maps is to go, since its stack is another id's. Returns
 * 1 if that was said of it before, so that what was under way then has been
 * counted, else 0.
 */
int site_table__retire(struct site_table *table, const struct call_site_key *key);

/* It goes now: what it stands at becomes part of the site of the id `same`. Returns 0 or -ENOMEM. */
int site_table__fold(struct site_table *table, const struct call_site_key *key, uint64_t same);

/*
 * Launches at a site that no stack was taken of, as of this reading: they are those of the latest
 * one that was. Returns 0 or -ENOMEM.
 */
int site_table__add_launches(struct site_table *table, const struct launch_site_key *key, uint64_t stack,
			     uint64_t launches);

/* A kernel's names, which stay the caller's and must outlive the table. Returns 0 or -ENOMEM. */
int site_table__name(struct site_table *table, const struct kernel_key *key, const char *full, const char *brief);

/* A wait of this function that was not seen to begin, as it stands: `stack` outlives the table's use. Returns 0 or -ENOMEM. */
int site_table__set_wait(struct site_table *table, const struct stack *stack, uint16_t row, uint64_t ns);

/* A live allocation. Returns 0 or -ENOMEM. */
int site_table__add_live(struct site_table *table, uint64_t stack, uint64_t bytes, uint64_t start_ns);

/*
 * Rewrites the process's lists of sites and of live sites. What a site stood at at `mark` is its early part (-1: nothing). Returns 0
 * or -ENOMEM.
 */
int site_table__list(const struct site_table *table, struct process *process, int mark, site_stack_fn find, void *arg);

/* Nothing that is listed of the process leads to a stack until that is made anew; lists of sites are empty. */
void site_table__forget_stacks(struct process *process);

/* Releases the lists. */
void site_table__clear_lists(struct process *process);

#endif
