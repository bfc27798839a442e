/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * utlist for clang's analyzer alone, as tests/static/uthash.h is uthash: what a list has is
 * unknown to it.
 */
#ifndef TESTS_STATIC_UTLIST_H
#define TESTS_STATIC_UTLIST_H

#include <stddef.h>

/* Never defined. */
void *utlist_unknown(const void *, ...);

#define DL_APPEND2(head, add, prev, next) \
	((add)->prev = utlist_unknown(head), (add)->next = NULL, \
	 (head) = utlist_unknown((head), (add)))
#define DL_PREPEND2(head, add, prev, next) \
	((add)->prev = utlist_unknown(head), (add)->next = (head), (head) = (add))
#define DL_DELETE2(head, el, prev, next) \
	((head) = utlist_unknown((head), (el), (el)->prev, (el)->next))
#define DL_APPEND(head, add) DL_APPEND2(head, add, prev, next)
#define DL_DELETE(head, el) DL_DELETE2(head, el, prev, next)
#define DL_FOREACH2(head, el, next) for ((el) = (head); (el); (el) = (el)->next)
#define DL_FOREACH(head, el) DL_FOREACH2(head, el, next)
#define DL_FOREACH_SAFE(head, el, tmp) \
	for ((el) = (head), (tmp) = (el) ? utlist_unknown(el) : NULL; (el); \
	     (el) = (tmp), (tmp) = (el) ? utlist_unknown(el) : NULL)

#endif
