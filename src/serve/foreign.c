// SPDX-License-Identifier: BSD-2-Clause
// Judges on whose behalf a browser makes a request; see foreign.h.
#include "serve/foreign.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/*
 * Extracts the name or address without port, brackets and the final dot of a fully qualified name.
 * Returns false if there is none.
 */
static bool split_host(const char *text, char *host, size_t size)
{
	const char *start = text, *end;
	size_t length;

	if (*text == '[') {
		start++;
		end = strchr(start, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
	} else {
		end = strchrnul(start, ':');
	}
	length = (size_t)(end - start);
	if (length && start[length - 1] == '.')
		length--;
	if (length >= size)
		return false;
	memcpy(host, start, length);
	host[length] = '\0';
	return true;
}

static bool is_address(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

static bool is_below(const char *host, const char *domain)
{
	size_t length = strlen(host), end = strlen(domain);

	return length > end && !strcasecmp(host + length - end, domain);
}

static bool is_own(const char *host)
{
	char own[HOST_NAME_MAX + 1] = "";

	return !gethostname(own, sizeof(own)) && !strcasecmp(host, own);
}

/* Whether only this machine's owner can make the name lead here. */
static bool is_trusted(const char *text)
{
	char host[REQUEST_HOST_MAX];

	if (!split_host(text, host, sizeof(host)))
		return false;
	return !strchr(host, '.') || is_address(host) || is_below(host, ".localhost") ||
	       is_below(host, ".local") || is_below(host, ".internal") || is_own(host);
}

/* Compares with "http://HOST:PORT"; the scheme may be that of a proxy in front of gpuprobe. */
static bool is_same_origin(const char *origin, const char *host)
{
	const char *rest = strstr(origin, "://");

	return rest && !strcasecmp(rest + strlen("://"), host);
}

/*
 * Links to this page are allowed, for example in Prometheus' list of targets: the page with the
 * link cannot read what it leads to.
 */
static bool is_link(const struct request_sender *sender)
{
	return !strcmp(sender->mode, "navigate") && !strcmp(sender->dest, "document");
}

static bool is_cross_site(const struct request_sender *sender)
{
	if (*sender->origin && !is_same_origin(sender->origin, sender->host))
		return true;
	return *sender->site && strcmp(sender->site, "same-origin") != 0 &&
	       strcmp(sender->site, "none") != 0 && !is_link(sender);
}

const char *foreign__why(const struct request_sender *sender)
{
	if (is_cross_site(sender))
		return "the request comes from a page of another site";
	if (sender->browser && *sender->host && !is_trusted(sender->host))
		return "the host name may come from another site: open the page by this machine's "
		       "address, or by its "
		       "name without a domain";
	return NULL;
}
