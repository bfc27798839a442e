// SPDX-License-Identifier: BSD-2-Clause
// Build ids as text; see build_id.h.
#include "symbol/build_id.h"

#include <stdio.h>

void build_id__write(const uint8_t *id, size_t size, char text[BUILD_ID_TEXT_SIZE])
{
	text[0] = '\0';
	for (size_t i = 0; i < size && i < BUILD_ID_SIZE_MAX; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}
