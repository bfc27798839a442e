/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that is forked from gpuprobe and answers its requests: work that may hang, or that
 * needs privileges which gpuprobe gives up.
 */
#ifndef BASE_SERVER_PROCESS_H
#define BASE_SERVER_PROCESS_H

#include <sys/types.h>

/*
 * Forks a process called `name` (at most 15 bytes), which calls run(socket). `run` must not return,
 * and should end when the other end of the socket, a SOCK_SEQPACKET, is closed. The process has no
 * other descriptors, so that gpuprobe's links, files and pipes do not stay open as long as it. All
 * its signals are blocked: those that are sent to all processes of a terminal are for gpuprobe
 * itself. Returns 0 with its pid and gpuprobe's end of the socket, or a negative errno; then both
 * are unchanged.
 */
int server_process__start(const char *name, void (*run)(int socket), pid_t *pid, int *socket);

#endif
