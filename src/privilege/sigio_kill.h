/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals to processes that kill(2) does not reach: COMMAND runs as another
 * user than gpuprobe, which has given up CAP_KILL, and its children may take
 * any identity. To the owner of a file that has become readable (fcntl(2),
 * F_SETOWN and F_SETSIG) the kernel lets user 0 send a signal whoever that is.
 */
#ifndef PRIVILEGE_SIGIO_KILL_H
#define PRIVILEGE_SIGIO_KILL_H

#include <stdbool.h>
#include <sys/types.h>

/* Its descriptors are made beforehand: to let somebody go on must not fail for want of them. */
struct sigio_kill {
	int reader, writer; /* of a pipe; -1: none */
};

/* clang-format off */
#define SIGNALLER_NONE {-1, -1}
/* clang-format on */

/* 0 or a negative errno. Of one process alone: after a fork the child makes its own. */
int sigio_kill__open(struct sigio_kill *sigio_kill);
void sigio_kill__close(struct sigio_kill *sigio_kill);

/*
 * Sends `number` to the process, by kill(2) where that may. Returns 0 or
 * kill's negative errno; by the other way none that tells of a refusal: that
 * user 0 meets none is checked beforehand.
 */
int sigio_kill__send(const struct sigio_kill *sigio_kill, pid_t pid, int number);

/*
 * Whether this process may signal any other. Where not, it reaches those whose
 * real or saved user is its own.
 */
bool sigio_kill__reaches_all(void);

#endif
