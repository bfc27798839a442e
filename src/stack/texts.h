/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts that many frames have in common: kept once, compared by their addresses. */
#ifndef STACK_TEXTS_H
#define STACK_TEXTS_H

#include <stddef.h>

struct texts;

/* NULL without memory. */
struct texts *texts__new(void);
void texts__free(struct texts *texts);

/* The kept copy of a text, with one more reference. NULL without memory. */
const char *texts__take(struct texts *texts, const char *text);

/* One reference less; `text` is what texts__take returned, or NULL. */
void texts__put(struct texts *texts, const char *text);

/* Bytes of memory, about. */
size_t texts__bytes(const struct texts *texts);

#endif
