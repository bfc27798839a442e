// SPDX-License-Identifier: BSD-2-Clause
// Parses and binds ADDRESS:PORT; see address.h.
#include "serve/address.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Connections that may wait while gpuprobe is busy. */
#define BACKLOG 128

static int refuse(const char *text, const char *reason, struct error *err)
{
	return error__set(
		err, -EINVAL,
		"'%.100s' is not ADDRESS:PORT (%s); write 127.0.0.1:9000, [::1]:9000, :9000"
		" or none",
		text, reason);
}

static int copy_port(const char *text, const char *port, char out[ADDRESS_PORT_MAX],
		     struct error *err)
{
	size_t n = strlen(port), i;

	if (!n)
		return refuse(text, "the port is missing", err);
	for (i = 0; i < n; i++) {
		if (!isdigit((unsigned char)port[i]))
			return refuse(text, "the port is not a number", err);
	}
	if (n > 5 || strtol(port, NULL, 10) > 65535)
		return refuse(text, "the port is larger than 65535", err);
	memcpy(out, port, n + 1);
	return 0;
}

int address__split(const char *text, char host[ADDRESS_HOST_MAX], char port[ADDRESS_PORT_MAX],
		   struct error *err)
{
	const char *start = text, *end = strrchr(text, ':'), *colon = end;

	if (!colon)
		return refuse(text, "there is no colon before the port", err);
	if (text[0] == '[') {
		start = text + 1;
		end = strchr(text, ']');
		if (!end || end + 1 != colon)
			return refuse(text, "the bracket is not closed before the port", err);
		if (end == start)
			return refuse(text, "the brackets are empty", err);
	} else if (memchr(text, ':', (size_t)(colon - text))) {
		return refuse(text, "an IPv6 address needs brackets", err);
	}
	if ((size_t)(end - start) >= ADDRESS_HOST_MAX)
		return refuse(text, "the host is too long", err);
	memcpy(host, start, (size_t)(end - start));
	host[end - start] = '\0';
	return copy_port(text, colon + 1, port, err);
}

static int open_socket(const struct addrinfo *info)
{
	int fd, one = 1, zero = 0, err;

	fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/*
	 * [::] must accept IPv4 too, whatever the machine's default; other addresses do not depend
	 * on this.
	 */
	if (info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	/* A restart must not wait until the previous run's connections time out. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, info->ai_addr, info->ai_addrlen) || listen(fd, BACKLOG)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int explain(const char *text, int code, struct error *err)
{
	const char *advice;

	switch (-code) {
	case EADDRINUSE:
		advice = "stop what uses the port, or choose another with --metrics-addr";
		break;
	case EACCES: advice = "choose a port from 1024 on with --metrics-addr"; break;
	case EADDRNOTAVAIL:
		advice = "give an address of this machine with --metrics-addr, or 0.0.0.0 for all";
		break;
	default: advice = "choose another address with --metrics-addr, or none"; break;
	}
	return error__set(err, code, "cannot serve metrics on %s: %s; %s", text, strerror(-code),
			  advice);
}

/*
 * Listens on the first of `host`'s addresses that can be bound; NULL: on every address of a family.
 */
static int listen_on(const char *text, const char *host, const char *port, int family,
		     struct error *err)
{
	struct addrinfo hints = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	struct addrinfo *list, *info;
	int fd = -EADDRNOTAVAIL, first = 0, code;

	code = getaddrinfo(host, port, &hints, &list);
	if (code)
		return error__set(err, -EADDRNOTAVAIL,
				  "cannot serve metrics on %s: %s; give an address of this machine"
				  " with --metrics-addr",
				  text, gai_strerror(code));
	for (info = list; info; info = info->ai_next) {
		fd = open_socket(info);
		if (fd >= 0)
			break;
		if (!first)
			first = fd;
	}
	freeaddrinfo(list);
	return fd >= 0 ? fd : explain(text, first, err);
}

int address__listen(const char *text, struct error *err)
{
	char host[ADDRESS_HOST_MAX] = "", port[ADDRESS_PORT_MAX];
	int fd;

	fd = address__split(text, host, port, err);
	if (fd)
		return fd;
	if (host[0])
		return listen_on(text, host, port, AF_UNSPEC, err);
	/* An IPv6 socket accepts IPv4 connections too; fall back to IPv4 if there is no IPv6. */
	fd = listen_on(text, NULL, port, AF_INET6, err);
	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
		fd = listen_on(text, NULL, port, AF_INET, err);
	return fd;
}

int address__of_socket(int fd, char *text, size_t size)
{
	char host[ADDRESS_HOST_MAX], port[ADDRESS_PORT_MAX];
	struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
	socklen_t length = sizeof(address);
	bool v6;

	if (getsockname(fd, (struct sockaddr *)&address, &length))
		return -errno;
	if (getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return -EINVAL;
	v6 = address.ss_family == AF_INET6;
	snprintf(text, size, "%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
	return 0;
}

static bool is_loopback4(uint32_t address)
{
	return address >> 24 == IN_LOOPBACKNET;
}

bool address__is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
	uint32_t mapped;

	if (address->sa_family == AF_INET)
		return is_loopback4(ntohl(four->sin_addr.s_addr));
	if (address->sa_family != AF_INET6)
		return false;
	memcpy(&mapped, &six->s6_addr[12], sizeof(mapped));
	return IN6_IS_ADDR_LOOPBACK(six) ||
	       (IN6_IS_ADDR_V4MAPPED(six) && is_loopback4(ntohl(mapped)));
}
