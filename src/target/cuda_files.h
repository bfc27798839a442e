/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA libraries of this machine, found without processes: those in LD_LIBRARY_PATH, those that
 * the loader would find, those in /usr/local/cuda; or the ones that the user names.
 */
#ifndef TARGET_CUDA_FILES_H
#define TARGET_CUDA_FILES_H

#include "base/error.h"
#include "target/elf_file.h"

struct cuda_file {
	char *path; /* absolute */
	struct elf_file *elf;
	unsigned int layers; /* LAYER_BIT() of the layers in it */
};

struct cuda_files {
	struct cuda_file *files;
	size_t count;
};

/*
 * Adds a file that the user named. Returns -EINVAL for a file that is neither a CUDA library nor a
 * program with the runtime linked in, or the errno of opening it.
 */
int cuda_files__add(struct cuda_files *files, const char *path, struct error *err);

/*
 * Adds all files found with the layers in `layers`, each file once. Skips files that cannot be
 * read.
 */
int cuda_files__find(struct cuda_files *files, unsigned int layers, struct error *err);

void cuda_files__clear(struct cuda_files *files);

#endif
