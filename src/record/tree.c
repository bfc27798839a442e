// SPDX-License-Identifier: BSD-2-Clause
// Differences between two readings, see tree.h.
#include "record/tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* How an element says which one it is compared with. */
enum {
	REF_NEXT = 0,  /* the one after that of the element before */
	REF_NONE = 1,  /* none: with zeros */
	REF_SAME = 2,  /* the next ones are unchanged; their number follows. Only with has_runs */
	REF_FIRST = 3, /* this plus its index; without has_runs 2 */
};

static uint64_t first_ref(const struct layout *layout)
{
	return layout->has_runs ? REF_FIRST : REF_FIRST - 1;
}

static const struct tree_list nothing;

int tree_list__make(struct tree_list *list, const struct layout_type *type, uint64_t count,
		    struct arena *memory)
{
	if (count > UINT32_MAX)
		return -E2BIG;
	list->count = (uint32_t)count;
	list->values = arena__take(memory, count, type->values * sizeof(*list->values));
	list->lists = arena__take(memory, count, type->lists * sizeof(*list->lists));
	if (list->values && list->lists)
		return 0;
	list->count = 0;
	return -ENOMEM;
}

/* --- which elements belong together --- */

/* Finds elements of the earlier list by their keys: a hash table of indices plus 1. */
struct finder {
	const struct tree_list *before;
	const struct layout_type *type;
	uint32_t *slots;
	uint32_t mask;
};

static const uint64_t *values_of(const struct tree_list *list, const struct layout_type *type,
				 uint32_t index)
{
	return list->values + (size_t)index * type->values;
}

static bool is_same(const struct finder *finder, uint32_t index, const uint64_t *values)
{
	return !memcmp(values_of(finder->before, finder->type, index), values,
		       finder->type->keys * sizeof(*values));
}

static uint32_t hash_of(const struct finder *finder, const uint64_t *values)
{
	return hash__of(values, finder->type->keys * sizeof(*values)) & finder->mask;
}

/* Made when the order of elements changes. */
static bool make_slots(struct finder *finder)
{
	uint32_t size = 8;

	while (size < 2 * finder->before->count)
		size *= 2;
	finder->slots = calloc(size, sizeof(*finder->slots));
	if (!finder->slots)
		return false;
	finder->mask = size - 1;
	for (uint32_t i = 0; i < finder->before->count; i++) {
		uint32_t at = hash_of(finder, values_of(finder->before, finder->type, i));

		while (finder->slots[at])
			at = (at + 1) & finder->mask;
		finder->slots[at] = i + 1;
	}
	return true;
}

/* The index of the element with these keys, or the count. Without memory none is found. */
static uint32_t find(struct finder *finder, uint32_t expected, const uint64_t *values)
{
	uint32_t none = finder->before->count;

	if (expected < none && is_same(finder, expected, values))
		return expected;
	if (!none || !finder->type->keys || (!finder->slots && !make_slots(finder)))
		return none;
	for (uint32_t at = hash_of(finder, values); finder->slots[at]; at = (at + 1) & finder->mask)
		if (is_same(finder, finder->slots[at] - 1, values))
			return finder->slots[at] - 1;
	return none;
}

/* --- writing --- */

/* Runs: how many values are as before, how many are not, and the differences of these. */
static void write_values(const uint64_t *values, const uint64_t *before, uint32_t count,
			 struct bytes *out)
{
	uint32_t at = 0, same, other;

	/* Most are, and this is faster. */
	if (values == before || !memcmp(values, before, count * sizeof(*values))) {
		bytes__number(out, count);
		return;
	}
	do {
		for (same = at; same < count && values[same] == before[same];)
			same++;
		for (other = same; other < count && values[other] != before[other];)
			other++;
		bytes__number(out, same - at);
		if (same < count)
			bytes__number(out, other - same);
		for (at = same; at < other; at++)
			bytes__signed(out, (int64_t)(values[at] - before[at]));
	} while (at < count);
}

/* Whether the elements from `index` on, `count` of them, are those from `other` on of `before`. */
static bool is_unchanged(const struct tree_list *list, uint32_t index,
			 const struct tree_list *before, uint32_t other, uint32_t count,
			 const struct layout *layout, const struct layout_type *type)
{
	size_t at = (size_t)index * type->lists, other_at = (size_t)other * type->lists;

	if (memcmp(values_of(list, type, index), values_of(before, type, other),
		   (size_t)count * type->values * sizeof(*list->values)) != 0)
		return false;
	for (size_t i = 0; i < (size_t)count * type->lists; i++) {
		const struct tree_list *inner = &list->lists[at + i],
				       *inner_before = &before->lists[other_at + i];
		uint32_t inner_type = type->list_types[i % type->lists];

		if (inner->count != inner_before->count)
			return false;
		if (inner->count && inner->values != inner_before->values &&
		    !is_unchanged(inner, 0, inner_before, 0, inner->count, layout,
				  &layout->types[inner_type]))
			return false;
	}
	return true;
}

/* How many elements from `index` on are those of `before` from `expected` on. */
static uint32_t count_unchanged(const struct tree_list *list, uint32_t index,
				const struct tree_list *before, uint32_t expected,
				const struct layout *layout, const struct layout_type *type)
{
	uint32_t count = 0;

	while (index + count < list->count && expected + count < before->count &&
	       is_unchanged(list, index + count, before, expected + count, 1, layout, type))
		count++;
	return count;
}

int tree_list__write(const struct tree_list *list, const struct tree_list *before,
		     const struct layout *layout, uint32_t type_index, struct bytes *out)
{
	const struct layout_type *type = &layout->types[type_index];
	struct finder finder = {.before = before, .type = type};
	uint64_t *zeros = calloc(type->values + 1, sizeof(*zeros));
	uint32_t expected = 0;
	int ret = zeros ? 0 : -ENOMEM;

	bytes__number(out, list->count);
	for (uint32_t i = 0; i < list->count && !ret; i++) {
		const uint64_t *values = values_of(list, type, i);
		uint32_t same = count_unchanged(list, i, before, expected, layout, type), found;
		bool known;

		if (same) {
			bytes__number(out, REF_SAME);
			bytes__number(out, same);
			expected += same;
			i += same - 1;
			continue;
		}
		found = find(&finder, expected, values);
		known = found < before->count;

		bytes__number(out, !known	     ? REF_NONE :
				   found == expected ? REF_NEXT :
						       first_ref(layout) + found);
		write_values(values, known ? values_of(before, type, found) : zeros, type->values,
			     out);
		for (uint32_t j = 0; j < type->lists && !ret; j++)
			ret = tree_list__write(
				&list->lists[(size_t)i * type->lists + j],
				known ? &before->lists[(size_t)found * type->lists + j] : &nothing,
				layout, type->list_types[j], out);
		if (known)
			expected = found + 1;
	}
	free(finder.slots);
	free(zeros);
	return ret || !out->failed ? ret : -ENOMEM;
}

/* --- reading --- */

static int read_values(uint64_t *values, const uint64_t *before, uint32_t count,
		       struct varint_reader *in)
{
	uint32_t at = 0;

	do {
		uint64_t same = varint__take(in), other = 0;

		if (same > count - at)
			return -EINVAL;
		if (before)
			memcpy(values + at, before + at, same * sizeof(*values));
		at += (uint32_t)same;
		if (at < count)
			other = varint__take(in);
		if (other > count - at || (at < count && !other))
			return -EINVAL;
		for (; other; other--, at++)
			values[at] = (before ? before[at] : 0) + (uint64_t)varint__take_signed(in);
	} while (at < count);
	return in->failed ? -EINVAL : 0;
}

/*
 * Copies elements of `before`, with all that they list, whose memory does not last. Returns 0 or
 * -ENOMEM.
 */
static int copy_elements(struct tree_list *list, uint32_t index, const struct tree_list *before,
			 uint32_t from, uint32_t count, const struct layout *layout,
			 const struct layout_type *type, struct arena *memory)
{
	int ret = 0;

	memcpy(list->values + (size_t)index * type->values, values_of(before, type, from),
	       (size_t)count * type->values * sizeof(*list->values));
	for (size_t i = 0; i < (size_t)count * type->lists && !ret; i++) {
		struct tree_list *inner = &list->lists[(size_t)index * type->lists + i];
		const struct tree_list *other = &before->lists[(size_t)from * type->lists + i];
		const struct layout_type *inner_type =
			&layout->types[type->list_types[i % type->lists]];

		if (!other->count)
			continue;
		ret = tree_list__make(inner, inner_type, other->count, memory);
		if (!ret)
			ret = copy_elements(inner, 0, other, 0, other->count, layout, inner_type,
					    memory);
	}
	return ret;
}

int tree_list__read(struct tree_list *list, const struct tree_list *before,
		    const struct layout *layout, uint32_t type_index, struct varint_reader *in,
		    struct arena *memory)
{
	const struct layout_type *type = &layout->types[type_index];
	uint64_t count = varint__take(in), expected = 0;
	int ret;

	*list = nothing;
	/* An element takes at least two bytes, unless it is one of `before`. */
	if (in->failed ||
	    count > (uint64_t)(in->end - in->at) / 2 + (layout->has_runs ? before->count : 0))
		return -EINVAL;
	if (!count)
		return 0;
	ret = tree_list__make(list, type, count, memory);
	for (uint32_t i = 0; i < list->count && !ret; i++) {
		uint64_t ref = varint__take(in),
			 found = ref == REF_NEXT ? expected : ref - first_ref(layout);
		bool known = ref != REF_NONE;

		if (layout->has_runs && ref == REF_SAME) {
			uint64_t same = varint__take(in);

			if (!same || same > list->count - i || expected > before->count ||
			    same > before->count - expected)
				return -EINVAL;
			ret = copy_elements(list, i, before, (uint32_t)expected, (uint32_t)same,
					    layout, type, memory);
			expected += same;
			i += (uint32_t)same - 1;
			continue;
		}

		if (known && found >= before->count)
			return -EINVAL;
		ret = read_values(list->values + (size_t)i * type->values,
				  known ? values_of(before, type, (uint32_t)found) : NULL,
				  type->values, in);
		for (uint32_t j = 0; j < type->lists && !ret; j++)
			ret = tree_list__read(
				&list->lists[(size_t)i * type->lists + j],
				known ? &before->lists[(size_t)found * type->lists + j] : &nothing,
				layout, type->list_types[j], in, memory);
		if (known)
			expected = found + 1;
	}
	return ret;
}
