/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the word that a mistyped one was meant to be, for "did you mean". */
#ifndef BASE_SIMILAR_H
#define BASE_SIMILAR_H

#include <stddef.h>

/* The search for the candidate most similar to a word. */
struct similar {
	const char *word;
	const char *best; /* NULL: none is similar */
	size_t distance;
};

void similar__begin(struct similar *similar, const char *word);

/* Compares one more candidate; `candidate` must outlive the search. The first of equals wins. */
void similar__try(struct similar *similar, const char *candidate);

/*
 * The candidate most similar to the word, or the only one that begins with it; NULL: there is none.
 */
const char *similar__find(const char *word, const char *const *candidates, size_t count);

#endif
