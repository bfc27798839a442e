/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages to the service manager that started gpuprobe (systemd, Type=notify): the probes are
 * attached, what gpuprobe is doing, its event loop still runs. See sd_notify(3).
 */
#ifndef SERVICE_MANAGER_H
#define SERVICE_MANAGER_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/error.h"

struct service_manager {
	int fd; /* -1: gpuprobe has no service manager, or it wants no messages */
	struct sockaddr_un address;
	socklen_t address_length;
	uint64_t watchdog_ns; /* longest time between two messages; 0: no limit */
};

/*
 * Reads NOTIFY_SOCKET (a path, or with a leading '@' an abstract name), WATCHDOG_USEC and
 * WATCHDOG_PID. Without NOTIFY_SOCKET there is no manager, which is no failure. Returns 0, or a
 * negative errno with a message. service_manager__close is harmless in each case.
 */
int service_manager__open(struct service_manager *manager, struct error *err);
void service_manager__close(struct service_manager *manager);

/*
 * Sends lines such as "READY=1\nSTATUS=watching". Never blocks; a message that the manager does not
 * take is dropped. Does nothing without a manager.
 */
void service_manager__notify(const struct service_manager *manager, const char *state);

#endif
