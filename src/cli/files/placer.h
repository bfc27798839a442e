/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process of root's that puts a file in its place in another user's
 * directory. By the time that is due gpuprobe has given up the capability for
 * it (privilege/capabilities.h), and it takes up no user of its own for that:
 * who had him could send it signals. This process has no capabilities, the
 * filter of system calls, and for files alone the rights of the directory's
 * owner; he cannot signal or trace it either.
 */
#ifndef CLI_PLACER_H
#define CLI_PLACER_H

#include <sys/types.h>

struct placer {
	pid_t pid; /* 0: none */
	int socket;
};

/* In one directory, by its descriptor, whatever becomes of its name. */
struct placement {
	int directory;
	const char *temporary, *name;
};

/*
 * Starts it, of one thread alone. 0, or a negative errno: `owner`, the directory's, could not put the file in its place
 * either.
 */
int placer__start(const struct placement *placement, uid_t owner, struct placer *placer);

/* Renames the temporary file to `name`, and ends the process. 0 or a negative errno. */
int placer__place(struct placer *placer);

/* Has the temporary file taken away, as it is too where gpuprobe has been killed, and ends the process. */
void placer__end(struct placer *placer);

#endif
