/* SPDX-License-Identifier: BSD-2-Clause */
/* The body of responses: text that several connections may send; the last one frees it. */
#ifndef SERVE_BODY_H
#define SERVE_BODY_H

#include <stddef.h>

struct body {
	char *text;
	size_t length;
	size_t *total;
	unsigned int holders;
};

/*
 * Creates a body with one holder. It takes ownership of `text` (malloc) and frees it with the last
 * holder. While the body exists, its length is part of *total, which must outlive it. Returns NULL
 * if out of memory; `text` is freed then.
 */
struct body *body__new(char *text, size_t length, size_t *total);

/* Adds a holder. Returns the body; NULL for NULL. */
struct body *body__share(struct body *body);

/* Removes a holder. NULL does nothing. */
void body__release(struct body *body);

#endif
