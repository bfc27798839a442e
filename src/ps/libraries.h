/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of NVIDIA's libraries a process maps, and their versions, from the names of the files: no
 * file is opened but the program, which may have the runtime linked in.
 */
#ifndef PS_LIBRARIES_H
#define PS_LIBRARIES_H

#include <sys/types.h>

#include "model/ps.h"

/* Programs that were looked into, so that each is read once. */
struct ps_programs;

/* NULL if out of memory. */
struct ps_programs *ps_programs__new(void);
void ps_programs__free(struct ps_programs *programs); /* NULL ok */

/* Adds the file at `path` to *libraries if it is one of them. */
void ps_libraries__add(struct ps_libraries *libraries, const char *path);

/*
 * Reads the mappings of a process. Returns 0, -ESRCH, or another negative errno if gpuprobe may not
 * read them; *libraries is not .known then.
 */
int ps_libraries__read(pid_t pid, struct ps_libraries *libraries);

/*
 * Looks for a runtime in the program itself, of a process that maps the driver and no runtime.
 * Changes nothing if the program cannot be read, or if too many different ones have been.
 */
void ps_libraries__look_inside(struct ps_programs *programs, pid_t pid,
			       struct ps_libraries *libraries);

#endif
