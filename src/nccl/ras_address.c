// SPDX-License-Identifier: BSD-2-Clause
// Where a process's RAS service listens, see ras_address.h.
#include "nccl/ras_address.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static union ras_address loopback4(in_port_t port)
{
	return (union ras_address){
		.v4 = {.sin_family = AF_INET,
		       .sin_port = port,
		       .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}},
	};
}

static union ras_address loopback6(in_port_t port)
{
	return (union ras_address){
		.v6 = {.sin6_family = AF_INET6,
		       .sin6_port = port,
		       .sin6_addr = IN6ADDR_LOOPBACK_INIT},
	};
}

/* 1 to 65535, in network order; 0: none. */
static in_port_t parse_port(const char *text)
{
	char *end;
	unsigned long port;

	if (*text < '0' || *text > '9')
		return 0;
	port = strtoul(text, &end, 10);
	return *end || port > UINT16_MAX ? 0 : htons((uint16_t)port);
}

bool ras_address__of_host(const char *text, union ras_address *address)
{
	*address = (union ras_address){.v6 = {.sin6_family = AF_UNSPEC}};
	if (inet_pton(AF_INET, text, &address->v4.sin_addr) == 1)
		address->any.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &address->v6.sin6_addr) == 1)
		address->any.sa_family = AF_INET6;
	return address->any.sa_family != AF_UNSPEC;
}

static size_t parse_numeric(const char *host, in_port_t port, union ras_address *address)
{
	if (!ras_address__of_host(host, address))
		return 0;
	/* The port is at the same place in both. */
	address->v4.sin_port = port;
	if (address->any.sa_family == AF_INET && address->v4.sin_addr.s_addr == INADDR_ANY)
		*address = loopback4(port);
	if (address->any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr))
		*address = loopback6(port);
	return 1;
}

size_t ras_address__parse(const char *text, union ras_address addresses[RAS_ADDRESSES])
{
	char host[INET6_ADDRSTRLEN + 2];
	const char *colon;
	in_port_t port = htons(RAS_PORT);
	size_t length;

	colon = text ? strrchr(text, ':') : NULL;
	if (text) {
		length = colon ? (size_t)(colon - text) : 0;
		port = colon ? parse_port(colon + 1) : 0;
		if (!port || !length || length >= sizeof(host))
			return 0;
		memcpy(host, text, length);
		host[length] = '\0';
	}
	/* The first of these that its resolver gave is the one where NCCL listens. */
	if (!text || !strcmp(host, "localhost")) {
		addresses[0] = loopback4(port);
		addresses[1] = loopback6(port);
		return 2;
	}
	if (host[0] == '[' && host[length - 1] == ']') {
		host[length - 1] = '\0';
		return parse_numeric(host + 1, port, &addresses[0]);
	}
	return strchr(host, ':') ? 0 : parse_numeric(host, port, &addresses[0]);
}

socklen_t ras_address__size(const union ras_address *address)
{
	return address->any.sa_family == AF_INET6 ? sizeof(address->v6) : sizeof(address->v4);
}
