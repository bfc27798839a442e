// SPDX-License-Identifier: BSD-2-Clause
// Parses demangled names, see name_tree.h.
#include "symbol/name_tree.h"

#include <ctype.h>
#include <string.h>

#include "symbol/name_scan.h"

#define NESTING_MAX 24
#define ANONYMOUS "(anonymous namespace)"
#define LAMBDA "{lambda("

struct parser {
	struct name_tree *tree;
	const char *s;
	unsigned int depth;
};

/* The qualified name that is being read. */
struct path {
	uint16_t first, last; /* 0: it has not begun */
	bool continues;	      /* the latest text was "::" */
};

static uint16_t parse_list(struct parser *parser, char end);

static bool begins(const struct parser *parser, const char *text)
{
	return strncmp(parser->s, text, strlen(text)) == 0;
}

/* Begins a part with the text from `start` to where the parser is. Returns 0 without room. */
static uint16_t add(struct parser *parser, struct path *path, enum name_part_kind kind,
		    const char *start)
{
	struct name_tree *tree = parser->tree;
	size_t length = (size_t)(parser->s - start);

	if (tree->count == NAME_PARTS_MAX || length > UINT16_MAX)
		return 0;
	tree->parts[tree->count] =
		(struct name_part){.text = start, .length = (uint16_t)length, .kind = kind};
	if (path->continues && path->last)
		tree->parts[path->last].inner = (uint16_t)tree->count;
	else /* what came before was a return type */
		path->first = (uint16_t)tree->count;
	path->last = (uint16_t)tree->count;
	path->continues = false;
	return (uint16_t)tree->count++;
}

static bool is_size_word(const char *text, size_t length)
{
	static const char *const words[] = {"unsigned", "signed", "long", "short", "int", "char"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strlen(words[i]) == length && !strncmp(words[i], text, length))
			return true;
	}
	return false;
}

static void skip_word(struct parser *parser)
{
	while (name_scan__is_word(*parser->s))
		parser->s++;
}

/* Reads the rest of "unsigned long long". */
static void parse_size_words(struct parser *parser, const char *start)
{
	while (is_size_word(start, (size_t)(parser->s - start)) && *parser->s == ' ') {
		const char *end = parser->s;

		start = ++parser->s;
		skip_word(parser);
		if (!is_size_word(start, (size_t)(parser->s - start))) {
			parser->s = end;
			return;
		}
	}
}

static void parse_word(struct parser *parser, struct path *path)
{
	enum name_part_kind kind = NAME_IDENTIFIER;
	const char *start = parser->s;
	size_t length;

	skip_word(parser);
	length = (size_t)(parser->s - start);
	if ((length == 5 && !strncmp(start, "const", 5)) ||
	    (length == 8 && !strncmp(start, "volatile", 8)))
		return;
	if (length == 8 && !strncmp(start, "operator", 8)) {
		kind = NAME_OPERATOR;
		parser->s = name_scan__skip_operator(parser->s);
	} else if ((length == 4 && !strncmp(start, "true", 4)) ||
		   (length == 5 && !strncmp(start, "false", 5))) {
		kind = NAME_BOOL;
	} else {
		parse_size_words(parser, start);
	}
	add(parser, path, kind, start);
}

static void parse_number(struct parser *parser, struct path *path, enum name_part_kind kind)
{
	const char *start = parser->s;

	if (*parser->s == '-')
		parser->s++;
	while (isdigit((unsigned char)*parser->s))
		parser->s++;
	add(parser, path, kind, start);
	skip_word(parser); /* the suffix */
}

/* "{lambda(int)#1}", or "{unnamed type#1}", which has no part. */
static void parse_braces(struct parser *parser, struct path *path)
{
	const char *start;
	uint16_t lambda, parameters;

	if (!begins(parser, LAMBDA) || parser->depth == NESTING_MAX) {
		parser->s = name_scan__skip_group(parser->s);
		return;
	}
	parser->s += strlen(LAMBDA);
	parameters = parse_list(parser, ')');
	if (*parser->s == '#')
		parser->s++;
	start = parser->s;
	while (isdigit((unsigned char)*parser->s))
		parser->s++;
	lambda = add(parser, path, NAME_LAMBDA, start);
	if (lambda)
		parser->tree->parts[lambda].parameters = parameters;
	if (*parser->s == '}')
		parser->s++;
}

/* A cast number, or an expression, which has no part. */
static void parse_expression(struct parser *parser, struct path *path)
{
	bool is_bool = begins(parser, "(bool)");

	parser->s = name_scan__skip_group(parser->s);
	if (isdigit((unsigned char)*parser->s) || *parser->s == '-')
		parse_number(parser, path, is_bool ? NAME_BOOL : NAME_ENUM);
}

/*
 * Round brackets: an unnamed scope, a function's parameters, a cast, or a function behind "&".
 * Returns false at the parameters that end the whole name.
 */
static bool parse_round(struct parser *parser, struct path *path, bool is_address)
{
	const char *end;

	if (begins(parser, ANONYMOUS)) {
		parser->s += strlen(ANONYMOUS);
		if (!path->continues) /* what came before was a return type */
			path->first = path->last = 0;
	} else if (path->last && !path->continues) {
		end = name_scan__skip_group(parser->s);
		if (!parser->depth && !name_scan__is_scope(parser->s, end))
			return false;
		parser->s = end;
	} else if (is_address) {
		parser->s++; /* "&(int f<char>(int))": the function's name follows */
	} else {
		parse_expression(parser, path);
	}
	return true;
}

static void parse_arguments(struct parser *parser, struct path *path)
{
	uint16_t arguments, last = path->last;

	if (!last || path->continues || parser->depth == NESTING_MAX ||
	    parser->tree->parts[last].arguments) {
		parser->s = name_scan__skip_group(parser->s);
		return;
	}
	parser->s++;
	arguments = parse_list(parser, '>');
	parser->tree->parts[last].arguments = arguments;
}

/* Reads one qualified name or value, up to what ends it. Returns its first part, or 0. */
static uint16_t parse_path(struct parser *parser)
{
	struct path path = {0};
	bool is_address = false;

	while (*parser->s && !strchr(parser->depth ? ",>)]}" : "", *parser->s)) {
		const char c = *parser->s;

		if (begins(parser, "::")) {
			path.continues = path.last;
			parser->s += 2;
		} else if (c == '<') {
			parse_arguments(parser, &path);
		} else if (c == '(') {
			if (!parse_round(parser, &path, is_address))
				break;
		} else if (c == '{') {
			parse_braces(parser, &path);
		} else if (c == '[') {
			parser->s = name_scan__skip_group(parser->s);
		} else if (isdigit((unsigned char)c) ||
			   (c == '-' && isdigit((unsigned char)parser->s[1]))) {
			parse_number(parser, &path, NAME_NUMBER);
		} else if (name_scan__is_word(c)) {
			parse_word(parser, &path);
		} else {
			is_address |= c == '&' && !path.first;
			parser->s++;
		}
	}
	/* The bracket of "&(" is part of the argument. */
	if (is_address && *parser->s == ')')
		parser->s++;
	return path.first;
}

/* Reads arguments up to `end`, and skips it. Returns the first one, or 0. */
static uint16_t parse_list(struct parser *parser, char end)
{
	uint16_t first = 0, last = 0;

	parser->depth++;
	while (*parser->s && *parser->s != end) {
		uint16_t argument = parse_path(parser);

		if (argument && last)
			parser->tree->parts[last].next = argument;
		else if (argument)
			first = argument;
		if (argument)
			last = argument;
		if (*parser->s && *parser->s != end)
			parser->s++;
	}
	if (*parser->s)
		parser->s++;
	parser->depth--;
	return first;
}

uint16_t name_tree__parse(struct name_tree *tree, const char *name)
{
	struct parser parser = {.tree = tree, .s = name};

	tree->parts[0] = (struct name_part){.text = ""};
	tree->count = 1;
	return parse_path(&parser);
}

bool name_part__is(const struct name_part *part, const char *text)
{
	return strlen(text) == part->length && !memcmp(part->text, text, part->length);
}
