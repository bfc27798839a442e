/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A root process that renames a file into another user's directory. By the time that is needed,
 * gpuprobe has given up the capability for it (privilege/capabilities.h). gpuprobe does not switch
 * to that user itself, because the user could then send it signals. This process has no
 * capabilities, has the filter of system calls, and has the rights of the directory's owner only
 * for file access. The owner cannot signal or trace it either.
 */
#ifndef CLI_PLACER_H
#define CLI_PLACER_H

#include <sys/types.h>

struct placer {
	pid_t pid; /* 0: none */
	int socket;
};

/* The files to rename, in one directory. The descriptor stays valid if the directory is renamed. */
struct placement {
	int directory;
	const char *temporary, *name;
};

/*
 * Starts the process, from a single-threaded gpuprobe. Returns 0, or a negative errno if `owner`,
 * the directory's, could not put the file in its place either.
 */
int placer__start(const struct placement *placement, uid_t owner, struct placer *placer);

/* Renames the temporary file to `name` and ends the process. Returns 0 or a negative errno. */
int placer__place(struct placer *placer);

/* Makes the process remove the temporary file and end. It does the same if gpuprobe is killed. */
void placer__end(struct placer *placer);

#endif
