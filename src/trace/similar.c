// SPDX-License-Identifier: BSD-2-Clause
// Similarity of words by edit distance: how many letters must be inserted, removed or changed; see
// similar.h.
#include "trace/similar.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 64 /* longer words are similar to nothing */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t distance_between(const char *word, const char *candidate)
{
	size_t length = strlen(word), row[LONGEST + 1], i, diagonal, above;
	const char *c;

	for (i = 0; i <= length; i++)
		row[i] = i;
	for (c = candidate; *c; c++) {
		diagonal = row[0]++;
		for (i = 1; i <= length; i++) {
			above = row[i];
			row[i] = least(least(row[i], row[i - 1]) + 1,
				       diagonal + (tolower((unsigned char)word[i - 1]) !=
						   tolower((unsigned char)*c)));
			diagonal = above;
		}
	}
	return row[length];
}

void similar__begin(struct similar *similar, const char *word)
{
	size_t length = strlen(word);

	similar->word = word;
	similar->best = NULL;
	/* One letter in three may be wrong. */
	similar->distance = length > LONGEST ? 0 : length / 3 + 1;
}

void similar__try(struct similar *similar, const char *candidate)
{
	size_t length = strlen(similar->word), longer = strlen(candidate), distance;

	if (!similar->distance)
		return;
	/* "Malloc" means cudaMalloc. */
	if (longer > length && length > 3 &&
	    strcmp(candidate + longer - length, similar->word) == 0)
		distance = 1;
	else
		distance = distance_between(similar->word, candidate);
	if (distance >= similar->distance)
		return;
	similar->distance = distance;
	similar->best = candidate;
}
