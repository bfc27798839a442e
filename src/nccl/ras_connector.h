/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connects to the RAS service of a process, in that process's network namespace. gpuprobe itself
 * may not enter namespaces once it has given up its privileges. So a process of its own does, which
 * is forked before, and passes the connected socket. It connects to addresses of that namespace
 * only: a watched process must not choose where else gpuprobe connects to.
 */
#ifndef NCCL_RAS_CONNECTOR_H
#define NCCL_RAS_CONNECTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "nccl/ras_address.h"

struct ras_connector;

/*
 * Forks the process. Call it before privileges are given up and before threads are started. Returns
 * 0 or a negative errno with a message. Use it from one thread.
 */
int ras_connector__new(struct ras_connector **out, struct error *err);
/* Also ends the process. NULL ok. */
void ras_connector__free(struct ras_connector *connector);

/*
 * Begins to connect to an address in the network namespace of process `pid`, one at a time. Returns
 * 0 or a negative errno. Then ras_connector__fd becomes readable, and ras_connector__take returns a
 * socket, which is nonblocking, or a negative errno: -EAGAIN before that, -ECONNREFUSED if nothing
 * listens there, -EADDRNOTAVAIL if the address is of another machine or namespace, -EPERM if the
 * namespace may not be entered, -ETIMEDOUT after a second.
 */
int ras_connector__begin(struct ras_connector *connector, pid_t pid,
			 const union ras_address *address);
int ras_connector__fd(const struct ras_connector *connector);
int ras_connector__take(struct ras_connector *connector);
/*
 * An answer that comes late would be taken for the next one: after this, nothing can be asked any
 * more.
 */
void ras_connector__give_up(struct ras_connector *connector);

/*
 * Whether an address is of the network namespace of process `pid`; its port does not matter. Takes
 * a few system calls. Not while it connects.
 */
bool ras_connector__is_local(struct ras_connector *connector, pid_t pid,
			     const union ras_address *address);

#endif
