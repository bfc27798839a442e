/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUDA libraries: those of this machine, those that the user names and those that running processes
 * map. For each: which functions of the API table it has, and which probes in it would be slow.
 */
#ifndef CHECK_LIBRARIES_H
#define CHECK_LIBRARIES_H

#include <sys/types.h>

#include "check/list.h"
#include "target/elf_file.h"

struct checked_library {
	char *path;
	pid_t pid; /* the process in whose root `path` is; 0: in gpuprobe's */
	struct elf_file *elf;
	unsigned int layers; /* LAYER_BIT() of the layers in it */
	bool inside;	     /* a program with the runtime linked in */
};

struct checked_libraries {
	struct checked_library *libraries;
	size_t count;
};

/*
 * Adds an open file with `path` in the root of process `pid` (0: gpuprobe's root). Skips it if it
 * is already in the list or is not a CUDA library. Takes ownership of `elf` in any case. Sets
 * *layers to the layers in the file. Returns 0 or -ENOMEM.
 */
int checked_libraries__add(struct checked_libraries *libraries, struct elf_file *elf,
			   const char *path, pid_t pid, unsigned int *layers);
void checked_libraries__clear(struct checked_libraries *libraries);

/*
 * The version in a library's file name: "580.65.06" for "/usr/lib/libcuda.so.580.65.06"; NULL if
 * the name only has the soname's major.
 */
const char *library_version__of(const char *path);

/* The processes whose libraries were collected. */
struct looked_at {
	bool given;	/* the user named processes; otherwise all */
	size_t refused; /* processes that gpuprobe may not inspect */
	size_t unread;	/* processes with a libcuda that could not be read */
};

/* Adds lines about each library and about missing ones. Returns 0 or -ENOMEM. */
int check_libraries__judge(const struct checked_libraries *libraries,
			   const struct looked_at *looked, struct check_list *list);

#endif
