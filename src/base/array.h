/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays that grow at their end: a pointer and a count, NULL and 0 at first, released with free(3).
 *
 *	if (ARRAY_APPEND(list->pids, list->count, pid))
 *		return -ENOMEM;
 *
 * There is no capacity to keep: an array of `count` items has room for the next power of two. So an
 * array that grows here must be allocated here, and must not be cut to its size. The count may be
 * lowered. uthash's utarray does not serve: it ends the program when memory runs out.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <errno.h>
#include <stddef.h>

/*
 * ARRAY_APPEND appends an item. ARRAY_RESERVE makes room for `more` items, which the caller then
 * writes behind the others (items[count++] = item). `items` and `count` are variables.
 *
 * Both return 0, or -ENOMEM if memory runs out or the size overflows: the array and its count are
 * unchanged then. Both may move the array.
 */
#define ARRAY_APPEND(items, count, ...) \
	({ \
		int append_ret_ = ARRAY_RESERVE(items, count, 1); \
		if (!append_ret_) \
			(items)[(count)++] = (__VA_ARGS__); \
		append_ret_; \
	})

#define ARRAY_RESERVE(items, count, more) \
	({ \
		void *grown_ = array__grow((items), (count), (more), sizeof(*(items))); \
		if (grown_) \
			(items) = grown_; \
		grown_ ? 0 : -ENOMEM; \
	})

/*
 * For the macros. Returns the array with room for `more` items of `size` bytes, or NULL, and the
 * array is unchanged then.
 */
void *array__grow(void *items, size_t count, size_t more, size_t size);

/*
 * Sorts `count` items of `size` bytes by `compare`, as qsort(3) does, and keeps one of equal ones.
 * Returns how many are left. `items` may be NULL if there are none.
 */
size_t array__keep_distinct(void *items, size_t count, size_t size,
			    int (*compare)(const void *one, const void *other));

#endif
