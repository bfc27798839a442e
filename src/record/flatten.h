/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes numbers of a structure of the model, and a structure of numbers (record/tree.h). */
#ifndef RECORD_FLATTEN_H
#define RECORD_FLATTEN_H

#include "record/arena.h"
#include "record/layout.h"
#include "record/names.h"
#include "record/tree.h"

/*
 * The numbers of ended processes, whose data no longer changes: they are not made again at each
 * reading. Numbers of names are in them, so it must be cleared with these. All zero at first.
 */
struct flatten_cache {
	struct cached_process *processes;
	struct arena memory;
};

void flatten_cache__clear(struct flatten_cache *cache);

/*
 * Makes a list with one element, `object` of the layout's last type. `cache` may be NULL; the list
 * is valid as long as its contents. 0 or -ENOMEM.
 */
int flatten(const struct layout *layout, const void *object, struct names_writer *names,
	    struct flatten_cache *cache, struct arena *memory, struct tree_list *list);

/* The first number of a reading's record: a set of these. */
enum {
	READING_KEYFRAME = 1, /* it is written whole, after the layout */
	READING_RUNS = 2,     /* with it: lists have runs, up to the next keyframe (format 2) */
};

/* How a file's layout corresponds to gpuprobe's own. */
struct unflatten_maps;

/* Both layouts must outlive it. NULL without memory. */
struct unflatten_maps *unflatten_maps__new(const struct layout *own, const struct layout *file);
void unflatten_maps__free(struct unflatten_maps *maps); /* NULL is fine */

/*
 * Makes the structure of a list of one element of the file's last type. Sets *left_out to the
 * number of structures that are left out or all zero, because they have a function or a value that
 * this gpuprobe does not know. Returns 0, -ENOMEM, or -EINVAL if the list has not one element.
 */
int unflatten(struct unflatten_maps *maps, const struct tree_list *list,
	      const struct names_reader *names, struct arena *memory, void **object,
	      uint64_t *left_out);

#endif
