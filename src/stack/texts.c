// SPDX-License-Identifier: BSD-2-Clause
// Texts that many frames share; see texts.h.
#include "stack/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

struct text {
	UT_hash_handle hh;
	size_t references;
	char text[];
};

struct texts {
	struct text *list;
	size_t bytes;
};

struct texts *texts__new(void)
{
	return calloc(1, sizeof(struct texts));
}

static void drop(struct texts *texts, struct text *text)
{
	texts->bytes -= sizeof(*text) + text->hh.keylen;
	HASH_DEL(texts->list, text);
	free(text);
}

void texts__free(struct texts *texts)
{
	struct text *text, *next;

	if (!texts)
		return;
	HASH_ITER (hh, texts->list, text, next) {
		drop(texts, text);
	}
	free(texts);
}

const char *texts__take(struct texts *texts, const char *text)
{
	size_t length = strlen(text);
	struct text *kept;

	HASH_FIND(hh, texts->list, text, length, kept);
	if (kept) {
		kept->references++;
		return kept->text;
	}
	kept = calloc(1, sizeof(*kept) + length + 1);
	if (!kept)
		return NULL;
	kept->references = 1;
	memcpy(kept->text, text, length);
	HASH_ADD(hh, texts->list, text, length, kept);
	if (!kept->hh.tbl) {
		free(kept);
		return NULL;
	}
	texts->bytes += sizeof(*kept) + length;
	return kept->text;
}

void texts__put(struct texts *texts, const char *text)
{
	struct text *kept;

	if (!text)
		return;
	kept = (struct text *)(text - offsetof(struct text, text));
	if (!--kept->references)
		drop(texts, kept);
}

size_t texts__bytes(const struct texts *texts)
{
	return texts->bytes;
}
