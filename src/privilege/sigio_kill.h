/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals to processes that kill(2) does not reach: COMMAND runs as another user than gpuprobe,
 * which has given up CAP_KILL, and its children may take any identity. When a file becomes
 * readable, the kernel signals its owner (fcntl(2), F_SETOWN and F_SETSIG), and lets user 0 signal
 * any owner that way.
 */
#ifndef PRIVILEGE_SIGIO_KILL_H
#define PRIVILEGE_SIGIO_KILL_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Its descriptors are created beforehand: resuming a stopped process must not fail for lack of
 * descriptors.
 */
struct sigio_kill {
	int reader, writer; /* of a pipe; -1 if there is none */
};

/* clang-format off */
#define SIGNALLER_NONE {-1, -1}
/* clang-format on */

/* Returns 0 or a negative errno. Belongs to one process: a forked child opens its own. */
int sigio_kill__open(struct sigio_kill *sigio_kill);
void sigio_kill__close(struct sigio_kill *sigio_kill);

/*
 * Sends `number` to the process, by kill(2) if permitted. Returns 0 or kill's negative errno. The
 * other way reports no refusal, but user 0, who alone uses it, is never refused.
 */
int sigio_kill__send(const struct sigio_kill *sigio_kill, pid_t pid, int number);

/*
 * Whether this process may signal any other. If not, it reaches those whose real or saved user is
 * its own.
 */
bool sigio_kill__reaches_all(void);

#endif
