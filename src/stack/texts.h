/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts that many frames share: each is stored once, so texts are compared by address. */
#ifndef STACK_TEXTS_H
#define STACK_TEXTS_H

#include <stddef.h>

struct texts;

/* Returns NULL if out of memory. */
struct texts *texts__new(void);
void texts__free(struct texts *texts);

/* Returns the stored copy of a text with one more reference; NULL if out of memory. */
const char *texts__take(struct texts *texts, const char *text);

/* Drops one reference; `text` is what texts__take returned, or NULL. */
void texts__put(struct texts *texts, const char *text);

/* Approximate memory in bytes. */
size_t texts__bytes(const struct texts *texts);

#endif
