// SPDX-License-Identifier: BSD-2-Clause
// The address that OTLP requests are sent to, see endpoint.h.
#include "export/endpoint.h"

#include <errno.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HTTP_PORT 80
#define HTTPS_PORT 443

static int refuse(const char *reason, struct error *err)
{
	return error__set(err, -EINVAL, "%s; write http://HOST:4318", reason);
}

static const char *find_fault(const struct evhttp_uri *uri)
{
	const char *scheme = uri ? evhttp_uri_get_scheme(uri) : NULL;

	if (!scheme)
		return "not a URL";
	if (strcasecmp(scheme, "http") != 0 && strcasecmp(scheme, "https") != 0)
		return "not a URL of http or https";
	if (!evhttp_uri_get_host(uri) || !*evhttp_uri_get_host(uri))
		return "a URL without a host";
	if (evhttp_uri_get_userinfo(uri))
		return "a URL with a user; credentials belong into OTEL_EXPORTER_OTLP_HEADERS";
	if (evhttp_uri_get_port(uri) == 0)
		return "a URL with port 0";
	return NULL;
}

static char *strip_brackets(const char *host)
{
	size_t length = strlen(host);

	return host[0] == '[' && host[length - 1] == ']' ? strndup(host + 1, length - 2) :
							   strdup(host);
}

/* Path and query, with `more` behind the path. NULL without memory. */
static char *make_target(const struct evhttp_uri *uri, const char *more)
{
	const char *path = evhttp_uri_get_path(uri), *query = evhttp_uri_get_query(uri);
	size_t length = path ? strlen(path) : 0;
	bool slash = !length || (more && path[length - 1] != '/');
	char *target;

	if (asprintf(&target, "%s%s%s%s%s", path ? path : "", slash ? "/" : "", more ? more : "",
		     query ? "?" : "", query ? query : "") < 0)
		return NULL;
	return target;
}

static int fill(struct export_endpoint *endpoint, const struct evhttp_uri *uri, const char *path)
{
	const char *host = evhttp_uri_get_host(uri);
	const char *scheme;
	int port = evhttp_uri_get_port(uri);

	endpoint->tls = !strcasecmp(evhttp_uri_get_scheme(uri), "https");
	endpoint->port = (uint16_t)(port > 0 ? port : endpoint->tls ? HTTPS_PORT : HTTP_PORT);
	endpoint->host = strip_brackets(host);
	endpoint->target = make_target(uri, path);
	scheme = endpoint->tls ? "https" : "http";
	if (!endpoint->host || !endpoint->target ||
	    asprintf(&endpoint->authority, "%s:%u", host, endpoint->port) < 0)
		return -ENOMEM;
	if (asprintf(&endpoint->url, "%s://%s%s", scheme, endpoint->authority, endpoint->target) <
	    0) {
		endpoint->url = NULL;
		return -ENOMEM;
	}
	endpoint->shown = strndup(endpoint->url, strcspn(endpoint->url, "?"));
	return endpoint->shown ? 0 : -ENOMEM;
}

int export_endpoint__parse(struct export_endpoint *endpoint, const char *text, const char *path,
			   struct error *err)
{
	struct evhttp_uri *uri = evhttp_uri_parse(text);
	const char *fault = find_fault(uri);
	int ret;

	*endpoint = (struct export_endpoint){0};
	if (fault) {
		ret = refuse(fault, err);
	} else {
		ret = fill(endpoint, uri, path);
		if (ret)
			error__set(err, ret, "out of memory");
	}
	if (uri)
		evhttp_uri_free(uri);
	if (ret)
		export_endpoint__clear(endpoint);
	return ret;
}

void export_endpoint__clear(struct export_endpoint *endpoint)
{
	free(endpoint->host);
	free(endpoint->authority);
	free(endpoint->target);
	free(endpoint->shown);
	free(endpoint->url);
	*endpoint = (struct export_endpoint){0};
}
