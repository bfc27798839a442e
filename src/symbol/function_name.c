// SPDX-License-Identifier: BSD-2-Clause
// From symbols to names, see function_name.h.
#include "symbol/function_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/kernel_name.h"

#define HASH_LENGTH 19 /* "::h" and 16 digits */

static const struct {
	const char *escape, *text;
} spelled[] = {
	{"$SP$", "@"}, {"$BP$", "*"}, {"$RF$", "&"}, {"$LT$", "<"}, {"$GT$", ">"},
	{"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","}, {"..", "::"},
};

static bool has_rust_hash(const char *name, size_t length)
{
	const char *hash = name + length - HASH_LENGTH;

	if (length <= HASH_LENGTH || strncmp(hash, "::h", 3) != 0)
		return false;
	return strspn(hash + 3, "0123456789abcdef") == HASH_LENGTH - 3;
}

/* "$u7e$" is '~': one character of ASCII. 0: it is no such. */
static char parse_character(const char *s)
{
	if (s[0] != '$' || s[1] != 'u' || !isxdigit((unsigned char)s[2]) || !isxdigit((unsigned char)s[3]) ||
	    s[4] != '$' || s[2] > '7')
		return 0;
	return (char)strtoul((char[]){s[2], s[3], '\0'}, NULL, 16);
}

/* In place: nothing grows. */
static void unspell(char *name)
{
	char *to = name, character;

	while (*name) {
		size_t i;

		/* A part that begins with an escape has an underscore in front, as identifiers must begin. */
		if (*name == '_' && name[1] == '$' && (to == name || to[-1] == ':'))
			name++;
		character = parse_character(name);
		if (character >= ' ') {
			*to++ = character;
			name += 5;
			continue;
		}
		for (i = 0; i < sizeof(spelled) / sizeof(*spelled); i++) {
			if (strncmp(name, spelled[i].escape, strlen(spelled[i].escape)) == 0)
				break;
		}
		if (i == sizeof(spelled) / sizeof(*spelled)) {
			*to++ = *name++;
			continue;
		}
		memcpy(to, spelled[i].text, strlen(spelled[i].text));
		to += strlen(spelled[i].text);
		name += strlen(spelled[i].escape);
	}
	*to = '\0';
}

static char *cut(char *name)
{
	char *shorter = malloc(FUNCTION_NAME_MAX + 1);

	if (shorter)
		kernel_name__cut(name, shorter, FUNCTION_NAME_MAX + 1, FUNCTION_NAME_MAX);
	free(name);
	return shorter;
}

char *function_name__readable(const char *symbol)
{
	char *name = kernel_name__demangle(symbol);
	size_t length = name ? strlen(name) : 0;

	if (strncmp(symbol, "_ZN", 3) == 0 && has_rust_hash(name ? name : "", length)) {
		length -= HASH_LENGTH;
		name[length] = '\0';
		unspell(name);
	}
	return length > FUNCTION_NAME_MAX ? cut(name) : name;
}
