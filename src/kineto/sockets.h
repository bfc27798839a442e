/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets of the daemon that Kineto asks: one in the network namespace of each process that is
 * to be served, since an abstract name is a namespace's.
 */
#ifndef KINETO_SOCKETS_H
#define KINETO_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/error.h"
#include "kineto/protocol.h"

#define KINETO_NAMESPACES 16

struct kineto_sockets {
	struct kineto_socket {
		uint64_t device, inode; /* of the namespace */
		int fd;
	} list[KINETO_NAMESPACES];
	size_t count;
};

/* The sender of a question. */
struct kineto_asker {
	pid_t pid; /* in gpuprobe's pid namespace, by the kernel's word; 0: it is in another one */
	struct sockaddr_un address;
	socklen_t length;
	enum kineto_question question;
	bool idle; /* see kineto_protocol__read */
};

/*
 * Takes the daemon's name in the network namespace of process `pid`, if that has not been done. The
 * calling thread stays in that namespace. Returns 0 or a negative errno with a message: -EADDRINUSE
 * if there is a daemon already.
 */
int kineto_sockets__add(struct kineto_sockets *sockets, pid_t pid, struct error *err);

/*
 * Receives a question. Returns 0, -EAGAIN if there is none, or -EBADMSG for a datagram that is none
 * or whose sender does not wait any longer: it gets no answer.
 */
int kineto_sockets__receive(int fd, struct kineto_asker *asker);

/* Answers the question, see kineto_protocol__answer. Returns 0 or a negative errno. */
int kineto_sockets__answer(int fd, const struct kineto_asker *asker, const char *configuration);

/* Gives up the names. */
void kineto_sockets__close(struct kineto_sockets *sockets);

#endif
