/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of items of one size, which grows at its end. */
#ifndef COLLECT_GROWING_LIST_H
#define COLLECT_GROWING_LIST_H

#include <stddef.h>

/*
 * Appends a copy of the item, of `size` bytes. *items (malloc) starts as NULL with *count 0. The
 * list may be shortened by lowering the count. Returns 0, or -ENOMEM with the list unchanged.
 */
int growing_list__append(void **items, size_t *count, const void *item, size_t size);

#endif
