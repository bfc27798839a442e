// SPDX-License-Identifier: BSD-2-Clause
// /proc/PID/maps, see proc_maps.h.
#include "target/proc_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "target/root_file.h"

#define MAPPINGS_MAX 1000000
#define DELETED " (deleted)"

/* Reads a number that ends with `end` (' ' also takes the line's end); NULL if it is not there. */
static char *parse_number(char *s, int base, char end, uint64_t *value)
{
	char *rest;

	if (*s == '-' || *s == '+' || *s == ' ')
		return NULL;
	errno = 0;
	*value = strtoull(s, &rest, base);
	if (rest == s || errno)
		return NULL;
	if (*rest == end)
		return rest + 1;
	return end == ' ' && *rest == '\0' ? rest : NULL;
}

/* The kernel writes a newline in a name as \012, and nothing else so. */
static void unescape(char *path)
{
	char *to = path;

	while (*path) {
		if (strncmp(path, "\\012", 4) == 0) {
			*to++ = '\n';
			path += 4;
		} else {
			*to++ = *path++;
		}
	}
	*to = '\0';
}

/* "START-END PERMS OFFSET MAJOR:MINOR INODE   PATH" */
static bool parse_line(char *line, struct mapping *mapping)
{
	uint64_t major_number, minor_number;
	char *at = line;
	size_t length;

	line[strcspn(line, "\n")] = '\0';
	if (!(at = parse_number(at, 16, '-', &mapping->start)) ||
	    !(at = parse_number(at, 16, ' ', &mapping->end)))
		return false;
	if (strnlen(at, 5) < 5 || at[4] != ' ')
		return false;
	mapping->executable = at[2] == 'x';
	at += 5;
	if (!(at = parse_number(at, 16, ' ', &mapping->file_offset)) ||
	    !(at = parse_number(at, 16, ':', &major_number)) ||
	    !(at = parse_number(at, 16, ' ', &minor_number)) ||
	    !(at = parse_number(at, 10, ' ', &mapping->inode)))
		return false;
	mapping->device = makedev((unsigned int)major_number, (unsigned int)minor_number);
	at += strspn(at, " ");
	unescape(at);
	length = strlen(at);
	mapping->deleted = length > strlen(DELETED) &&
			   strcmp(at + length - strlen(DELETED), DELETED) == 0;
	if (mapping->deleted)
		at[length - strlen(DELETED)] = '\0';
	mapping->path = at;
	return mapping->start < mapping->end;
}

int proc_maps__each_line(char *line, mapping_fn fn, void *arg)
{
	int ret = 0;

	while (!ret && line && *line) {
		char *next = strchr(line, '\n');
		struct mapping mapping;

		if (next)
			*next++ = '\0';
		if (parse_line(line, &mapping))
			ret = fn(&mapping, arg);
		line = next;
	}
	return ret;
}

int proc_maps__each(pid_t pid, mapping_fn fn, void *arg)
{
	char path[64], *line = NULL;
	size_t size = 0, count = 0;
	int ret = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	in = fopen(path, "re");
	if (!in)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	while (!ret && getline(&line, &size, in) >= 0) {
		ret = count++ < MAPPINGS_MAX ? proc_maps__each_line(line, fn, arg) : -E2BIG;
		errno = 0;
	}
	if (!ret && errno)
		ret = -errno;
	free(line);
	fclose(in);
	return ret;
}

bool mapping__is_file(const struct mapping *mapping)
{
	return mapping->inode != 0 && mapping->path[0] == '/';
}

char *mapping__map_files_path(const struct mapping *mapping, pid_t pid)
{
	char *path;

	return asprintf(&path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, mapping->start,
			mapping->end) < 0 ?
		       NULL :
		       path;
}

/* The link in map_files leads to the very file; the path may lead to its successor. */
int mapping__open(const struct mapping *mapping, pid_t pid)
{
	char *path = mapping__map_files_path(mapping, pid);
	int fd = path ? root_file__open_link(pid, path) : -ENOMEM;

	free(path);
	if (fd < 0 && !mapping->deleted)
		fd = root_file__open(pid, mapping->path);
	return fd;
}
