/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads JSON of any size in pieces, as a stream of tokens, with a fixed amount of memory.
 * base/json_reader.h makes a tree of a whole text instead.
 *
 * The text may be damaged or hostile: its nesting is bounded and long texts are cut. Two things
 * that profilers write and JSON forbids are accepted: control characters in strings, and bare words
 * such as inf and nan in place of numbers.
 */
#ifndef KINETO_JSON_STREAM_H
#define KINETO_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_STREAM_DEPTH 64
#define JSON_STREAM_TEXT 1024 /* bytes kept of a string or number, with the NUL */

enum json_token_kind {
	JSON_TOKEN_OBJECT,
	JSON_TOKEN_OBJECT_END,
	JSON_TOKEN_ARRAY,
	JSON_TOKEN_ARRAY_END,
	JSON_TOKEN_KEY,
	JSON_TOKEN_STRING,
	JSON_TOKEN_BARE, /* a number, or a word such as true */
};

struct json_token {
	enum json_token_kind kind;
	/* how many objects and arrays are around it: 0 for the document, and for its end */
	unsigned int depth;
	/* of a key, string or bare value, without escapes; NUL-terminated; "" for the others */
	const char *text;
};

typedef void (*json_token_fn)(const struct json_token *token, void *arg);

/* All zeros: nothing has been read. */
struct json_stream {
	int state;	     /* what may follow; of json_stream.c */
	bool is_key;	     /* the string that is being read */
	bool cut;	     /* it did not fit */
	unsigned int depth;  /* open objects and arrays */
	uint64_t objects;    /* bit n: the one that makes the depth n + 1 is an object */
	unsigned int digits; /* of \uXXXX, still missing */
	uint32_t unicode;    /* its value so far */
	uint64_t offset;     /* bytes read; after an error that of the wrong one */
	size_t length;
	char text[JSON_STREAM_TEXT];
};

/*
 * Reads `size` bytes more and calls `take` for each token that is complete. A token's text is valid
 * during the call. Returns 0, or -EINVAL at a byte that cannot be there; nothing more can be read
 * then.
 */
int json_stream__push(struct json_stream *stream, const char *bytes, size_t size,
		      json_token_fn take, void *arg);

/* Whether the document is complete: its outermost object or array has ended. */
bool json_stream__is_whole(const struct json_stream *stream);

#endif
