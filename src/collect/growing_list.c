// SPDX-License-Identifier: BSD-2-Clause
// A list that grows at its end, see growing_list.h.
#include "collect/growing_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int growing_list__append(void **items, size_t *count, const void *item, size_t size)
{
	char *grown;

	/* The room doubles whenever the count is a power of two. */
	if (!(*count & (*count - 1))) {
		grown = realloc(*items, (*count ? 2 * *count : 1) * size);
		if (!grown)
			return -ENOMEM;
		*items = grown;
	}
	memcpy((char *)*items + *count * size, item, size);
	++*count;
	return 0;
}
