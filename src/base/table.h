/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uthash as all of gpuprobe uses it, with what it takes many lines for in one. Left to itself uthash ends the
 * program, without a word, where there is no memory for an addition. Here the element is left out then, and its
 * hh.tbl is NULL.
 *
 * In what follows `head` is the table: a pointer to an element, NULL while there is none. The elements have a
 * UT_hash_handle called hh, and a key of a fixed size in the member `field`; `key` points to one of the same size.
 * Keys are compared by their bytes, so a structure must have no padding.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* The element with that key, or NULL. */
#define TABLE_FIND(head, field, key) \
	({ \
		const __typeof__(*(key)) *find_key_ = (key); \
		__typeof__(*(head)) *found_; \
		_Static_assert(sizeof(*find_key_) == sizeof(found_->field), "keys of two sizes"); \
		HASH_FIND(hh, head, find_key_, sizeof(*find_key_), found_); \
		found_; \
	})

/* Adds an element with a key that no other has. Returns 0, or -ENOMEM: the element is still the caller's then. */
#define TABLE_ADD(head, field, element) \
	({ \
		__typeof__(*(head)) *added_ = (element); \
		HASH_ADD(hh, head, field, sizeof(added_->field), added_); \
		added_->hh.tbl ? 0 : -ENOMEM; \
	})

/* Adds a new element (calloc) with that key, which no other has, and zeros otherwise. NULL without memory. */
#define TABLE_ADD_NEW(head, field, key) \
	({ \
		const __typeof__(*(key)) *new_key_ = (key); \
		__typeof__(*(head)) *new_ = calloc(1, sizeof(*new_)); \
		_Static_assert(sizeof(*new_key_) == sizeof(new_->field), "keys of two sizes"); \
		if (new_) { \
			memcpy(&new_->field, new_key_, sizeof(*new_key_)); \
			if (TABLE_ADD(head, field, new_)) { \
				free(new_); \
				new_ = NULL; \
			} \
		} \
		new_; \
	})

/* The element with that key, a new one as of TABLE_ADD_NEW if there was none. NULL without memory. */
#define TABLE_TAKE(head, field, key) \
	({ \
		const __typeof__(*(key)) *take_key_ = (key); \
		__typeof__(*(head)) *taken_ = TABLE_FIND(head, field, take_key_); \
		taken_ ? taken_ : TABLE_ADD_NEW(head, field, take_key_); \
	})

/* Empties the table: each element is given to `release`, such as free, when the table no longer has it. */
#define TABLE_CLEAR(head, release) \
	do { \
		__typeof__(*(head)) *cleared_ = (head), *after_; \
		HASH_CLEAR(hh, head); \
		for (; cleared_; cleared_ = after_) { \
			after_ = cleared_->hh.next; \
			release(cleared_); \
		} \
	} while (0)

#endif
