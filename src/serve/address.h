/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses ADDRESS:PORT, and creates a socket that listens there. */
#ifndef SERVE_ADDRESS_H
#define SERVE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/error.h"

/* Room for a host name and a port. */
#define ADDRESS_HOST_MAX 256
#define ADDRESS_PORT_MAX 8
#define ADDRESS_TEXT_MAX (ADDRESS_HOST_MAX + ADDRESS_PORT_MAX + 4)

/*
 * Splits "127.0.0.1:9000", "localhost:9000", "[::1]:9000" or ":9000" (every address of the machine;
 * the host is then empty). The port is 0 to 65535; with 0 the kernel chooses one. Returns -EINVAL
 * with the reason in `err`.
 */
int address__split(const char *text, char host[ADDRESS_HOST_MAX], char port[ADDRESS_PORT_MAX],
		   struct error *err);

/*
 * Returns a listening socket on `text`, non-blocking and close-on-exec; the caller closes it.
 * Returns a negative errno with the reason and what to do in `err`: -EADDRINUSE if the port is
 * taken.
 */
int address__listen(const char *text, struct error *err);

/*
 * Writes the address a socket is bound to, in the form that address__split reads. Returns 0 or a
 * negative errno.
 */
int address__of_socket(int fd, char *text, size_t size);

/* Whether the address of a client is a loopback address: the client is on this machine. */
bool address__is_loopback(const struct sockaddr *address);

#endif
