// SPDX-License-Identifier: BSD-2-Clause
// Usage: pidfd PID
// Sends a descriptor of the process over the socket that is its stdin. Exits with the error's
// number, or 0.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int send_fd(int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = room,
				 .msg_controllen = sizeof(room)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(STDIN_FILENO, &message, 0) == 1 ? 0 : errno;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? pidfd_open(atoi(argv[1]), 0) : -1;

	return fd < 0 ? errno : send_fd(fd);
}
