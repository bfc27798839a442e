/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Versions of NVIDIA's libraries that pip has installed. Their files are named libnccl.so.2 and
 * the like, without the whole version. The wheel's own directory, which is beside theirs, has it:
 *
 *	site-packages/nvidia/nccl/lib/libnccl.so.2
 *	site-packages/nvidia_nccl_cu12-2.27.3.dist-info
 */
#ifndef PS_WHEELS_H
#define PS_WHEELS_H

#include <sys/types.h>

#include "model/ps.h"

/* Directories that were looked into, so that each is read once. */
struct ps_wheels;

/* NULL if out of memory. */
struct ps_wheels *ps_wheels__new(void);
void ps_wheels__free(struct ps_wheels *wheels); /* NULL ok */

/*
 * Completes the versions of libraries that the process has mapped from wheels. Changes nothing
 * where the wheel's version is unknown, does not fit the file's name, or is one of several.
 */
void ps_wheels__complete(struct ps_wheels *wheels, pid_t pid, struct ps_libraries *libraries);

/*
 * Takes the name of an entry of site-packages. Returns which library's wheel it is, with its
 * version, or PS_LIBRARY_KINDS for any other entry.
 */
enum ps_library_kind ps_wheels__parse(const char *entry, char version[PS_VERSION_SIZE]);

#endif
