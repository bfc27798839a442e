// SPDX-License-Identifier: BSD-2-Clause
// Suggests a finding for an unknown id.
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "finding/finding.h"

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

/* NULL: nothing is similar. */
static const char *meant_by(const char *id, size_t length)
{
	const char *meant = NULL;
	int best = 0;

	for (size_t i = 0; i < finding_kind_count; i++) {
		int like = likeness(finding_kinds[i].id, id, length);

		if (like > best) {
			best = like;
			meant = finding_kinds[i].id;
		}
	}
	return meant;
}

int finding_kind__unknown(const char *id, size_t length, struct error *err)
{
	const char *meant = meant_by(id, length);

	return error__set(err, -EINVAL,
			  "no finding is called '%.*s'%s%s%s: see gpuprobe diagnose --list",
			  (int)(length < 64 ? length : 64), id, meant ? " (did you mean " : "",
			  meant ? meant : "", meant ? "?)" : "");
}
