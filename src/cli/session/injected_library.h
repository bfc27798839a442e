/* SPDX-License-Identifier: BSD-2-Clause */
/* Libraries that gpuprobe gives to COMMAND, by variables of its environment. */
#ifndef CLI_INJECTED_LIBRARY_H
#define CLI_INJECTED_LIBRARY_H

#include "base/error.h"

/*
 * Sets the variable to the path of this file of gpuprobe's, for what this process starts from now
 * on: beside gpuprobe, or in lib/gpuprobe/ of the prefix that it is installed in. `lacking` is what
 * COMMAND lacks without it, such as "no GPU times". Returns 0, or with a message -EEXIST if the
 * variable is set already, -ENOENT if the library is not installed, or -ENOMEM.
 */
int injected_library__set(const char *variable, const char *file, const char *lacking,
			  struct error *err);

#endif
