// SPDX-License-Identifier: BSD-2-Clause
// Finds a kind of findings by its id, and suggests one for an unknown id.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/similar.h"
#include "finding/finding.h"

#define ID_SHOWN 64

const struct finding_kind *finding_kind__find(const char *id)
{
	for (size_t i = 0; i < finding_kind_count; i++)
		if (!strcmp(finding_kinds[i]->id, id))
			return finding_kinds[i];
	return NULL;
}

static bool has_within(const char *known, const char *id, size_t length)
{
	for (; strlen(known) >= length; known++)
		if (!strncasecmp(known, id, length))
			return true;
	return false;
}

/*
 * Similarity of two ids, ignoring case: 3 equal, 2 one is a prefix of the other, 1 contained, 0
 * none.
 */
static int likeness(const char *known, const char *id, size_t length)
{
	size_t own = strlen(known);

	if (!length)
		return 0;
	if (!strncasecmp(known, id, own < length ? own : length))
		return own == length ? 3 : 2;
	return has_within(known, id, length);
}

/* The id of which `id` is a mistyping; NULL: none. */
static const char *mistyped(const char *id, size_t length)
{
	char word[ID_SHOWN + 1];
	struct similar similar;

	snprintf(word, sizeof(word), "%.*s", (int)(length < ID_SHOWN ? length : ID_SHOWN), id);
	similar__begin(&similar, word);
	for (size_t i = 0; i < finding_kind_count; i++)
		similar__try(&similar, finding_kinds[i]->id);
	return similar.best;
}

/* NULL: nothing is similar. */
static const char *meant_by(const char *id, size_t length)
{
	const char *meant = NULL;
	int best = 0;

	for (size_t i = 0; i < finding_kind_count; i++) {
		int like = likeness(finding_kinds[i]->id, id, length);

		if (like > best) {
			best = like;
			meant = finding_kinds[i]->id;
		}
	}
	return meant ? meant : mistyped(id, length);
}

int finding_kind__unknown(const char *id, size_t length, struct error *err)
{
	const char *meant = meant_by(id, length);

	return error__set(err, -EINVAL,
			  "no finding is called '%.*s'%s%s%s: see gpuprobe diagnose --list",
			  (int)(length < ID_SHOWN ? length : ID_SHOWN), id,
			  meant ? " (did you mean " : "", meant ? meant : "", meant ? "?)" : "");
}
