/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes numbers and texts of a trace's lines into a buffer. Each function returns the end of
 * its output. The caller must provide enough room; each comment says how much is needed. Nothing is
 * terminated by a NUL.
 */
#ifndef OUTPUT_TRACE_TEXT_H
#define OUTPUT_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Maximum expansion of one byte of a text, in any format. */
#define TRACE_TEXT_EXPANSION 6
/* Maximum bytes of a number, in any form. A shorter number may overwrite all of them. */
#define TRACE_TEXT_NUMBER 32

static inline char *trace_text__copy(char *at, const char *text, size_t length)
{
	memcpy(at, text, length);
	return at + length;
}

/* A constant, whose length is known at compile time. */
#define TRACE_TEXT_CONSTANT(at, text) trace_text__copy((at), (text), sizeof(text) - 1)

/*
 * Copies a short NUL-terminated text of at most `most` bytes: faster than computing its length
 * first.
 */
static inline char *trace_text__word(char *at, const char *word, size_t most)
{
	for (size_t i = 0; i < most && word[i]; i++)
		*at++ = word[i];
	return at;
}

char *trace_text__unsigned(char *at, uint64_t value);
char *trace_text__signed(char *at, int64_t value);
/* The last `digits` digits of the value, with leading zeros. */
char *trace_text__digits(char *at, uint64_t value, unsigned int digits);
char *trace_text__hex(char *at, uint64_t value); /* 0x7f00 */
/* The shortest form that reads back as the same value; also "nan", "inf" and "-inf". */
char *trace_text__real(char *at, double value);
/* Two hexadecimal digits for each byte. */
char *trace_text__bytes(char *at, const void *bytes, size_t length);

/*
 * Text of a watched process, escaped as in base/escape.h. `special` is an additional character to
 * escape, 0 for none: a quote becomes \", any other \xNN. `doubled`: backslashes of the escapes are
 * doubled, for a text that is escaped again as a whole.
 */
char *trace_text__escaped(char *at, const char *text, size_t length, char special, bool doubled);

/*
 * The same for the inside of a JSON string: each byte that is not UTF-8 becomes U+FFFD, and
 * characters that a terminal might act on become \uNNNN.
 */
char *trace_text__json(char *at, const char *text, size_t length);

/*
 * Cuts the text from `begin` to `end` in the middle, with a "…", if it is wider than `columns`.
 * Returns its new end; needs room for two more bytes.
 */
char *trace_text__cut(char *begin, char *end, size_t columns);

#endif
