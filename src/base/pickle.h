/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A streaming writer of Python's pickle format (protocol 2) onto a FILE: it writes values as they
 * come and allocates nothing. The file has plain data alone: dictionaries, lists, pairs, texts,
 * integers, truth values and None, so that reading it runs no code. The caller must match begin
 * with end and key with value. Write errors stay with the FILE (ferror).
 */
#ifndef BASE_PICKLE_H
#define BASE_PICKLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Keys that are written once and then referred to; others are written each time. */
#define PICKLE_KEYS 64

struct pickle {
	FILE *out;
	const char *keys[PICKLE_KEYS]; /* key i is in the reader's memo at i */
	uint32_t key_count, memo_count;
};

void pickle__begin(struct pickle *pickle, FILE *out);
/* After exactly one value. */
void pickle__end(struct pickle *pickle);

void pickle__dict_begin(struct pickle *pickle);
void pickle__dict_end(struct pickle *pickle);
void pickle__list_begin(struct pickle *pickle);
void pickle__list_end(struct pickle *pickle);
/* `key` is a literal: it is compared by address and must outlive the writer. */
void pickle__key(struct pickle *pickle, const char *key);

/* Writes NULL as None, and each byte that is not valid UTF-8 as U+FFFD. */
void pickle__string(struct pickle *pickle, const char *value);
void pickle__u64(struct pickle *pickle, uint64_t value);
void pickle__bool(struct pickle *pickle, bool value);
/* A tuple of two integers. */
void pickle__pair(struct pickle *pickle, uint64_t first, uint64_t second);

/*
 * Keeps the value that was just written, in the reader's memory. Returns its number for
 * pickle__again, which writes the same value once more.
 */
uint32_t pickle__keep(struct pickle *pickle);
void pickle__again(struct pickle *pickle, uint32_t number);

/* Key and value in one call. */
void pickle__key_string(struct pickle *pickle, const char *key, const char *value);
void pickle__key_u64(struct pickle *pickle, const char *key, uint64_t value);
void pickle__key_bool(struct pickle *pickle, const char *key, bool value);

#endif
