/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA libraries there are: those of this machine, those that the user names
 * and those that running processes map; what of the API table they have, and
 * which probes in them would be slow.
 */
#ifndef CHECK_LIBRARIES_H
#define CHECK_LIBRARIES_H

#include <sys/types.h>

#include "check/list.h"
#include "target/elf_file.h"

struct checked_library {
	char *path;
	pid_t pid; /* in whose root that is; 0: in gpuprobe's */
	struct elf_file *elf;
	unsigned int layers; /* LAYER_BIT() of those in it */
	bool inside;	     /* a program with the runtime inside */
};

struct checked_libraries {
	struct checked_library *libraries;
	size_t count;
};

/*
 * Adds an open file, which has `path` in the root of process `pid` (0: in gpuprobe's), unless it is there already or
 * no CUDA library, and takes it over in any case. *layers is what is in it. Returns 0 or -ENOMEM.
 */
int checked_libraries__add(struct checked_libraries *libraries, struct elf_file *elf, const char *path, pid_t pid,
			   unsigned int *layers);
void checked_libraries__clear(struct checked_libraries *libraries);

/*
 * What a library's file name tells of its version: "580.65.06" of
 * "/usr/lib/libcuda.so.580.65.06"; NULL where that is no more than the soname's major.
 */
const char *library_version__of(const char *path);

/* Which processes' libraries these are. */
struct looked_at {
	bool given;	/* those that were asked for, not all */
	size_t refused; /* processes that could not be looked into */
	size_t unread;	/* processes that map a libcuda which could not be read */
};

/* Lines on each library, and on what is missing among them. Returns 0 or -ENOMEM. */
int check_libraries__judge(const struct checked_libraries *libraries, const struct looked_at *looked,
			   struct check_list *list);

#endif
