/* SPDX-License-Identifier: BSD-2-Clause */
/* ADDRESS:PORT as people write it, and a socket that listens there. */
#ifndef SERVE_ADDRESS_H
#define SERVE_ADDRESS_H

#include <stddef.h>
#include <sys/socket.h>

#include "base/error.h"

/* Room for a host name and a port. */
#define ADDRESS_HOST_MAX 256
#define ADDRESS_PORT_MAX 8
#define ADDRESS_TEXT_MAX (ADDRESS_HOST_MAX + ADDRESS_PORT_MAX + 4)

/*
 * Splits "127.0.0.1:9000", "localhost:9000", "[::1]:9000" or ":9000" (every
 * address of the machine; the host is then empty). The port is 0 to 65535, 0
 * for one that the kernel chooses. -EINVAL with the reason in `err`.
 */
int address__split(const char *text, char host[ADDRESS_HOST_MAX], char port[ADDRESS_PORT_MAX],
		   struct error *err);

/*
 * A listening socket on `text`, non-blocking and closed on exec; the caller
 * closes it. Negative errno with the reason and what to do in `err`:
 * -EADDRINUSE where the port is taken.
 */
int address__listen(const char *text, struct error *err);

/* The address a socket is bound to, as address__split reads it. 0 or a negative errno. */
int address__of_socket(int fd, char *text, size_t size);

#endif
