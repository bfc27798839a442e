// SPDX-License-Identifier: BSD-2-Clause
// Reads JSON into a tree of values, see json_reader.h.
#include "base/json_reader.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_VALUES 512

/* Values stay where they are, because they point at one another. */
struct value_block {
	struct value_block *before;
	size_t used;
	struct json_value values[BLOCK_VALUES];
};

struct json_document {
	struct value_block *blocks;
	size_t count;
	const struct json_value *value;
};

struct parser {
	struct json_document *document;
	const char *begin;
	char *at, *end;
	unsigned int depth;
	struct error *err;
};

static int fail(const struct parser *parser, const char *what)
{
	return error__set(parser->err, -EINVAL, "no JSON at byte %zu: %s",
			  (size_t)(parser->at - parser->begin), what);
}

static struct json_value *new_value(struct json_document *document)
{
	struct value_block *block = document->blocks;

	if (document->count >= JSON_VALUES_MAX)
		return NULL;
	if (!block || block->used == BLOCK_VALUES) {
		block = calloc(1, sizeof(*block));
		if (!block)
			return NULL;
		block->before = document->blocks;
		document->blocks = block;
	}
	document->count++;
	return &block->values[block->used++];
}

static void skip_space(struct parser *parser)
{
	while (parser->at < parser->end && strchr(" \t\r\n", *parser->at) && *parser->at)
		parser->at++;
}

static bool take(struct parser *parser, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length))
		return false;
	parser->at += length;
	return true;
}

/* --- strings --- */

static bool take_hex(struct parser *parser, uint32_t *code)
{
	*code = 0;
	if (parser->end - parser->at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = *parser->at++;

		if (c >= '0' && c <= '9')
			*code = *code << 4 | (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			*code = *code << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
		else
			return false;
	}
	return true;
}

/* No longer than the escape was. */
static char *put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return to;
}

/* A code point, or two surrogates. A surrogate alone and a NUL are replaced. */
static bool take_code(struct parser *parser, char **to)
{
	uint32_t code, low;
	char *behind;

	if (!take_hex(parser, &code))
		return false;
	behind = parser->at;
	if (code >= 0xd800 && code < 0xdc00 && take(parser, "\\u")) {
		if (!take_hex(parser, &low))
			return false;
		if (low >= 0xdc00 && low < 0xe000)
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		else
			parser->at = behind;
	}
	if (!code || (code >= 0xd800 && code < 0xe000))
		code = 0xfffd;
	*to = put_utf8(*to, code);
	return true;
}

static bool take_escape(struct parser *parser, char **to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (parser->at == parser->end)
		return false;
	if (take(parser, "u"))
		return take_code(parser, to);
	found = *parser->at ? strchr(from, *parser->at) : NULL;
	if (!found)
		return false;
	parser->at++;
	*(*to)++ = into[found - from];
	return true;
}

/* Replaces escapes where they are: text without them is shorter. */
static int take_string(struct parser *parser, const char **text)
{
	char *to;

	if (!take(parser, "\""))
		return fail(parser, "a string must come here");
	*text = to = parser->at;
	while (parser->at < parser->end && *parser->at != '"') {
		if ((unsigned char)*parser->at < 0x20)
			return fail(parser, "a control character in a string");
		if (*parser->at != '\\') {
			*to++ = *parser->at++;
			continue;
		}
		parser->at++;
		if (!take_escape(parser, &to))
			return fail(parser, "an unknown escape in a string");
	}
	if (parser->at == parser->end)
		return fail(parser, "a string without its end");
	parser->at++;
	*to = '\0';
	return 0;
}

/* --- the other values --- */

static bool is_of_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* In the C locale, which has a point; what follows the number is kept from strtod. */
static int take_number(struct parser *parser, struct json_value *value)
{
	char *from = parser->at, *stop, kept;
	bool is_number = *from == '-' || (*from >= '0' && *from <= '9');

	while (parser->at < parser->end && is_of_number(*parser->at))
		parser->at++;
	kept = *parser->at;
	*parser->at = '\0';
	value->type = JSON_NUMBER;
	value->number = strtod(from, &stop);
	*parser->at = kept;
	is_number = is_number && stop == parser->at;
	if (is_number && fabs(value->number) <= JSON_NUMBER_MAX)
		return 0;
	parser->at = from;
	return fail(parser, is_number ? "the number is too large" : "a value must come here");
}

static int take_value(struct parser *parser, struct json_value *value);

/* Elements or members up to the closing bracket. */
static int take_list(struct parser *parser, struct json_value *list, const char *close)
{
	const struct json_value **next = &list->first;
	int ret = 0;

	skip_space(parser);
	if (take(parser, close))
		return 0;
	while (!ret) {
		struct json_value *value = new_value(parser->document);

		if (!value)
			return error__set(parser->err, -ENOMEM, "too much JSON, or out of memory");
		skip_space(parser);
		if (list->type == JSON_OBJECT) {
			ret = take_string(parser, &value->key);
			skip_space(parser);
			if (!ret && !take(parser, ":"))
				ret = fail(parser, "':' must come here");
		}
		if (!ret)
			ret = take_value(parser, value);
		*next = value;
		next = &value->next;
		skip_space(parser);
		if (!ret && take(parser, close))
			return 0;
		if (!ret && !take(parser, ","))
			ret = fail(parser, "',' or a closing bracket must come here");
	}
	return ret;
}

static int take_nested(struct parser *parser, struct json_value *value, enum json_type type)
{
	int ret;

	value->type = type;
	if (parser->depth++ >= JSON_DEPTH_MAX)
		return fail(parser, "too deeply nested");
	ret = take_list(parser, value, type == JSON_ARRAY ? "]" : "}");
	parser->depth--;
	return ret;
}

static int take_value(struct parser *parser, struct json_value *value)
{
	skip_space(parser);
	if (parser->at == parser->end)
		return fail(parser, "the text ends within a value");
	if (*parser->at == '"') {
		value->type = JSON_STRING;
		return take_string(parser, &value->text);
	}
	if (take(parser, "{"))
		return take_nested(parser, value, JSON_OBJECT);
	if (take(parser, "["))
		return take_nested(parser, value, JSON_ARRAY);
	if (take(parser, "null"))
		return 0;
	value->type = JSON_BOOL;
	value->number = take(parser, "true");
	return value->number || take(parser, "false") ? 0 : take_number(parser, value);
}

int json_document__parse(char **at, char *end, struct json_document **out, struct error *err)
{
	struct json_document *document = calloc(1, sizeof(*document));
	struct parser parser = {
		.document = document, .begin = *at, .at = *at, .end = end, .err = err};
	struct json_value *value;
	int ret;

	if (!document)
		return error__set(err, -ENOMEM, "out of memory");
	value = new_value(document);
	ret = value ? take_value(&parser, value) : error__set(err, -ENOMEM, "out of memory");
	if (ret) {
		json_document__free(document);
		return ret;
	}
	skip_space(&parser);
	document->value = value;
	*at = parser.at;
	*out = document;
	return 0;
}

void json_document__free(struct json_document *document)
{
	struct value_block *before;

	if (!document)
		return;
	for (struct value_block *block = document->blocks; block; block = before) {
		before = block->before;
		free(block);
	}
	free(document);
}

const struct json_value *json_document__value(const struct json_document *document)
{
	return document->value;
}

/* --- looking into it --- */

static const struct json_value *member(const struct json_value *value, const char *key,
				       size_t length)
{
	if (!value || value->type != JSON_OBJECT)
		return NULL;
	for (value = value->first; value; value = value->next)
		if (!strncmp(value->key, key, length) && !value->key[length])
			return value;
	return NULL;
}

const struct json_value *json_value__member(const struct json_value *value, const char *key)
{
	return member(value, key, strlen(key));
}

const struct json_value *json_value__at(const struct json_value *value, const char *path)
{
	while (value) {
		size_t length = strcspn(path, ".");

		value = member(value, path, length);
		if (!path[length])
			break;
		path += length + 1;
	}
	return value;
}

bool json_value__number(const struct json_value *value, const char *path, double *number)
{
	value = json_value__at(value, path);
	if (!value || value->type != JSON_NUMBER)
		return false;
	*number = value->number;
	return true;
}

const char *json_value__string(const struct json_value *value, const char *path)
{
	value = json_value__at(value, path);
	return value && value->type == JSON_STRING ? value->text : NULL;
}

bool json_value__is_true(const struct json_value *value, const char *path)
{
	value = json_value__at(value, path);
	return value && value->type == JSON_BOOL && value->number;
}
