/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a process that may get probes: those with names like CUDA's, the program, and
 * nameless ones. Part of the attacher (attacher_private.h).
 */
#ifndef PROBE_CANDIDATES_H
#define PROBE_CANDIDATES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "probe/attacher_private.h"
#include "target/identity.h"
#include "target/proc_maps.h"

/* per process: each is opened, and may get several hundred probes */
#define CANDIDATES_MAX 64

/* A mapped file to attach. */
struct candidate {
	struct mapping mapping; /* owns its path */
	enum file_role role;
	/*
	 * maps shows no name, because the mount, which was of that file alone, has been detached.
	 */
	bool is_nameless;
	struct file_identity identity; /* .inode 0: unknown */
};

struct candidates {
	struct attacher *attacher;
	pid_t pid;
	char program[PATH_MAX]; /* as maps shows it */
	struct candidate *items;
	size_t count;
	bool maps_coroutines; /* the process has a coroutine library */
	bool maps_cuda;	      /* the process has a file named like a CUDA library */
	bool maps_others;     /* the process has the library of an allocator or of handles */
	bool maps_nameless;   /* it has a nameless file that may be one */
	/* not all are in the list: -EFBIG for too many mappings, -E2BIG for too many candidates */
	int limit;
};

/*
 * Finds the files of the process; only `attacher` and `pid` are set before. Returns 0 or a negative
 * errno: -ESRCH if there is no such process.
 */
int candidates__gather(struct candidates *found);

/* Finds the inodes of the files that the kernel would probe; nameless files get their role. */
void candidates__identify(struct candidates *found);

/* Releases the files. */
void candidates__clear(struct candidates *found);

/* Whether a file with this role is CUDA's by its name. */
bool candidate__is_of_cuda(enum file_role role);

#endif
