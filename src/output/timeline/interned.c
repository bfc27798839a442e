// SPDX-License-Identifier: BSD-2-Clause
// Texts by number, see interned.h.
#include "output/timeline/interned.h"

#include "base/table.h"

#define TEXTS_MAX 8192u
#define BYTES_MAX (1u << 20)
#define PACKET_TEXTS 128u /* more than one packet has */

struct text {
	uint32_t number;
	UT_hash_handle hh;
	char bytes[]; /* its kind, then the text */
};

struct interned {
	struct text *texts;
	uint32_t last[INTERNED_KINDS];
	size_t bytes;
};

struct interned *interned__new(void)
{
	return calloc(1, sizeof(struct interned));
}

static void clear(struct interned *interned)
{
	TABLE_CLEAR(interned->texts, free);
	memset(interned->last, 0, sizeof(interned->last));
	interned->bytes = 0;
}

void interned__free(struct interned *interned)
{
	if (!interned)
		return;
	clear(interned);
	free(interned);
}

bool interned__make_room(struct interned *interned)
{
	if (HASH_COUNT(interned->texts) + PACKET_TEXTS <= TEXTS_MAX && interned->bytes < BYTES_MAX)
		return false;
	clear(interned);
	return true;
}

/* The key is the kind, then the text. */
uint32_t interned__take(struct interned *interned, enum interned_kind kind, const char *text,
			size_t length, bool *is_new)
{
	struct text *added = malloc(sizeof(*added) + length + 1), *known;

	*is_new = false;
	if (!added)
		return 0;
	added->bytes[0] = (char)kind;
	memcpy(added->bytes + 1, text, length);
	HASH_FIND(hh, interned->texts, added->bytes, length + 1, known);
	if (known) {
		free(added);
		return known->number;
	}
	added->number = interned->last[kind] + 1;
	HASH_ADD_KEYPTR(hh, interned->texts, added->bytes, length + 1, added);
	if (!added->hh.tbl) {
		free(added);
		return 0;
	}
	interned->last[kind]++;
	interned->bytes += length;
	*is_new = true;
	return added->number;
}
