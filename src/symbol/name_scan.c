// SPDX-License-Identifier: BSD-2-Clause
// Where words, bracket groups and operators of a demangled name end; see name_scan.h.
#include "symbol/name_scan.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define NESTING_MAX 256

/* Longer ones first. A '<' that begins template arguments is not part of an operator. */
static const char *const operators[] = {
	"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "==", "!=",
	"&&",  "||",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<",
	">",   "=",   "!",   "+",   "-",  "*",	"/",  "%",  "^",  "&",	"|",  "~",  ","};

bool name_scan__is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static char closing(char open)
{
	switch (open) {
	case '(': return ')';
	case '[': return ']';
	case '{': return '}';
	default: return '>';
	}
}

const char *name_scan__skip_group(const char *s)
{
	char expected[NESTING_MAX] = "";
	size_t depth = 0;

	for (; *s; s++) {
		if (strchr("([{<", *s)) {
			if (depth == NESTING_MAX)
				return s + strlen(s);
			expected[depth++] = closing(*s);
		} else if (*s == '>' && s[-1] != '-') {
			if (expected[depth - 1] == '>')
				depth--;
		} else if (strchr(")]}", *s)) {
			while (depth && expected[depth - 1] == '>')
				depth--;
			if (depth)
				depth--;
		}
		if (!depth)
			return s + 1;
	}
	return s;
}

const char *name_scan__skip_operator(const char *s)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		size_t length = strlen(operators[i]);

		if (strncmp(s, operators[i], length) == 0)
			return s + length;
	}
	while (*s && *s != '(') /* "operator new[]", "operator float" */
		s = *s == '<' ? name_scan__skip_group(s) : s + 1;
	return s;
}

bool name_scan__is_scope(const char *group, const char *end)
{
	return strncmp(group, "(anonymous namespace)", strlen("(anonymous namespace)")) == 0 ||
	       strncmp(end, "::", 2) == 0 || strncmp(end, " const::", 8) == 0;
}
