/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of an HTTP/1 request (RFC 9112): request line and header fields, parsed from untrusted
 * bytes.
 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum size of a head in bytes, including request line and empty line. */
#define REQUEST_HEAD_MAX 8192
#define REQUEST_METHOD_MAX 16

/* Results of request__parse besides an error status. */
#define REQUEST_INCOMPLETE 0
#define REQUEST_COMPLETE 200

#define REQUEST_HOST_MAX 280 /* a DNS name has 253 bytes, plus "https://" and a port */
#define REQUEST_WORD_MAX 16

/*
 * The headers by which browsers say on whose behalf they make the request; foreign.h judges them.
 * Empty if missing.
 */
struct request_sender {
	char host[REQUEST_HOST_MAX];   /* "HOST:PORT" of the request */
	char origin[REQUEST_HOST_MAX]; /* origin of the page, "http://HOST:PORT" or "null" */
	char site[REQUEST_WORD_MAX];   /* Sec-Fetch-Site: "same-origin", "cross-site", … */
	char mode[REQUEST_WORD_MAX];   /* Sec-Fetch-Mode: "navigate", … */
	char dest[REQUEST_WORD_MAX];   /* Sec-Fetch-Dest: "document", … */
	bool browser;		       /* it has a header that browsers send and scrapers do not */
};

struct request {
	char method[REQUEST_METHOD_MAX]; /* cut if longer: no known method is */
	char path[REQUEST_HEAD_MAX];	 /* without query; for an absolute URI, its path */
	char accept[REQUEST_HEAD_MAX];	 /* several headers are joined by commas; see has_accept */
	char accept_encoding[REQUEST_HEAD_MAX];
	struct request_sender sender;
	bool has_accept;
	bool keep_alive; /* the client expects to send another request */
	bool has_body;
};

/*
 * Parses the head at the start of `data`. REQUEST_INCOMPLETE: more bytes are needed.
 * REQUEST_COMPLETE: `*request` is filled and the head is `*used` bytes long. Any other result is
 * the HTTP status of an error (400, 414, 431, 505); the connection is then out of step and must be
 * closed after the response.
 */
int request__parse(const char *data, size_t length, struct request *request, size_t *used);

#endif
