/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers and texts of a trace's lines, written at a place in a buffer. Each
 * function returns the place behind what it wrote; the caller has seen to the
 * room, of which each says how much it takes. Nothing ends with a NUL.
 */
#ifndef OUTPUT_TRACE_TEXT_H
#define OUTPUT_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The most bytes that one byte of a text becomes, in any form. */
#define TRACE_TEXT_EXPANSION 6
/* The most bytes that a number takes, in any form; behind a shorter one they may be written over. */
#define TRACE_TEXT_NUMBER 32

static inline char *trace_text__copy(char *at, const char *text, size_t length)
{
	memcpy(at, text, length);
	return at + length;
}

/* A constant, whose length the compiler knows. */
#define TRACE_TEXT_CONSTANT(at, text) trace_text__copy((at), (text), sizeof(text) - 1)

/* Of a short text that ends with a NUL, `most` bytes at most: quicker than asking for its length first. */
static inline char *trace_text__word(char *at, const char *word, size_t most)
{
	for (size_t i = 0; i < most && word[i]; i++)
		*at++ = word[i];
	return at;
}

char *trace_text__unsigned(char *at, uint64_t value);
char *trace_text__signed(char *at, int64_t value);
/* The last `digits` of the value, with leading zeros. */
char *trace_text__digits(char *at, uint64_t value, unsigned int digits);
char *trace_text__hex(char *at, uint64_t value); /* 0x7f00 */
/* As short as it reads back the same; "nan", "inf" and "-inf" too. */
char *trace_text__real(char *at, double value);
/* For a person: 890ns, 412.1us, 1.2ms, 3.4s, rounded. */
char *trace_text__duration(char *at, uint64_t ns);
/* For a person: 12.3GB/s, in powers of 1000, rounded. */
char *trace_text__rate(char *at, uint64_t bytes_per_second);
/* Two digits a byte. */
char *trace_text__bytes(char *at, const void *bytes, size_t length);

/*
 * A text that came from a watched process, as base/escape.h has it. `special`
 * is one more character to escape, 0 for none: a quote as \", another one as
 * \xNN. `doubled`: backslashes of the escapes are doubled, for a text that is
 * escaped once more as a whole.
 */
char *trace_text__escaped(char *at, const char *text, size_t length, char special, bool doubled);

/*
 * The same as what is between the quotes of a JSON string: bytes that are no
 * UTF-8 as U+FFFD, one for each; characters a terminal might act on as \uNNNN.
 */
char *trace_text__json(char *at, const char *text, size_t length);

/* How many columns of a terminal a printable UTF-8 text fills. */
size_t trace_text__width(const char *text, size_t length);
/* How many bytes of it fit in `columns`. */
size_t trace_text__fit(const char *text, size_t length, size_t columns);

#endif
