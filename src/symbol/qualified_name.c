// SPDX-License-Identifier: BSD-2-Clause
// C++ function names without arguments, see qualified_name.h.
#include "symbol/qualified_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ANONYMOUS "(anonymous namespace)"
#define OPERATOR "operator"

/* The name as far as it is written. `depth` counts the open brackets whose content is left out. */
struct writer {
	char *out;
	size_t size, length;
	size_t depth;
	bool after_parameters; /* the last character left out closed a parameter list */
};

static void put(struct writer *w, const char *text, size_t count)
{
	for (size_t i = 0; i < count && w->length + 1 < w->size; i++)
		w->out[w->length++] = text[i];
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool begins(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

/* Length of "operator" with its symbol or type at `at`; 0: there is none. */
static size_t operator_length(const char *name, const char *at)
{
	size_t length = strlen(OPERATOR);

	if (!begins(at, OPERATOR) || is_word(at[length]) || (at > name && is_word(at[-1])))
		return 0;
	if (begins(at + length, "()"))
		return length + 2;
	if (at[length] != ' ')
		return length + strspn(at + length, "<>=!+-*/%^&|~,[]");
	return length + strcspn(at + length, "(<"); /* "operator bool", "operator new" */
}

/* Whether what follows a name belongs to its parameters: " const", " [clone .cold]". */
static bool is_suffix(const struct writer *w, const char *space)
{
	return space[1] == '[' ||
	       (w->after_parameters &&
		(begins(space, " const") || begins(space, " volatile") || space[1] == '&'));
}

/* Takes a character outside of brackets, or more of them. Returns how many; 0: the name ends. */
static size_t take(struct writer *w, const char *name, const char *at)
{
	size_t length = operator_length(name, at);

	if (length) {
		put(w, at, length);
	} else if (begins(at, ANONYMOUS)) {
		length = strlen(ANONYMOUS);
		length += begins(at + length, "::") ? 2 : 0;
	} else if (*at == '(' || *at == '<') {
		w->depth = 1;
		length = 1;
	} else if (*at == ' ') {
		if (begins(at, " const::"))
			return strlen(" const");
		if (is_suffix(w, at))
			return 0;
		if (at[1] != '<')      /* "operator<< <int>" */
			w->length = 0; /* that was the return type */
		length = 1;
	} else {
		put(w, at, 1);
		length = 1;
	}
	w->after_parameters = false;
	return length;
}

/* Skips a character within brackets. The arrow of "->" closes none. */
static void skip(struct writer *w, const char *at)
{
	if (strchr("(<", *at))
		w->depth++;
	else if (*at == ')' || (*at == '>' && at[-1] != '-'))
		w->depth--;
	w->after_parameters = !w->depth && *at == ')';
}

void qualified_name__write(const char *demangled, char *out, size_t size)
{
	struct writer w = {.out = out, .size = size};
	size_t length = 1;

	for (const char *at = demangled; *at && length; at += length) {
		if (w.depth) {
			skip(&w, at);
			length = 1;
		} else {
			length = take(&w, demangled, at);
		}
	}
	out[w.length] = '\0';
	if (!w.length || *demangled == '<') /* "<T as Trait>::method" is Rust's */
		snprintf(out, size, "%s", demangled);
}
