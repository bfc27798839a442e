/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The directory of `gpuprobe stat --csv DIR`: a file for each table, written at the end. Everything
 * there happens with the permissions of gpuprobe's caller (privilege/file_rights.h).
 */
#ifndef CLI_STAT_FILES_H
#define CLI_STAT_FILES_H

#include "base/error.h"
#include "output/stat/stat.h"

struct stat_files;

/*
 * Creates the directory if it does not exist, and checks that the files can be written. A file of
 * such a name that is no table of gpuprobe's is not replaced. Call it while gpuprobe has all the
 * privileges that it was started with. Returns 0, or a negative errno with a message.
 */
int stat_files__new(const char *directory, struct stat_files **out, struct error *err);

/* Leaves no new file behind that was not written. NULL ok. */
void stat_files__free(struct stat_files *files);

/*
 * Replaces the files atomically, one after the other; called once. Returns 0, or a negative errno
 * with a message.
 */
int stat_files__write(struct stat_files *files, const struct stat_report *report,
		      struct error *err);

#endif
