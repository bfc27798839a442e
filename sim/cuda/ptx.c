// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses as much of PTX as is needed to find the kernels (.entry NAME) and variables (.global TYPE
 * NAME[COUNT]) of a module. Skips comments.
 */
#include "cuda/image.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOKEN 4097

bool image__is_text(const void *code)
{
	static const unsigned char magics[][4] = {
		{ 0x7f, 'E', 'L', 'F' },		/* cubin */
		{ 0x50, 0xed, 0x55, 0xba },		/* fat binary */
		{ 0xb1, 0x43, 0x62, 0x46 },		/* wrapper of a fat binary */
	};

	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (!memcmp(code, magics[i], 4))
			return false;
	return true;
}

static const char *skip_space(const char *text)
{
	for (;;) {
		const char *end = NULL;

		while (isspace((unsigned char)*text))
			text++;
		if (!strncmp(text, "//", 2))
			end = strchr(text, '\n');
		else if (!strncmp(text, "/*", 2))
			end = strstr(text + 2, "*/");
		else
			return text;
		if (!end)
			return text + strlen(text);
		text = end + (*text == '/' && text[1] == '*' ? 2 : 1);
	}
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* Copies the next word, or a single other character; "" at the end. */
static const char *next_token(const char *text, char *token)
{
	size_t length = 0;

	text = skip_space(text);
	while (is_word(text[length]) && length < MAX_TOKEN - 1)
		length++;
	if (!length && *text)
		length = 1;
	memcpy(token, text, length);
	token[length] = '\0';
	return text + length;
}

static size_t type_size(const char *type)
{
	size_t digits = strcspn(type, "0123456789");
	long bits = type[digits] ? strtol(type + digits, NULL, 10) : 0;

	return bits >= 8 && bits <= 128 ? (size_t)bits / 8 : 0;
}

/* Parses the rest after .global: qualifiers, a type, the name, and [COUNT] for an array. */
static const char *parse_variable(const char *text, const struct ptx_visitor *visitor, char *token,
				  bool *go_on)
{
	char name[MAX_TOKEN] = "";
	size_t size = 0, count = 1;

	for (;;) {
		text = next_token(text, token);
		if (!*token || !strcmp(token, ";") || !strcmp(token, "="))
			break;
		if (!strcmp(token, "[")) {
			text = next_token(text, token);
			count = strtoull(token, NULL, 10);
		} else if (!strcmp(token, ".align")) {
			text = next_token(text, token);
		} else if (*token == '.' && type_size(token)) {
			size = type_size(token);
		} else if (is_word(*token) && *token != '.') {
			strcpy(name, token);
		}
	}
	if (*name && size && count && count < (1ull << 40))
		*go_on = visitor->variable(visitor->context, name, size * count);
	return text;
}

bool ptx__parse(const char *text, const struct ptx_visitor *visitor)
{
	char token[MAX_TOKEN];
	bool go_on = true;

	text = next_token(text, token);
	if (strcmp(token, ".version"))
		return false;
	while (go_on && *token) {
		text = next_token(text, token);
		if (!strcmp(token, ".entry")) {
			text = next_token(text, token);
			go_on = visitor->kernel(visitor->context, token);
		} else if (!strcmp(token, ".global")) {
			text = parse_variable(text, visitor, token, &go_on);
		}
	}
	return go_on;
}
