// SPDX-License-Identifier: BSD-2-Clause
// perf-PID.map; see perf_map.h.
#include "symbol/perf_map.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/root_file.h"

#define BYTES_MAX (32u << 20)
#define FUNCTIONS_MAX (1u << 20)
#define NAME_LENGTH_MAX 1023

struct function {
	uint64_t start, size;
	uint32_t line; /* its number; a later line wins */
	uint32_t name; /* offset in the text */
};

struct perf_map {
	char *text;
	size_t length;		    /* of the text */
	size_t text_bytes;	    /* bytes allocated for it */
	struct function *functions; /* by start */
	size_t count, capacity;
};

/* Reads "NSpid:" and "Uid:": the innermost pid and the effective user. */
static int read_status(pid_t pid, pid_t *inner, uid_t *user)
{
	char path[64], line[512];
	bool has_pid = false, has_user = false;
	unsigned int effective;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	in = fopen(path, "re");
	if (!in)
		return -ESRCH;
	while (fgets(line, sizeof(line), in)) {
		if (strncmp(line, "NSpid:", 6) == 0) {
			line[strcspn(line, "\n")] = '\0';
			*inner = atoi(strrchr(line, '\t') ? strrchr(line, '\t') : line + 6);
			has_pid = *inner > 0;
		} else if (sscanf(line, "Uid: %*u %u", &effective) == 1) {
			*user = effective;
			has_user = true;
		}
	}
	fclose(in);
	return has_pid && has_user ? 0 : -ESRCH;
}

static int open_map(pid_t pid)
{
	struct stat stat;
	char path[64];
	pid_t inner = 0;
	uid_t user = 0;
	int fd;

	if (read_status(pid, &inner, &user))
		return -ESRCH;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)inner);
	fd = root_file__open(pid, path);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &stat) && stat.st_uid == user)
		return fd;
	close(fd);
	return -EPERM;
}

/*
 * Returns the file as a string with its length, and sets *bytes to the memory it takes. NULL if out
 * of memory.
 */
static char *read_text(int fd, size_t *length, size_t *bytes)
{
	size_t size = 0, capacity = 65536;
	char *text = malloc(capacity + 1);
	ssize_t n;

	while (text && size < BYTES_MAX && (n = read(fd, text + size, capacity - size)) > 0) {
		size += (size_t)n;
		if (size == capacity) {
			char *grown = realloc(text, 2 * capacity + 1);

			if (!grown) {
				free(text);
				return NULL;
			}
			capacity *= 2;
			text = grown;
		}
	}
	if (text)
		text[size] = '\0';
	*length = size;
	*bytes = capacity + 1;
	return text;
}

static int add(struct perf_map *map, const struct function *function)
{
	if (map->count == map->capacity) {
		size_t capacity = map->capacity ? map->capacity * 2 : 256;
		struct function *grown;

		if (capacity > FUNCTIONS_MAX)
			return -E2BIG;
		grown = realloc(map->functions, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		map->functions = grown;
		map->capacity = capacity;
	}
	map->functions[map->count++] = *function;
	return 0;
}

/* Ignores a last line without a newline, which is not complete yet. */
static int parse(struct perf_map *map)
{
	char *line = map->text, *stop = map->text + map->length, *end, *rest;
	uint32_t number = 0;
	int ret = 0;

	/*
	 * memchr only reads to the line's end; a sanitizer's strchr would read to the text's end
	 * for each line.
	 */
	for (; !ret && (end = memchr(line, '\n', (size_t)(stop - line))); line = end + 1) {
		struct function function = {.line = number++};

		*end = '\0';
		function.start = strtoull(line, &rest, 16);
		if (rest == line || *rest != ' ')
			continue;
		line = rest + 1;
		function.size = strtoull(line, &rest, 16);
		if (rest == line || *rest != ' ' || !rest[1] || !function.size)
			continue;
		rest++;
		if (strlen(rest) > NAME_LENGTH_MAX)
			rest[NAME_LENGTH_MAX] = '\0';
		function.name = (uint32_t)(rest - map->text);
		ret = add(map, &function);
	}
	return ret == -E2BIG ? 0 : ret;
}

static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

struct perf_map *perf_map__read(pid_t pid)
{
	struct perf_map *map;
	int fd = open_map(pid);

	if (fd < 0)
		return NULL;
	map = calloc(1, sizeof(*map));
	if (map)
		map->text = read_text(fd, &map->length, &map->text_bytes);
	close(fd);
	if (!map || !map->text || parse(map)) {
		perf_map__free(map);
		return NULL;
	}
	if (map->count)
		qsort(map->functions, map->count, sizeof(*map->functions), compare);
	return map;
}

void perf_map__free(struct perf_map *map)
{
	if (!map)
		return;
	free(map->functions);
	free(map->text);
	free(map);
}

size_t perf_map__bytes(const struct perf_map *map)
{
	return map ? map->text_bytes + map->capacity * sizeof(*map->functions) : 0;
}

const char *perf_map__find(const struct perf_map *map, uint64_t address, uint64_t *offset)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - map->functions[low - 1].start >= map->functions[low - 1].size)
		return NULL;
	*offset = address - map->functions[low - 1].start;
	return map->text + map->functions[low - 1].name;
}
