/* SPDX-License-Identifier: BSD-2-Clause */
/* An HTTP response and its bytes. */
#ifndef SERVE_RESPONSE_H
#define SERVE_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>

#include "serve/body.h"

struct response {
	int status;
	const char *content_type;
	const char *policy; /* Content-Security-Policy, for a person's page; NULL: none */
	struct body *body;  /* held */
	bool head_only;	    /* the head states the body's length, but the body is not sent */
	bool gzipped;	    /* the body is compressed */
	bool negotiated;    /* the response depends on the Accept headers */
	bool allow;	    /* send the list of supported methods */
	bool close;	    /* the connection ends after it */
};

/*
 * Sets the status and a one-line body that names it; see body__new. Returns 0 or -ENOMEM; the
 * response is initialised either way.
 */
int response__status(struct response *response, int status, size_t *total);

/* The same, with an explanation for a person in that line. */
int response__refuse(struct response *response, int status, const char *why, size_t *total);

/* Releases the body. */
void response__clear(struct response *response);

/*
 * Builds the head, without the body, at `*out`, which the caller frees; `version` is gpuprobe's.
 * Returns 0 or -ENOMEM.
 */
int response__build_head(const struct response *response, const char *version, char **out,
			 size_t *length);

#endif
