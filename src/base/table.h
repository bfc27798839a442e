/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash tables: uthash, and one line for what takes several with it.
 *
 *	struct user {
 *		uid_t uid;
 *		size_t files;
 *		UT_hash_handle hh;
 *	} *users = NULL, *user;
 *
 *	user = TABLE_TAKE(users, uid, &uid);
 *	TABLE_CLEAR(users, free);
 *
 * `head` is a variable, the table: NULL while it is empty. `field` is the elements' member with the
 * key, which has a fixed size; `key` points to a key. Keys are compared byte by byte, so a
 * structure must have no padding. Tables by text, or by another handle than `hh`, use uthash's own
 * macros.
 *
 * uthash by itself ends the program when memory runs out. Here HASH_ADD leaves the element out
 * then: its hh.tbl is NULL.
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

/*
 * Adds `element`, a variable, whose key no other has. Returns 0, or -ENOMEM: the element is still
 * the caller's then.
 */
#define TABLE_ADD(head, field, element) \
	({ \
		HASH_ADD(hh, head, field, sizeof((element)->field), element); \
		(element)->hh.tbl ? 0 : -ENOMEM; \
	})

/*
 * Adds a new element (calloc) whose key no other has: zeros, but for the key. Returns it, or NULL
 * without memory.
 */
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

/*
 * The element with that key; if there is none, a new one as TABLE_ADD_NEW makes it. NULL without
 * memory.
 */
#define TABLE_TAKE(head, field, key) \
	({ \
		const __typeof__(*(key)) *take_key_ = (key); \
		__typeof__(*(head)) *taken_ = TABLE_FIND(head, field, take_key_); \
		taken_ ? taken_ : TABLE_ADD_NEW(head, field, take_key_); \
	})

/*
 * Takes out each element for which `condition` holds, and calls `release`, such as free, for it.
 * `element` is the name by which the condition calls it.
 */
#define TABLE_DROP(head, element, condition, release) \
	do { \
		/* NOLINTNEXTLINE(bugprone-macro-parentheses): it is declared here */ \
		__typeof__(*(head)) *element, *after_; \
		HASH_ITER (hh, head, element, after_) { \
			if (!(condition)) \
				continue; \
			HASH_DEL(head, element); \
			release(element); \
		} \
	} while (0)

/* Empties the table, then calls `release`, such as free, for each element. */
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
