/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory mappings of a process, from /proc/PID/maps, and ways to open the files behind them,
 * which may be in another mount namespace or deleted.
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
	dev_t device;	      /* as maps shows it; with overlay mounts it differs from stat's */
	bool executable;
	bool deleted;  /* the name is gone, or it ends in " (deleted)" */
	bool is_local; /* the kernel says that no program serves it; false: unknown */
	/*
	 * PATH_MAX or longer, for a file in a very deep directory: it cannot be opened by that
	 * path.
	 */
	bool path_too_long;
	/*
	 * In the process's mount namespace; "" for anonymous memory or a path that is too long;
	 * "[stack]" and the like are no paths. Valid during the callback.
	 */
	const char *path;
};

/* Returns 0 to go on; any other value ends the iteration, which returns it. */
typedef int (*mapping_fn)(const struct mapping *mapping, void *arg);

/*
 * Calls `fn` for each mapping, by ascending address. Returns 0, what `fn` returned, -ESRCH if the
 * process is gone, or another negative errno. Skips lines that it does not understand. Returns
 * -EFBIG after 16 MiB of text; mappings after that are unknown.
 */
int proc_maps__each(pid_t pid, mapping_fn fn, void *arg);

/* The same for text in the format of that file (modified while parsing). For tests. */
int proc_maps__each_line(char *line, mapping_fn fn, void *arg);

/* Whether the mapping's file has a name that can be opened: "/…", not "[heap]", not anonymous. */
bool mapping__is_file(const struct mapping *mapping);

/*
 * The last part of a mapped file's path; for a file in memory, "/memfd:NAME", NAME. NULL if `path`
 * is no path. Points into `path`.
 */
const char *mapping__base_name(const char *path);

/*
 * Whether the file at `path` may be one of CUDA's, by its name: libcuda.so.1, libcudart.so.13 and
 * the like.
 */
bool mapping__is_named_like_cuda(const char *path);

/*
 * The link "/proc/PID/map_files/START-END" to a mapping's file, which works for a deleted one, too
 * (with CAP_CHECKPOINT_RESTORE). malloc; NULL if out of memory.
 */
char *mapping__map_files_path(const struct mapping *mapping, pid_t pid);

/*
 * Opens the mapping's file for reading. By map_files this is the exact file, even if it is deleted
 * or, with is_local, on a detached mount. Otherwise it opens the path, which may be a newer file.
 * Returns a file descriptor or a negative errno, see root_file__open.
 */
int mapping__open(const struct mapping *mapping, pid_t pid);

#endif
