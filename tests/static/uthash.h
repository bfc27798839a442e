/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uthash for clang's analyzer alone: it does not follow the real macros, takes what is left in a
 * table for what has been freed, and spends half a minute a file on them. Here the result of every
 * lookup is unknown.
 */
#ifndef TESTS_STATIC_UTHASH_H
#define TESTS_STATIC_UTHASH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct UT_hash_handle {
	void *tbl, *prev, *next;
	const void *key;
	unsigned int keylen, hashv;
} UT_hash_handle;

/* Never defined. */
void *uthash_unknown(const void *, ...);
unsigned int uthash_number(const void *);

#define HASH_ADD_KEYPTR(hh, head, keyptr, keylen, add) \
	do { \
		(head) = uthash_unknown((head), (add), (keyptr), (size_t)(keylen)); \
		(add)->hh.tbl = uthash_unknown(head); \
	} while (0)
#define HASH_ADD(hh, head, field, keylen, add) HASH_ADD_KEYPTR(hh, head, &(add)->field, keylen, add)
#define HASH_ADD_INT(head, field, add) HASH_ADD(hh, head, field, sizeof(int), add)
#define HASH_ADD_PTR(head, field, add) HASH_ADD(hh, head, field, sizeof(void *), add)
#define HASH_ADD_STR(head, field, add) HASH_ADD_KEYPTR(hh, head, (add)->field, 0, add)
#define HASH_FIND(hh, head, keyptr, keylen, out) \
	((out) = uthash_unknown((head), (keyptr), (size_t)(keylen)))
#define HASH_FIND_INT(head, key, out) HASH_FIND(hh, head, key, sizeof(int), out)
#define HASH_FIND_PTR(head, key, out) HASH_FIND(hh, head, key, sizeof(void *), out)
#define HASH_FIND_STR(head, key, out) HASH_FIND(hh, head, key, 0, out)
#define HASH_DELETE(hh, head, el) ((head) = uthash_unknown((head), (el)))
#define HASH_DEL(head, el) HASH_DELETE(hh, head, el)
#define HASH_CLEAR(hh, head) ((head) = NULL)
#define HASH_COUNT(head) uthash_number(head)
#define HASH_SORT(head, compare) ((void)(compare), (head) = uthash_unknown(head))
#define HASH_ITER(hh, head, el, tmp) \
	for ((el) = (head), (tmp) = (el) ? uthash_unknown(el) : NULL; (el); \
	     (el) = (tmp), (tmp) = (el) ? uthash_unknown(el) : NULL)

#endif
