/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a process's RAS service listens: localhost:28028, or what its NCCL_RAS_ADDR says. The
 * variable is the process's own and may be hostile. Names other than localhost are refused, since
 * gpuprobe asks no name server for a watched process.
 */
#ifndef NCCL_RAS_ADDRESS_H
#define NCCL_RAS_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#define RAS_PORT 28028
#define RAS_ADDRESSES 2

union ras_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/*
 * The addresses to try, in order, from the value of NCCL_RAS_ADDR (NULL: it is not set):
 * "localhost:28028", "10.0.0.1:28028", "[::1]:28028". An address that stands for all becomes
 * loopback. Returns how many; 0: not understood.
 */
size_t ras_address__parse(const char *text, union ras_address addresses[RAS_ADDRESSES]);

/* A numeric address without a port. */
bool ras_address__of_host(const char *text, union ras_address *address);

/* For socket functions. */
socklen_t ras_address__size(const union ras_address *address);

#endif
