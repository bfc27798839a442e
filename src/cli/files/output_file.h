/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of -O for output that is written as calls and reports come. atomic_file.h is for output
 * that is written as a whole at the end.
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include "base/error.h"

/*
 * Opens the file for writing, with the permissions of gpuprobe's caller (privilege/file_rights.h).
 * Creates or truncates it. Waits if it is a pipe without a reader; meanwhile a stop signal
 * (signals.h) ends gpuprobe at once, so no probe may be attached yet. Returns a descriptor, or a
 * negative errno with a message.
 */
int output_file__open(const char *path, struct error *err);

#endif
