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
	REF_FIRST = 2, /* this plus its index */
};

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
		uint32_t found = find(&finder, expected, values);
		bool known = found < before->count;

		bytes__number(out, !known	     ? REF_NONE :
				   found == expected ? REF_NEXT :
						       REF_FIRST + found);
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

int tree_list__read(struct tree_list *list, const struct tree_list *before,
		    const struct layout *layout, uint32_t type_index, struct varint_reader *in,
		    struct arena *memory)
{
	const struct layout_type *type = &layout->types[type_index];
	uint64_t count = varint__take(in), expected = 0;
	int ret;

	*list = nothing;
	/* An element takes at least two bytes. */
	if (in->failed || count > (uint64_t)(in->end - in->at) / 2)
		return -EINVAL;
	if (!count)
		return 0;
	ret = tree_list__make(list, type, count, memory);
	for (uint32_t i = 0; i < list->count && !ret; i++) {
		uint64_t ref = varint__take(in),
			 found = ref == REF_NEXT ? expected : ref - REF_FIRST;
		bool known = ref != REF_NONE;

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
