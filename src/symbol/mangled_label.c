// SPDX-License-Identifier: BSD-2-Clause
// Labels of kernels that only have a mangled name, see mangled_label.h.
#include "symbol/mangled_label.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "symbol/label_text.h"
#include "symbol/label_words.h"

#define ALIKE 8 /* classes whose names begin alike say the same */

struct reader {
	const char *s;
	struct label_text text;
	bool has_class, has_shape;
};

/* Reads "9GemmShape" at `s` if there is such an identifier. */
static bool read_identifier(struct reader *reader, struct name_part *identifier)
{
	size_t length = 0;
	const char *s = reader->s;

	while (isdigit((unsigned char)*s) && length < UINT16_MAX)
		length = length * 10 + (size_t)(*s++ - '0');
	if (!length || length > UINT16_MAX || strnlen(s, length) < length)
		return false;
	*identifier = (struct name_part){.text = s, .length = (uint16_t)length};
	reader->s = s + length;
	return true;
}

static void add_word(struct reader *reader, enum label_word_kind kind, const char *text,
		     size_t length)
{
	struct label_word word = {.kind = kind};

	snprintf(word.text, sizeof(word.text), "%.*s", (int)length, text);
	label_text__add(&reader->text, &word);
}

/* "ILi64ELi128ELi32EE" is 64x128x32. */
static void add_shape(struct reader *reader)
{
	char text[LABEL_WORD_SIZE] = "";
	size_t used = 0;
	const char *s = reader->s;

	if (*s == 'I')
		s++;
	while (!strncmp(s, "Li", 2) && used + 1 < sizeof(text)) {
		if (used)
			text[used++] = 'x';
		for (s += 2; isdigit((unsigned char)*s) && used + 1 < sizeof(text); s++)
			text[used++] = *s;
		if (*s == 'E')
			s++;
	}
	reader->s = s;
	if (used)
		add_word(reader, LABEL_WORD_NUMBER, text, used);
	reader->has_shape = true;
}

static bool is_alike(const struct name_part *identifier, const char *base)
{
	return identifier->length >= ALIKE && !strncmp(identifier->text, base, ALIKE);
}

/* The first class is the label's name if the function's own says nothing. */
static void add_identifier(struct reader *reader, const struct name_part *identifier)
{
	const struct label_class *class = label_words__class(identifier);
	const char *type = label_words__type(identifier);
	bool is_class = isupper((unsigned char)*identifier->text);

	if (type) {
		add_word(reader, LABEL_WORD_TYPE, type, strlen(type));
	} else if (class->form == LABEL_SHAPE && !reader->has_shape) {
		add_shape(reader);
	} else if (is_class && label_words__is_generic_text(reader->text.base)) {
		snprintf(reader->text.base, sizeof(reader->text.base), "%.*s", identifier->length,
			 identifier->text);
	} else if (is_class && class->form == LABEL_NAMED && !reader->has_class &&
		   !is_alike(identifier, reader->text.base)) {
		add_word(reader, LABEL_WORD_NAME, identifier->text, identifier->length);
		reader->has_class = true;
	}
}

/* Skips a literal, a substitution or a template parameter, whose digits are no lengths. */
static bool skip_reference(struct reader *reader)
{
	const char *s = reader->s;

	if (s[0] == 'L' && islower((unsigned char)s[1])) {
		s += 2;
		while (isdigit((unsigned char)*s) || *s == 'n')
			s++;
	} else if (s[0] == 'S' || s[0] == 'T') {
		s++;
		while (isdigit((unsigned char)*s) || isupper((unsigned char)*s))
			s++;
		if (*s != '_')
			return false;
		s++;
	} else {
		return false;
	}
	reader->s = s;
	return true;
}

bool mangled_label__write(const char *mangled, char *label)
{
	struct reader reader = {.s = mangled + 2};
	struct name_part identifier;

	if (strncmp(mangled, "_Z", 2) != 0)
		return false;
	/* The names of the function's scopes come first, then its own. */
	reader.s += strspn(reader.s, "NL");
	while (read_identifier(&reader, &identifier)) {
		snprintf(reader.text.base, sizeof(reader.text.base), "%.*s", identifier.length,
			 identifier.text);
		if (mangled[2] != 'N')
			break;
	}
	if (!*reader.text.base)
		return false;
	while (*reader.s) {
		if (read_identifier(&reader, &identifier))
			add_identifier(&reader, &identifier);
		else if (!skip_reference(&reader))
			reader.s++;
	}
	label_text__write(&reader.text, label);
	return true;
}
