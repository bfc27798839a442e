// SPDX-License-Identifier: BSD-2-Clause
// Names in place of those that a recording must not have, see pseudonyms.h.
#include "record/pseudonyms.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/array.h"
#include "record/dictionary.h"

/* The names of one kind, which have the numbers 1, 2, ... */
struct pseudonym_kind {
	const char *word;
	struct dictionary names;
};

struct pseudonyms {
	struct pseudonym_kind *kinds;
	size_t kind_count;
};

struct pseudonyms *pseudonyms__new(void)
{
	return calloc(1, sizeof(struct pseudonyms));
}

void pseudonyms__free(struct pseudonyms *pseudonyms)
{
	if (!pseudonyms)
		return;
	for (size_t i = 0; i < pseudonyms->kind_count; i++)
		dictionary__clear(&pseudonyms->kinds[i].names);
	free(pseudonyms->kinds);
	free(pseudonyms);
}

/* There are about twenty kinds. NULL without memory. */
static struct pseudonym_kind *find_kind(struct pseudonyms *pseudonyms, const char *word)
{
	for (size_t i = 0; i < pseudonyms->kind_count; i++)
		if (!strcmp(pseudonyms->kinds[i].word, word))
			return &pseudonyms->kinds[i];
	if (ARRAY_APPEND(pseudonyms->kinds, pseudonyms->kind_count,
			 (struct pseudonym_kind){.word = word}))
		return NULL;
	return &pseudonyms->kinds[pseudonyms->kind_count - 1];
}

static bool is_full(const struct pseudonyms *pseudonyms)
{
	size_t names = 0, bytes = 0;

	for (size_t i = 0; i < pseudonyms->kind_count; i++) {
		names += pseudonyms->kinds[i].names.count;
		bytes += pseudonyms->kinds[i].names.bytes;
	}
	return names >= PSEUDONYMS_MAX || bytes >= PSEUDONYMS_BYTES_MAX;
}

/* 0: it has none. */
static uint32_t number_of(struct pseudonyms *pseudonyms, const char *word, const char *name,
			  size_t length)
{
	struct pseudonym_kind *kind = find_kind(pseudonyms, word);
	bool is_new;

	if (!kind)
		return 0;
	if (is_full(pseudonyms))
		return dictionary__find(&kind->names, name, length);
	return dictionary__take(&kind->names, name, length, &is_new);
}

struct pseudonym pseudonyms__of(struct pseudonyms *pseudonyms, const char *kind, const char *name,
				size_t most)
{
	struct pseudonym pseudonym = {""};
	size_t length = strnlen(name, most);
	uint32_t number = length ? number_of(pseudonyms, kind, name, length) : 0;

	if (number)
		snprintf(pseudonym.text, sizeof(pseudonym.text), "%s-%u", kind, number);
	else if (length)
		snprintf(pseudonym.text, sizeof(pseudonym.text), "%s-other", kind);
	return pseudonym;
}

struct pseudonym pseudonyms__of_function(struct pseudonyms *pseudonyms, const char *name)
{
	struct pseudonym pseudonym;

	if (strlen(name) >= sizeof(pseudonym.text) || api__find(name, API_NEWEST) < 0)
		return pseudonyms__of(pseudonyms, "function", name, SIZE_MAX);
	snprintf(pseudonym.text, sizeof(pseudonym.text), "%s", name);
	return pseudonym;
}
