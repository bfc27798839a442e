// SPDX-License-Identifier: BSD-2-Clause
// Finds CUDA libraries without looking at processes; see cuda_files.h.
#include "target/cuda_files.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "privilege/file_rights.h"
#include "target/cuda_library.h"
#include "target/loader_cache.h"

#define TOOLKIT_DIRECTORY "/usr/local/cuda/lib64"

static bool is_known(const struct cuda_files *files, const struct elf_file *elf)
{
	const struct stat *wanted = elf_file__stat(elf);

	for (size_t i = 0; i < files->count; i++) {
		const struct stat *stat = elf_file__stat(files->files[i].elf);

		if (stat->st_dev == wanted->st_dev && stat->st_ino == wanted->st_ino)
			return true;
	}
	return false;
}

/* Takes ownership of `elf` if it returns 0. */
static int append(struct cuda_files *files, const char *path, struct elf_file *elf,
		  unsigned int layers)
{
	char *copy = realpath(path, NULL);
	int ret = copy ? 0 : -errno;

	if (!ret)
		ret = ARRAY_APPEND(files->files, files->count,
				   (struct cuda_file){.path = copy, .elf = elf, .layers = layers});
	if (ret)
		free(copy);
	return ret;
}

/* The caller of gpuprobe may have named the path, so their permissions apply. */
static int open_as_invoker(const char *path, struct elf_file **elf, struct error *err)
{
	struct file_rights rights;
	int ret = file_rights__take_invokers(&rights);

	if (ret)
		return error__set(err, ret, "%s: %s", path, strerror(-ret));
	ret = elf_file__open(path, elf, err);
	file_rights__give_back(&rights);
	return ret;
}

/* Returns -EEXIST if the file is already in the list, -ENOMSG if it has none of those layers. */
static int add(struct cuda_files *files, const char *path, unsigned int layers, struct error *err)
{
	struct elf_file *elf = NULL;
	unsigned int found;
	int ret = open_as_invoker(path, &elf, err);

	if (ret)
		return ret;
	ret = cuda_library__layers(elf, &found);
	found &= layers;
	if (ret)
		error__set(err, ret, "out of memory");
	else if (is_known(files, elf))
		ret = -EEXIST;
	else if (!found)
		ret = error__set(
			err, -ENOMSG,
			"%s has no CUDA functions to probe: give a library or program that "
			"has",
			path);
	else
		ret = append(files, path, elf, found);
	if (ret)
		elf_file__free(elf);
	return ret;
}

int cuda_files__add(struct cuda_files *files, const char *path, struct error *err)
{
	int ret = add(files, path, LAYER_BIT(LAYER_RUNTIME) | LAYER_BIT(LAYER_DRIVER), err);

	return ret == -EEXIST ? 0 : (ret == -ENOMSG ? -EINVAL : ret);
}

static int add_found(struct cuda_files *files, const struct path_list *list, unsigned int layers)
{
	for (size_t i = 0; i < list->count; i++)
		if (add(files, list->paths[i], layers, NULL) == -ENOMEM)
			return -ENOMEM;
	return 0;
}

static int search_environment(struct path_list *list)
{
	const char *at = getenv("LD_LIBRARY_PATH");
	char directory[PATH_MAX];
	int ret = 0;

	while (!ret && at && *at) {
		size_t length = strcspn(at, ":;");

		snprintf(directory, sizeof(directory), "%.*s", (int)length, at);
		if (length && length < sizeof(directory))
			ret = loader_cache__find_in(directory, list, NULL);
		at += length + (at[length] != '\0');
	}
	return ret;
}

int cuda_files__find(struct cuda_files *files, unsigned int layers, struct error *err)
{
	struct path_list first = {0}, cached = {0}, last = {0};
	int ret = search_environment(&first);

	if (!ret)
		ret = loader_cache__find_in(TOOLKIT_DIRECTORY, &last, NULL);
	/* A damaged cache must not hide libraries elsewhere. */
	if (!ret && loader_cache__find_cuda("", &cached, NULL) == -ENOMEM)
		ret = -ENOMEM;
	if (!ret)
		ret = add_found(files, &first, layers);
	if (!ret)
		ret = add_found(files, &cached, layers);
	if (!ret)
		ret = add_found(files, &last, layers);
	path_list__clear(&first);
	path_list__clear(&cached);
	path_list__clear(&last);
	return ret ? error__set(err, ret, "cannot look for CUDA libraries: %s", strerror(-ret)) : 0;
}

void cuda_files__clear(struct cuda_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->files[i].path);
		elf_file__free(files->files[i].elf);
	}
	free(files->files);
	*files = (struct cuda_files){0};
}
