/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads JSON into a tree of values. The text may be damaged or hostile: its nesting, and the memory
 * of the tree, are bounded. Numbers are doubles, exact up to 2^53.
 */
#ifndef BASE_JSON_READER_H
#define BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define JSON_DEPTH_MAX 64
#define JSON_VALUES_MAX (8u << 20)
#define JSON_NUMBER_MAX 1e20 /* larger ones are refused: sums and products stay finite */

enum json_type {
	JSON_NULL = 0,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json_value {
	enum json_type type;
	const char *key;  /* the member's name; NULL: it is an element, or the document */
	const char *text; /* of a string, without escapes; \u0000 has become U+FFFD */
	double number;	  /* of a number; 1 for true */
	const struct json_value *first; /* element or member; NULL: none */
	const struct json_value *next;	/* sibling; NULL: it is the last one */
};

struct json_document;

/*
 * Parses the document at *at, which ends before `end`, and sets *at to its end and the white space
 * behind it. There is a writable byte at `end`. The text is changed, and must outlive the document.
 * Returns 0, -ENOMEM, or -EINVAL with a message that names the byte, counted from *at.
 */
int json_document__parse(char **at, char *end, struct json_document **out, struct error *err);
void json_document__free(struct json_document *document); /* NULL is fine */

const struct json_value *json_document__value(const struct json_document *document);

/* The member with that name; NULL: there is none, or `value` is NULL or no object. */
const struct json_value *json_value__member(const struct json_value *value, const char *key);

/* A member of a member of ...: "steps.copies.to_host". NULL as above. */
const struct json_value *json_value__at(const struct json_value *value, const char *path);

/* The member's number, or false. `value` may be NULL. */
bool json_value__number(const struct json_value *value, const char *path, double *number);

/* The member's text; NULL: it is no string. */
const char *json_value__string(const struct json_value *value, const char *path);

/* Whether the member is true. */
bool json_value__is_true(const struct json_value *value, const char *path);

#endif
