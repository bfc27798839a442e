// SPDX-License-Identifier: BSD-2-Clause
// Makes the text of a label from its words, see label_text.h.
#include "symbol/label_text.h"

#include <stdio.h>
#include <string.h>

#include "symbol/plain_label.h"

/* More than the longest text of all words. */
#define WRITTEN_SIZE (LABEL_WORD_SIZE + LABEL_WORDS_MAX * (LABEL_WORD_SIZE + 8))

#define DEEP 2 /* level of what is only shown where there is room */
#define INNER_NAME_MAX 16
#define CUT_NAME_MIN 13 /* what stays of a name that is cut */

static void remove_word(struct label_text *text, size_t at)
{
	memmove(&text->words[at], &text->words[at + 1],
		(text->count - at - 1) * sizeof(*text->words));
	text->count--;
}

static bool is_type(const struct label_word *word)
{
	return word->kind == LABEL_WORD_TYPE || word->kind == LABEL_WORD_INDEX;
}

/* Whether the type is shown elsewhere. If it is nested more deeply here, it is removed there. */
static bool is_repeated(struct label_text *text, const struct label_word *word)
{
	for (size_t i = 0; i < text->count; i++) {
		const struct label_word *known = &text->words[i];

		if (!is_type(known) || strcmp(known->text, word->text))
			continue;
		if (word->nesting <= known->nesting)
			return true;
		remove_word(text, i);
		return false;
	}
	return false;
}

void label_text__add(struct label_text *text, const struct label_word *word)
{
	if (is_type(word) && is_repeated(text, word))
		return;
	if (text->count < LABEL_WORDS_MAX)
		text->words[text->count++] = *word;
}

bool label_text__has(const struct label_text *text, const char *word)
{
	/* A single word may stand in a kernel's name by chance. */
	if (strchr(word, '_') && strstr(text->base, word))
		return true;
	for (size_t i = 0; i < text->count; i++) {
		if (!strcmp(text->words[i].text, word))
			return true;
	}
	return false;
}

/* "true" and another one are "tf". */
static void append_flag(struct label_word *word, bool value)
{
	bool is_single = !strcmp(word->text, "true") || !strcmp(word->text, "false");
	size_t length = is_single ? 1 : strlen(word->text);

	if (length + 1 == sizeof(word->text))
		return;
	word->text[length] = value ? 't' : 'f';
	word->text[length + 1] = '\0';
}

void label_text__add_flag(struct label_text *text, bool value, unsigned int level)
{
	struct label_word *last = text->count ? &text->words[text->count - 1] : NULL;
	struct label_word word = {.kind = LABEL_WORD_FLAGS, .level = level};

	if (last && last->kind == LABEL_WORD_FLAGS && last->level == level) {
		append_flag(last, value);
		return;
	}
	snprintf(word.text, sizeof(word.text), "%s", value ? "true" : "false");
	label_text__add(text, &word);
}

void label_text__remove_bool(struct label_text *text, size_t first)
{
	for (size_t i = first; i < text->count; i++) {
		if (!strcmp(text->words[i].text, "bool")) {
			remove_word(text, i);
			return;
		}
	}
}

static size_t append(char *out, size_t used, const char *s)
{
	size_t length = strlen(s);

	memcpy(out + used, s, length + 1);
	return used + length;
}

/* "base<a, b<c>, d>". Returns the length. */
static size_t write_all(const struct label_text *text, char out[WRITTEN_SIZE])
{
	size_t used = append(out, 0, text->base);
	unsigned int level = 0;

	if (!text->count)
		return used;
	used = append(out, used, "<");
	for (size_t i = 0; i < text->count; i++) {
		const struct label_word *word = &text->words[i];

		for (; level > word->level; level--)
			used = append(out, used, ">");
		if (word->level > level && i && text->words[i - 1].level == level) {
			used = append(out, used, "<");
			level++;
		} else if (i) {
			used = append(out, used, ", ");
		}
		used = append(out, used, word->text);
	}
	for (; level; level--)
		used = append(out, used, ">");
	return append(out, used, ">");
}

/* The end of a kernel's own name that says nothing. Returns false if there is none. */
static bool shorten_base(struct label_text *text)
{
	static const char *const suffixes[] = {"_grid_stride_kernel", "_cuda_kernel", "_kernel",
					       "Kernel"};
	size_t length = strlen(text->base);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t suffix = strlen(suffixes[i]);

		if (length > suffix && !strcmp(text->base + length - suffix, suffixes[i])) {
			text->base[length - suffix] = '\0';
			return true;
		}
	}
	return false;
}

/* A long name among the arguments of another tells no more than a deep word. */
static bool is_long_inner(const struct label_word *word)
{
	return word->level && word->kind == LABEL_WORD_NAME && strlen(word->text) > INNER_NAME_MAX;
}

/* Whether the first one tells less: first what is nested deeply, then by kind. */
static bool tells_less(const struct label_word *word, const struct label_word *other)
{
	bool is_deep = word->level >= DEEP || is_long_inner(word);
	bool other_is_deep = other->level >= DEEP || is_long_inner(other);

	if (is_deep || other_is_deep)
		return word->level >= other->level;
	return word->kind < other->kind ||
	       (word->kind == other->kind && word->level >= other->level);
}

/* Whether the word is removed before names are cut. */
static bool tells_little(const struct label_word *word)
{
	return word->level >= DEEP || word->kind < LABEL_WORD_NUMBER ||
	       (word->level && word->kind == LABEL_WORD_NUMBER) || is_long_inner(word);
}

/* The word that tells least, the last one among equals. */
static size_t least(const struct label_text *text)
{
	size_t found = 0;

	for (size_t i = 1; i < text->count; i++) {
		if (tells_less(&text->words[i], &text->words[found]))
			found = i;
	}
	return found;
}

/*
 * Cuts the middle of the longest name so that the label is `excess` shorter, or as far as enough of
 * the name stays. Returns false if all names are short.
 */
static bool cut_longest_name(struct label_text *text, size_t excess)
{
	char whole[LABEL_WORD_SIZE];
	struct label_word *longest = NULL;
	size_t length = CUT_NAME_MIN;

	for (size_t i = 0; i < text->count; i++) {
		struct label_word *word = &text->words[i];

		if (word->kind == LABEL_WORD_NAME && strlen(word->text) > length) {
			longest = word;
			length = strlen(word->text);
		}
	}
	if (!longest)
		return false;
	if (excess > length - CUT_NAME_MIN)
		excess = length - CUT_NAME_MIN;
	memcpy(whole, longest->text, length);
	plain_label__cut(whole, length, longest->text, length - excess);
	return true;
}

/* Makes the label shorter by what tells least. Returns false if there is nothing more to remove. */
static bool shorten(struct label_text *text, size_t excess)
{
	size_t found;

	if (shorten_base(text))
		return true;
	if (!text->count)
		return false;
	found = least(text);
	if (tells_little(&text->words[found]) || !cut_longest_name(text, excess))
		remove_word(text, found);
	return true;
}

void label_text__write(struct label_text *text, char label[KERNEL_LABEL_SIZE])
{
	char written[WRITTEN_SIZE];
	size_t length = write_all(text, written);

	while (length > KERNEL_LABEL_MAX && shorten(text, length - KERNEL_LABEL_MAX))
		length = write_all(text, written);
	plain_label__cut(written, length, label, KERNEL_LABEL_MAX);
}
