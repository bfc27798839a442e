// SPDX-License-Identifier: BSD-2-Clause
// Similarity of words by edit distance: how many letters must be inserted, removed, changed, or
// swapped with their neighbour; see similar.h.
#include "base/similar.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define LONGEST 64	  /* longer words are similar to nothing */
#define LEAST_BEGINNING 3 /* letters */

/* Distances of a candidate's beginning to all beginnings of the word. */
typedef size_t distances[LONGEST + 1];

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The last row of the matrix is the only one wanted, and each needs the two before it. */
static size_t distance_between(const char *word, const char *candidate)
{
	size_t length = strlen(word);
	distances rows[3];
	size_t *older = rows[0], *old = rows[1], *row = rows[2];

	for (size_t i = 0; i <= length; i++)
		row[i] = i;
	for (size_t c = 0; candidate[c]; c++) {
		size_t *free_row = older;

		older = old;
		old = row;
		row = free_row;
		row[0] = c + 1;
		for (size_t i = 1; i <= length; i++) {
			row[i] = least(least(old[i], row[i - 1]) + 1,
				       old[i - 1] + !same(word[i - 1], candidate[c]));
			if (c && i > 1 && same(word[i - 1], candidate[c - 1]) &&
			    same(word[i - 2], candidate[c]))
				row[i] = least(row[i], older[i - 2] + 1);
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

	if (!similar->distance || longer > length + LONGEST)
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

/* The only candidate that begins with the word: "diag" means diagnose. */
static const char *find_beginning(const char *word, const char *const *candidates, size_t count)
{
	size_t length = strlen(word);
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (length < LEAST_BEGINNING || strncmp(candidates[i], word, length) != 0)
			continue;
		if (found)
			return NULL;
		found = candidates[i];
	}
	return found;
}

const char *similar__find(const char *word, const char *const *candidates, size_t count)
{
	struct similar similar;

	similar__begin(&similar, word);
	for (size_t i = 0; i < count; i++)
		similar__try(&similar, candidates[i]);
	return similar.best ? similar.best : find_beginning(word, candidates, count);
}
