/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA libraries of this machine, where no process is asked for them:
 * those in LD_LIBRARY_PATH, those that the loader would find, those of
 * /usr/local/cuda; or the ones that the user names.
 */
#ifndef TARGET_CUDA_FILES_H
#define TARGET_CUDA_FILES_H

#include "base/error.h"
#include "target/elf_file.h"

struct cuda_file {
	char *path; /* absolute */
	struct elf_file *elf;
	unsigned int layers; /* LAYER_BIT() of those in it */
};

struct cuda_files {
	struct cuda_file *files;
	size_t count;
};

/*
 * Adds a file that the user has named; -EINVAL for one that is no CUDA library
 * and no program with the runtime inside, or the errno of opening it.
 */
int cuda_files__add(struct cuda_files *files, const char *path, struct error *err);

/* Adds what is found of the layers in `layers`, each file once. Files that cannot be read are passed over. */
int cuda_files__find(struct cuda_files *files, unsigned int layers, struct error *err);

void cuda_files__clear(struct cuda_files *files);

#endif
