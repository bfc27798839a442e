// SPDX-License-Identifier: BSD-2-Clause
// Messages with a descriptor, see socket_message.h.
#include "base/socket_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int socket_message__send(int socket, const void *data, size_t size, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = (void *)data, .iov_len = size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *header;
	ssize_t sent;

	if (fd >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	while ((sent = sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	return sent < 0 ? -errno : sent == (ssize_t)size ? 0 : -EIO;
}

int socket_message__receive(int socket, void *data, size_t size, int *fd, int flags)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {.iov_base = data, .iov_len = size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	const struct cmsghdr *header;
	ssize_t received;

	if (fd) {
		*fd = -1;
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
	}
	while ((received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags)) < 0 &&
	       errno == EINTR)
		;
	if (received != (ssize_t)size)
		return received < 0 ? -errno : -EPIPE;
	header = fd ? CMSG_FIRSTHDR(&message) : NULL;
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return 0;
}
