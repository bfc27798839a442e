/* SPDX-License-Identifier: BSD-2-Clause */
/* A list in memory of items of one size, which grows at its end. */
#ifndef COLLECT_GROWING_LIST_H
#define COLLECT_GROWING_LIST_H

#include <stddef.h>

/*
 * Appends a copy of the item, of `size` bytes. *items (malloc) begins as NULL with a *count of 0, and
 * may have been shortened by lowering the count. Returns 0 or -ENOMEM; the list is as it was then.
 */
int growing_list__append(void **items, size_t *count, const void *item, size_t size);

#endif
