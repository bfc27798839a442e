/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of an HTTP/1 request (RFC 9112): request line and header fields,
 * read from bytes that a stranger sent.
 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* A head may be so long in bytes, request line and empty line included. */
#define REQUEST_HEAD_MAX 8192
#define REQUEST_METHOD_MAX 16

/* parse's results besides an error status */
#define REQUEST_INCOMPLETE 0
#define REQUEST_COMPLETE 200

#define REQUEST_HOST_MAX 280 /* a DNS name has 253 bytes, "https://" and a port come to it; a longer one is cut */
#define REQUEST_WORD_MAX 16

/* What browsers tell of who has them ask; foreign.h judges it. Not there: empty. */
struct request_sender {
	char host[REQUEST_HOST_MAX];   /* "HOST:PORT", as it was asked for */
	char origin[REQUEST_HOST_MAX]; /* of the page, "http://HOST:PORT" or "null" */
	char site[REQUEST_WORD_MAX];   /* Sec-Fetch-Site: "same-origin", "cross-site", … */
	char mode[REQUEST_WORD_MAX];   /* Sec-Fetch-Mode: "navigate", … */
	char dest[REQUEST_WORD_MAX];   /* Sec-Fetch-Dest: "document", … */
	bool browser;		       /* it has what every browser sends, and no program that scrapes does */
};

struct request {
	char method[REQUEST_METHOD_MAX]; /* cut where longer: no method known here is */
	char path[REQUEST_HEAD_MAX];	 /* without query; of an absolute URI, its path */
	char accept[REQUEST_HEAD_MAX];	 /* several headers joined by commas; see has_accept */
	char accept_encoding[REQUEST_HEAD_MAX];
	struct request_sender sender;
	bool has_accept;
	bool keep_alive; /* the client expects to send another request */
	bool has_body;
};

/*
 * Reads the head at the start of `data`. REQUEST_INCOMPLETE: more bytes are
 * needed. REQUEST_COMPLETE: `*request` is filled and `*used` bytes are the
 * head. Otherwise the HTTP status of an error (400, 414, 431, 505); the
 * connection is then out of step and has to be closed after the response.
 */
int request__parse(const char *data, size_t length, struct request *request, size_t *used);

#endif
