// SPDX-License-Identifier: BSD-2-Clause
// Versions of libraries from the names of installed Python wheels; see wheels.h.
#include "ps/wheels.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ps/libraries.h"
#include "target/proc_maps.h"
#include "target/root_file.h"

#define DIRECTORIES_MAX 16 /* a user may have any number, */
#define ENTRIES_MAX 8192   /* any number of entries in each, */
#define LOOKUPS_MAX 8	   /* and any number of such libraries in a process */

static const char *const wheel_names[PS_LIBRARY_KINDS] = {
	[PS_CUDART] = "nvidia_cuda_runtime",
	[PS_NCCL] = "nvidia_nccl",
	[PS_CUDNN] = "nvidia_cudnn",
};

/* --- the wheels in a directory --- */

struct directory {
	dev_t device;
	ino_t inode;
	char versions[PS_LIBRARY_KINDS][PS_VERSION_SIZE]; /* empty: unknown */
};

struct ps_wheels {
	struct directory list[DIRECTORIES_MAX];
	size_t count;
};

struct ps_wheels *ps_wheels__new(void)
{
	return calloc(1, sizeof(struct ps_wheels));
}

void ps_wheels__free(struct ps_wheels *wheels)
{
	free(wheels);
}

/* The version in "_cu12-2.27.3.dist-info" or "-13.0.48.dist-info". */
static bool take_version(const char *rest, char version[PS_VERSION_SIZE])
{
	size_t length;

	if (!strncmp(rest, "_cu", 3))
		rest += 3 + strspn(rest + 3, "0123456789");
	if (*rest++ != '-')
		return false;
	length = strspn(rest, "0123456789.");
	if (length < 2 || length > PS_VERSION_SIZE || strcmp(rest + length, "dist-info") != 0 ||
	    rest[--length] != '.')
		return false;
	memcpy(version, rest, length);
	version[length] = '\0';
	return true;
}

enum ps_library_kind ps_wheels__parse(const char *entry, char version[PS_VERSION_SIZE])
{
	for (int kind = 0; kind < PS_LIBRARY_KINDS; kind++) {
		const char *name = wheel_names[kind];

		if (name && !strncmp(entry, name, strlen(name)) &&
		    take_version(entry + strlen(name), version))
			return (enum ps_library_kind)kind;
	}
	return PS_LIBRARY_KINDS;
}

/* Two wheels of one library write the same file. It is unknown which of them came last. */
static void read_entries(DIR *entries, struct directory *directory)
{
	bool several[PS_LIBRARY_KINDS] = {false};
	const struct dirent *entry;
	int left = ENTRIES_MAX;

	while (left && (entry = readdir(entries))) {
		char version[PS_VERSION_SIZE] = "";
		enum ps_library_kind kind = ps_wheels__parse(entry->d_name, version);

		left--;
		if (kind == PS_LIBRARY_KINDS)
			continue;
		several[kind] |= directory->versions[kind][0] != '\0';
		memcpy(directory->versions[kind], version, PS_VERSION_SIZE);
	}
	for (int kind = 0; kind < PS_LIBRARY_KINDS; kind++)
		if (several[kind] || !left)
			directory->versions[kind][0] = '\0';
}

static const struct directory *find(const struct ps_wheels *wheels, const struct stat *status)
{
	for (size_t i = 0; i < wheels->count; i++)
		if (wheels->list[i].device == status->st_dev &&
		    wheels->list[i].inode == status->st_ino)
			return &wheels->list[i];
	return NULL;
}

/* Takes ownership of `fd`. */
static const struct directory *read_directory(struct ps_wheels *wheels, int fd,
					      const struct stat *status)
{
	struct directory *directory = &wheels->list[wheels->count];
	DIR *entries = wheels->count < DIRECTORIES_MAX ? fdopendir(fd) : NULL;

	if (!entries) {
		close(fd);
		return NULL;
	}
	*directory = (struct directory){.device = status->st_dev, .inode = status->st_ino};
	wheels->count++;
	read_entries(entries, directory);
	closedir(entries);
	return directory;
}

/* --- the libraries of a process --- */

struct search {
	struct ps_wheels *wheels;
	pid_t pid;
	struct ps_libraries *libraries;
	int lookups; /* of directories, so far */
};

/* The length of DIRECTORY in "DIRECTORY/nvidia/nccl/lib/libnccl.so.2"; 0 for other paths. */
static size_t directory_length(const char *path)
{
	static const char nvidia[] = "/nvidia/";
	const char *last = NULL, *at, *rest;

	for (at = strstr(path, nvidia); at; at = strstr(at + 1, nvidia))
		last = at;
	rest = last ? strchr(last + strlen(nvidia), '/') : NULL;
	if (!rest || strncmp(rest, "/lib/", 5) != 0 || strchr(rest + 5, '/'))
		return 0;
	return (size_t)(last - path);
}

static const struct directory *find_directory(struct search *search, const char *path)
{
	size_t length = search->lookups < LOOKUPS_MAX ? directory_length(path) : 0;
	char *text = length ? strndup(path, length) : NULL;
	const struct directory *found;
	struct stat status;
	int fd;

	if (!text)
		return NULL;
	search->lookups++;
	fd = root_file__open_directory(search->pid, text);
	free(text);
	if (fd < 0)
		return NULL;
	found = fstat(fd, &status) ? NULL : find(search->wheels, &status);
	if (!found)
		return read_directory(search->wheels, fd, &status);
	close(fd);
	return found;
}

/* Whether the wheel's version is a longer form of the one in the file's name. */
static bool extends(const char *version, const char *of_file)
{
	size_t length = strlen(of_file);

	return length && !strncmp(version, of_file, length) && version[length] == '.';
}

static int look_at(const struct mapping *mapping, void *arg)
{
	struct search *search = arg;
	struct ps_libraries found = {0};

	/* If the file is deleted, another wheel may have replaced it. */
	if (!mapping->executable || !mapping__is_file(mapping) || mapping->deleted)
		return 0;
	ps_libraries__add(&found, mapping->path);
	for (int kind = 0; kind < PS_LIBRARY_KINDS; kind++) {
		char *version = search->libraries->list[kind].version;
		const struct directory *directory;

		if (!wheel_names[kind] || !found.list[kind].mapped ||
		    strcmp(found.list[kind].version, version) != 0)
			continue;
		directory = find_directory(search, mapping->path);
		if (directory && extends(directory->versions[kind], version))
			memcpy(version, directory->versions[kind], PS_VERSION_SIZE);
	}
	return 0;
}

void ps_wheels__complete(struct ps_wheels *wheels, pid_t pid, struct ps_libraries *libraries)
{
	struct search search = {.wheels = wheels, .pid = pid, .libraries = libraries};
	bool incomplete = false;

	for (int kind = 0; kind < PS_LIBRARY_KINDS; kind++) {
		const struct ps_library *library = &libraries->list[kind];

		incomplete |= wheel_names[kind] && library->version[0] && !library->inside &&
			      !strchr(library->version, '.');
	}
	if (incomplete)
		proc_maps__each(pid, look_at, &search);
}
