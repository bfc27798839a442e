/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of -O, which is written as the calls and reports come; one that is
 * written as a whole at the end is in atomic_file.h.
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include "base/error.h"

/*
 * Opens it for writing, made where it is not there and else emptied, with the
 * rights of gpuprobe's caller (privilege/file_rights.h). A pipe
 * that nobody reads yet is waited for; a stop signal (signals.h) ends gpuprobe
 * on the spot meanwhile, so that no probe may be in by then. Returns a
 * descriptor, or a negative errno with a text.
 */
int output_file__open(const char *path, struct error *err);

#endif
