// SPDX-License-Identifier: BSD-2-Clause
// A response's body; see body.h.
#include "serve/body.h"

#include <stdlib.h>

struct body *body__new(char *text, size_t length, size_t *total)
{
	struct body *body = malloc(sizeof(*body));
	char *fitted;

	if (!body) {
		free(text);
		return NULL;
	}
	/* The buffer may be up to twice as large as the text. */
	fitted = realloc(text, length + 1);
	if (fitted)
		text = fitted;
	*body = (struct body){.text = text, .length = length, .total = total, .holders = 1};
	*total += length;
	return body;
}

struct body *body__share(struct body *body)
{
	if (body)
		body->holders++;
	return body;
}

void body__release(struct body *body)
{
	if (!body || --body->holders)
		return;
	*body->total -= body->length;
	free(body->text);
	free(body);
}
