// SPDX-License-Identifier: BSD-2-Clause
// The files of a process that may get probes, see candidates.h.
#include "probe/candidates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/array.h"
#include "base/clock.h"
#include "probe/seen_files.h"
#include "probe/stack_switcher.h"
#include "target/proc.h"

bool candidate__is_of_cuda(enum file_role role)
{
	return role == ROLE_OF_DRIVER || role == ROLE_OF_LIBRARY;
}

/*
 * It is unknown whether the file is CUDA's. One line for all such files: a program may have any
 * number of them.
 */
static void note_long_path(struct candidates *found, const struct mapping *mapping)
{
	struct attacher *attacher = found->attacher;

	seen_files__count_skipped(attacher, mapping);
	if (!attacher->long_path_reported)
		log__warn(attacher->log,
			  "process %d maps code from files whose paths are longer than %d bytes: "
			  "such "
			  "files get no probes",
			  found->pid, PATH_MAX - 1);
	attacher->long_path_reported = true;
}

/* Sets the role of a CUDA file by its name; returns false for others. */
static bool has_role_by_name(const char *base, enum file_role *role)
{
	if (!strncmp(base, "libcuda.so", 10))
		*role = ROLE_OF_DRIVER;
	else if (!strncmp(base, "libcuda", 7))
		*role = ROLE_OF_LIBRARY;
	else
		return false;
	return true;
}

/* Sets the role of a mapped file; returns false if it is not to be attached. */
static bool has_role(const struct candidates *found, const struct mapping *mapping,
		     enum file_role *role)
{
	const struct selection *selection = &found->attacher->selection;
	const char *base = mapping__base_name(mapping->path);

	if (!mapping->executable || !mapping__is_file(mapping) || !base)
		return false;
	if (has_role_by_name(base, role))
		return true;
	*role = ROLE_OF_ALLOCATOR;
	if ((selection->tensors && api__has_allocator(base)) ||
	    (selection->exhaustion && api__has_exhaustion(base)))
		return true;
	*role = ROLE_OF_HANDLES;
	if (found->attacher->wants_handles && api__is_library(base))
		return true;
	*role = ROLE_OF_PROGRAM;
	return !*base || !strcmp(found->program, mapping->path);
}

static int gather(const struct mapping *mapping, void *arg)
{
	struct candidates *found = arg;
	struct candidate candidate = {.mapping = *mapping};

	if (mapping->executable && mapping->path_too_long)
		note_long_path(found, mapping);
	found->maps_coroutines |= !found->attacher->always_follows && mapping->executable &&
				  stack_switcher__is_library(mapping->path);
	if (!has_role(found, mapping, &candidate.role))
		return 0;
	found->maps_cuda |= candidate__is_of_cuda(candidate.role);
	found->maps_others |=
		candidate.role == ROLE_OF_ALLOCATOR || candidate.role == ROLE_OF_HANDLES;
	if (found->count == CANDIDATES_MAX)
		return -E2BIG;
	candidate.is_nameless = !strcmp(mapping->path, "/");
	found->maps_nameless |= candidate.is_nameless;
	candidate.mapping.path = strdup(mapping->path);
	if (candidate.mapping.path && !ARRAY_APPEND(found->items, found->count, candidate))
		return 0;
	free((char *)candidate.mapping.path);
	return -ENOMEM;
}

static void find_program(struct candidates *found)
{
	char link[64];
	ssize_t n;

	proc__exe_path(found->pid, link, sizeof(link));
	n = readlink(link, found->program, sizeof(found->program) - 1);
	if (n > 10 && !strncmp(found->program + n - 10, " (deleted)", 10))
		n -= 10;
	found->program[n > 0 ? n : 0] = '\0';
}

int candidates__gather(struct candidates *found)
{
	uint64_t began;
	int ret;

	find_program(found);
	began = clock__thread_ns();
	ret = proc_maps__each(found->pid, gather, found);

	found->attacher->reading_ns += clock__thread_ns() - began;
	if (ret != -EFBIG && ret != -E2BIG)
		return ret;
	found->limit = ret;
	return 0;
}

/*
 * Gives a nameless file its role: CUDA's by its name in its directory, or the program if that is
 * nameless.
 */
static bool take_name(const struct candidates *found, struct candidate *candidate, const char *name)
{
	char *path;

	if (!has_role_by_name(name, &candidate->role))
		return !strcmp(found->program, candidate->mapping.path);
	if (asprintf(&path, "/%s", name) < 0)
		return false;
	free((char *)candidate->mapping.path);
	candidate->mapping.path = path;
	candidate->mapping.deleted = true;
	return true;
}

static void take_identity(struct candidates *found, struct candidate *candidate,
			  const struct mapped_file *file)
{
	candidate->identity = file->identity;
	candidate->mapping.is_local = file->identity.inode && !file->is_fuse;
	if (!candidate->is_nameless)
		return;
	if (!take_name(found, candidate, file->name))
		candidate->role = FILE_ROLES;
	found->maps_cuda |= candidate__is_of_cuda(candidate->role);
}

void candidates__identify(struct candidates *found)
{
	struct mapped_file files[CANDIDATES_MAX] = {{.start = 0}};
	uint64_t began = clock__thread_ns();
	int ret;

	for (size_t i = 0; i < found->count; i++)
		files[i].start = found->items[i].mapping.start;
	ret = identity_reader__of_process(found->attacher->identities, found->pid, files,
					  found->count);
	found->attacher->reading_ns += clock__thread_ns() - began;
	if (ret)
		log__debug(found->attacher->log,
			   "process %d: cannot identify the files it maps: %s", found->pid,
			   strerror(-ret));
	for (size_t i = 0; i < found->count; i++)
		take_identity(found, &found->items[i], &files[i]);
}

void candidates__clear(struct candidates *found)
{
	for (size_t i = 0; i < found->count; i++)
		free((char *)found->items[i].mapping.path);
	free(found->items);
	found->items = NULL;
	found->count = 0;
}
