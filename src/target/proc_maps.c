// SPDX-License-Identifier: BSD-2-Clause
// Reads /proc/PID/maps; see proc_maps.h.
#include "target/proc_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "target/proc.h"
#include "target/root_file.h"

/*
 * The kernel generates the text during the read, at 10 to 25 ns per byte, and prints paths of any
 * length. A process with the kernel's default limit of 65,530 mappings and paths of 100 bytes has
 * 12 MB.
 */
#define TEXT_MAX (16 << 20)
#define DELETED " (deleted)"
#define MEMFD "/memfd:"
/* The text before and after the path, and a path of newlines, which take four characters each. */
#define LINE_MAX_SIZE (4 * PATH_MAX + 128)

/* Reads a number that ends with `end` (' ' also matches the line's end); NULL if there is none. */
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

/* The kernel writes a newline in a name as \012, and escapes nothing else. */
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

/* Parses "START-END PERMS OFFSET MAJOR:MINOR INODE   PATH". */
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
	mapping->is_local = false;
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
	mapping->deleted =
		length > strlen(DELETED) && strcmp(at + length - strlen(DELETED), DELETED) == 0;
	if (mapping->deleted)
		at[length -= strlen(DELETED)] = '\0';
	mapping->path_too_long = length >= PATH_MAX;
	mapping->path = mapping->path_too_long ? "" : at;
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

/*
 * The text while it is read: whole lines are passed on, and the start of an incomplete one stays.
 */
struct text {
	char bytes[LINE_MAX_SIZE + 1];
	size_t used, taken; /* bytes in the buffer; bytes read so far */
	bool in_long_line;  /* its mapping has been passed on */
};

/*
 * The rest of a line that does not fit is dropped: its path is longer than any that is passed on.
 */
static int take_long_line(struct text *text, mapping_fn fn, void *arg)
{
	int ret = 0;

	if (!text->in_long_line)
		ret = proc_maps__each_line(text->bytes, fn, arg);
	text->in_long_line = true;
	text->used = 0;
	return ret;
}

static int take_lines(struct text *text, mapping_fn fn, void *arg)
{
	char *line = text->bytes, *last = text->bytes + text->used, *end;
	int ret = 0;

	while (!ret && (end = memchr(line, '\n', (size_t)(last - line)))) {
		*end = '\0';
		if (!text->in_long_line)
			ret = proc_maps__each_line(line, fn, arg);
		text->in_long_line = false;
		line = end + 1;
	}
	if (ret)
		return ret;
	text->used = (size_t)(last - line);
	memmove(text->bytes, line, text->used);
	text->bytes[text->used] = '\0';
	return text->used < LINE_MAX_SIZE ? 0 : take_long_line(text, fn, arg);
}

/* Returns 1 if there is more, 0 at the end. */
static int read_more(struct text *text, int fd)
{
	ssize_t n;

	if (text->taken >= TEXT_MAX)
		return -EFBIG;
	n = read(fd, text->bytes + text->used, LINE_MAX_SIZE - text->used);
	if (n < 0)
		return -errno;
	text->used += (size_t)n;
	text->taken += (size_t)n;
	return n > 0;
}

int proc_maps__each(pid_t pid, mapping_fn fn, void *arg)
{
	struct text text;
	char path[64];
	int fd, ret;

	proc__path(pid, "maps", path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	text.used = text.taken = 0;
	text.in_long_line = false;
	do {
		ret = read_more(&text, fd);
		if (ret <= 0)
			break;
		ret = take_lines(&text, fn, arg);
	} while (!ret);
	close(fd);
	return ret;
}

bool mapping__is_file(const struct mapping *mapping)
{
	return mapping->inode != 0 && mapping->path[0] == '/';
}

const char *mapping__base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return NULL;
	return strncmp(slash, MEMFD, strlen(MEMFD)) ? slash + 1 : slash + strlen(MEMFD);
}

bool mapping__is_named_like_cuda(const char *path)
{
	const char *base = mapping__base_name(path);

	return base && !strncmp(base, "libcuda", 7);
}

char *mapping__map_files_path(const struct mapping *mapping, pid_t pid)
{
	char *path;

	return asprintf(&path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
			(int)proc__living_thread(pid), mapping->start, mapping->end) < 0 ?
		       NULL :
		       path;
}

/* The link in map_files leads to the exact file; the path may lead to a newer one. */
int mapping__open(const struct mapping *mapping, pid_t pid)
{
	char *path = mapping__map_files_path(mapping, pid);
	int fd = path ? root_file__open_link(pid, path) : -ENOMEM;

	if (fd == -EREMOTE && mapping->is_local)
		fd = regular_file__open(path);
	free(path);
	if (fd < 0 && !mapping->deleted)
		fd = root_file__open(pid, mapping->path);
	return fd;
}
