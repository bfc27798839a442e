// SPDX-License-Identifier: BSD-2-Clause
// Messages to the service manager, see manager.h.
#include "service/manager.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define NS_PER_US 1000ull

/* The watchdog is another process's if gpuprobe runs below the one that systemd started. */
static uint64_t watchdog_ns(void)
{
	const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	unsigned long long microseconds;
	char *end;

	if (!text || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	errno = 0;
	microseconds = strtoull(text, &end, 10);
	if (errno || end == text || *end || microseconds > UINT64_MAX / NS_PER_US)
		return 0;
	return microseconds * NS_PER_US;
}

/* An abstract name has a zero byte first and none at its end. */
static int set_address(struct service_manager *manager, const char *name, struct error *err)
{
	size_t length = strlen(name);
	struct sockaddr_un *address = &manager->address;

	if ((*name != '/' && *name != '@') || length < 2 || length >= sizeof(address->sun_path))
		return error__set(err, -EINVAL,
				  "NOTIFY_SOCKET is no path and no abstract name: '%s'", name);
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, name, length);
	if (*name == '@')
		address->sun_path[0] = '\0';
	manager->address_length =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (*name == '/'));
	return 0;
}

int service_manager__open(struct service_manager *manager, struct error *err)
{
	const char *name = getenv("NOTIFY_SOCKET");
	int ret;

	*manager = (struct service_manager){.fd = -1};
	if (!name)
		return 0;
	ret = set_address(manager, name, err);
	if (ret)
		return ret;
	manager->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (manager->fd < 0)
		return error__set(err, -errno, "cannot make a socket for systemd: %s",
				  strerror(errno));
	manager->watchdog_ns = watchdog_ns();
	return 0;
}

void service_manager__close(struct service_manager *manager)
{
	if (manager->fd >= 0)
		close(manager->fd);
	manager->fd = -1;
}

void service_manager__notify(const struct service_manager *manager, const char *state)
{
	if (manager->fd >= 0)
		sendto(manager->fd, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL,
		       (const struct sockaddr *)&manager->address, manager->address_length);
}
