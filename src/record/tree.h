/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reading as numbers (record/layout.h), and the differences between two readings: an element of a
 * list is compared with the one of the reading before that has the same keys, and runs of equal
 * values take one number. So do runs of elements that are unchanged, with all that they list: ended
 * processes, and what was counted up to some moment.
 */
#ifndef RECORD_TREE_H
#define RECORD_TREE_H

#include <stdint.h>

#include "record/arena.h"
#include "record/bytes.h"
#include "record/layout.h"
#include "record/varint.h"

/* Elements one after another: their values, and their lists. */
struct tree_list {
	uint32_t count;
	uint64_t *values;	 /* `count` times layout_type.values */
	struct tree_list *lists; /* `count` times layout_type.lists */
};

/* All values zero and all lists empty. 0 or -ENOMEM; -E2BIG for more elements than 2^32. */
int tree_list__make(struct tree_list *list, const struct layout_type *type, uint64_t count,
		    struct arena *memory);

/* Writes `list`, whose elements have this type; `before` may be empty. Returns 0 or -ENOMEM. */
int tree_list__write(const struct tree_list *list, const struct tree_list *before,
		     const struct layout *layout, uint32_t type, struct bytes *out);

/*
 * Reads a list that was written after `before`. Returns 0, -EINVAL for malformed input, or -ENOMEM,
 * also beyond the limit of `memory`.
 */
int tree_list__read(struct tree_list *list, const struct tree_list *before,
		    const struct layout *layout, uint32_t type, struct varint_reader *in,
		    struct arena *memory);

#endif
