/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A streaming JSON writer onto a FILE: it writes values as they come and puts the commas between
 * them; it allocates nothing. The caller must match begin with end and key with value. Write errors
 * stay with the FILE (ferror).
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Maximum nesting of objects and arrays. */
#define JSON_MAX_DEPTH 63

struct json {
	FILE *out;
	uint64_t filled; /* bit d: the object or array at depth d already has an element */
	unsigned int depth;
	bool after_key;
};

void json__init(struct json *json, FILE *out);

void json__object_begin(struct json *json);
void json__object_end(struct json *json);
void json__array_begin(struct json *json);
void json__array_end(struct json *json);

void json__key(struct json *json, const char *key);

/* Writes NULL as null, and each byte that is not valid UTF-8 as U+FFFD. */
void json__string(struct json *json, const char *value);
void json__u64(struct json *json, uint64_t value);
void json__i64(struct json *json, int64_t value);
/* Writes the 15 to 17 digits that read back as the same number; null if the value is not finite. */
void json__double(struct json *json, double value);
void json__bool(struct json *json, bool value);
void json__null(struct json *json);
/* A value that is JSON already, on one line. */
void json__ready(struct json *json, const char *text);

/* Key and value in one call. */
void json__key_string(struct json *json, const char *key, const char *value);
void json__key_u64(struct json *json, const char *key, uint64_t value);
void json__key_i64(struct json *json, const char *key, int64_t value);
void json__key_double(struct json *json, const char *key, double value);
void json__key_bool(struct json *json, const char *key, bool value);
/* An address, handle or hash as text, "0x7989d8000000": many readers make doubles of numbers. */
void json__key_hex(struct json *json, const char *key, uint64_t value);

/* The same, or null if the value is not known. */
void json__key_known_u64(struct json *json, const char *key, uint64_t value, bool known);
void json__key_known_i64(struct json *json, const char *key, int64_t value, bool known);
void json__key_known_double(struct json *json, const char *key, double value, bool known);
/* Null for an empty text. */
void json__key_known_text(struct json *json, const char *key, const char *text);

#define JSON_NUMBER_SIZE 32

/*
 * The shortest form, 15 to 17 digits, that reads back as the same number; "nan", "inf" or "-inf",
 * which JSON does not have.
 */
void json__format_double(char text[JSON_NUMBER_SIZE], double value);

/*
 * Returns the length (1 to 4) of the well-formed UTF-8 sequence at the start of the NUL-terminated
 * string `s`. Returns 0 for a stray or missing continuation byte, an overlong form, a surrogate or
 * a code point that is too large. Reads no byte after the NUL.
 */
size_t json__utf8_length(const char *s);

#endif
