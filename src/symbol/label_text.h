/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A label while it is made: the kernel's own name and what goes between its angle brackets. When
 * all of it does not fit, what tells least is left out first.
 */
#ifndef SYMBOL_LABEL_TEXT_H
#define SYMBOL_LABEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "symbol/kernel_label.h"

#define LABEL_WORDS_MAX 32
#define LABEL_WORD_SIZE 64

/* In the order in which words are left out. */
enum label_word_kind {
	LABEL_WORD_ENUM,
	LABEL_WORD_INDEX, /* the type of an index or size */
	LABEL_WORD_FLAGS,
	LABEL_WORD_NUMBER,
	LABEL_WORD_TYPE,
	LABEL_WORD_NAME,
};

struct label_word {
	char text[LABEL_WORD_SIZE];
	enum label_word_kind kind;
	unsigned int level;   /* of brackets, 0: the kernel's own arguments */
	unsigned int nesting; /* in the name: a type is shown where it is nested most deeply */
};

struct label_text {
	char base[LABEL_WORD_SIZE];
	struct label_word words[LABEL_WORDS_MAX];
	size_t count;
};

/*
 * Adds a word. A type that is there already is not added, or replaces the one there if it is nested
 * more deeply; other words that do not fit are left out, and so is the end of a long text.
 */
void label_text__add(struct label_text *text, const struct label_word *word);

/* Whether the kernel's own name contains the text, or a word is the text. */
bool label_text__has(const struct label_text *text, const char *word);

/* Adds a boolean. Several in a row become one word, such as "tff". */
void label_text__add_flag(struct label_text *text, bool value, unsigned int level);

/* Removes the type bool among the words from `first` on. */
void label_text__remove_bool(struct label_text *text, size_t first);

/* Writes the label. Removes words from `text` until the label fits. */
void label_text__write(struct label_text *text, char label[KERNEL_LABEL_SIZE]);

#endif
