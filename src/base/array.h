/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays that grow at their end: a pointer (malloc) and a count, NULL and 0 at first.
 *
 * No capacity is kept, since the count tells it: an array has room for the next power of two. So an array that
 * grows here is allocated here alone, and never cut to its size. Lowering the count takes items off, free(3)
 * releases it. uthash's utarray is not used because it ends the program where memory runs out.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <errno.h>
#include <stddef.h>

/*
 * ARRAY_APPEND(list->pids, list->count, pid) appends the item. ARRAY_RESERVE(list->pids, list->count, more) makes
 * room for `more` items, which the caller then writes behind the count, without ARRAY_APPEND.
 *
 * Both return 0, or -ENOMEM where there is no memory or the size overflows: items and count are as they were then.
 * They may move the array. `items` and `count` are variables (lvalues), and are evaluated more than once.
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

/* For the macros: the array with room for `more` items of `size` bytes, or NULL with the array as it was. */
void *array__grow(void *items, size_t count, size_t more, size_t size);

#endif
