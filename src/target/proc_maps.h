/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory mappings of a process, from /proc/PID/maps, and the ways to the
 * files behind them, which may lie in another mount namespace or be deleted.
 */
#ifndef TARGET_PROC_MAPS_H
#define TARGET_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end;  /* addresses */
	uint64_t file_offset; /* of `start` */
	uint64_t inode;	      /* 0: not a file */
	dev_t device;	      /* as maps shows it: overlay mounts make it differ from stat's */
	bool executable;
	bool deleted;	    /* the name is gone (or ends in " (deleted)": maps cannot tell) */
	bool is_local;	    /* the kernel tells that no program serves its file system; false: it was not asked */
	bool path_too_long; /* PATH_MAX and more, of a file in a directory so deep: nobody can open it by that */
	const char *path;   /* in the process's mount namespace; "" for anonymous memory;
			      * or one too long; "[stack]" and the like are no paths. Valid during the callback. */
};

/* Returns 0 to go on; anything else ends the iteration, which returns it. */
typedef int (*mapping_fn)(const struct mapping *mapping, void *arg);

/*
 * Calls `fn` for each mapping, by rising address. Returns 0, what `fn`
 * returned, -ESRCH when the process is gone, or another negative errno. Lines
 * that cannot be understood are skipped. After 16 MiB of text: -EFBIG; what
 * comes after is not known.
 */
int proc_maps__each(pid_t pid, mapping_fn fn, void *arg);

/* The same over text in the form of that file (changed while parsing). For tests. */
int proc_maps__each_line(char *line, mapping_fn fn, void *arg);

/* The mapping's file has a name that can be opened: "/…", not "[heap]", not anonymous. */
bool mapping__is_file(const struct mapping *mapping);

/* The last part of a mapped file's path; of a file in memory, "/memfd:NAME", NAME. NULL: no path. Of `path`. */
const char *mapping__base_name(const char *path);

/* Whether the file at `path` may be one of CUDA's, by its name: libcuda.so.1, libcudart.so.13 and the like. */
bool mapping__is_named_like_cuda(const char *path);

/*
 * The link "/proc/PID/map_files/START-END" to a mapping's file, which leads to
 * a deleted one too (with CAP_CHECKPOINT_RESTORE). malloc; NULL without memory.
 */
char *mapping__map_files_path(const struct mapping *mapping, pid_t pid);

/*
 * Opens the mapping's file for reading: by map_files the very file, also when
 * deleted, or of a mount that is nobody's any more if it is_local; else by its path, which may lead to its successor. Returns a file
 * descriptor or a negative errno, see root_file__open.
 */
int mapping__open(const struct mapping *mapping, pid_t pid);

#endif
