/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages with a descriptor, over a SOCK_SEQPACKET between two processes of gpuprobe. */
#ifndef BASE_SOCKET_MESSAGE_H
#define BASE_SOCKET_MESSAGE_H

#include <stddef.h>

/*
 * Sends `size` bytes and, if `fd` is not negative, that descriptor. 0 or a negative errno: -EPIPE
 * if the other end is closed.
 */
int socket_message__send(int socket, const void *data, size_t size, int fd);

/*
 * Receives exactly `size` bytes and, unless `fd` is NULL, a descriptor, or -1 if there is none.
 * `flags`: of recvmsg, 0 or MSG_DONTWAIT. 0 or a negative errno: -EPIPE if the other end is closed
 * or has sent something else, -EAGAIN with MSG_DONTWAIT.
 */
int socket_message__receive(int socket, void *data, size_t size, int *fd, int flags);

#endif
