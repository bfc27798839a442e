/* SPDX-License-Identifier: BSD-2-Clause */
/* The address that OTLP requests are sent to. */
#ifndef EXPORT_ENDPOINT_H
#define EXPORT_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct export_endpoint {
	bool tls;	 /* https */
	char *host;	 /* without brackets */
	char *authority; /* for the header Host: "collector:4318", "[::1]:4318" */
	char *target;	 /* path and query: "/v1/metrics" */
	char *shown;	 /* for people: without the query, which may be a secret */
	char *url;	 /* all of it */
	uint16_t port;
};

/*
 * Parses "http://HOST[:PORT][/PATH]" or https; `path`, such as "v1/metrics", is appended. NULL:
 * nothing is. Without a port the scheme's own is used. Returns 0, -ENOMEM, or -EINVAL with the
 * reason, which does not contain the text, because a URL may have a password.
 */
int export_endpoint__parse(struct export_endpoint *endpoint, const char *text, const char *path,
			   struct error *err);
void export_endpoint__clear(struct export_endpoint *endpoint);

#endif
