/* SPDX-License-Identifier: BSD-2-Clause */
/* The body of responses: text that several connections send, and that goes with the last of them. */
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
 * A body with one holder. It takes `text` (malloc), which it frees with the last one; its length is part of *total for
 * so long, which must outlive it. NULL without memory: `text` is freed then.
 */
struct body *body__new(char *text, size_t length, size_t *total);

/* One more holder. Returns the body; NULL for NULL. */
struct body *body__share(struct body *body);

/* One holder less. NULL does nothing. */
void body__release(struct body *body);

#endif
