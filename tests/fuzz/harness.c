// SPDX-License-Identifier: BSD-2-Clause
// Code that the fuzz targets share, see harness.h.
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/proc_maps.h"
#include "target/process_memory.h"
#include "target/root_file.h"

#define FILES_MAX 8

struct stand_in {
	const char *path; /* prefix of the paths that it replaces */
	const void *data;
	size_t size;
	int folder; /* or -1 */
};

static struct stand_in files[FILES_MAX];
static size_t file_count;
static const char *link_text;

static const char *maps;

static struct {
	uint64_t address;
	const uint8_t *data;
	size_t size;
} memory;

uint64_t input__number(struct input *input, size_t bytes)
{
	uint64_t value = 0;

	if (bytes > input->left)
		bytes = input->left;
	memcpy(&value, input->at, bytes);
	input->at += bytes;
	input->left -= bytes;
	return value;
}

size_t input__bytes(struct input *input, size_t size, const uint8_t **bytes)
{
	if (size > input->left)
		size = input->left;
	*bytes = input->at;
	input->at += size;
	input->left -= size;
	return size;
}

static char *copy(const uint8_t *bytes, size_t length)
{
	char *text = malloc(length + 1);

	MUST(text);
	memcpy(text, bytes, length);
	text[length] = '\0';
	return text;
}

char *input__string(struct input *input)
{
	const uint8_t *end = input->left ? memchr(input->at, '\0', input->left) : NULL, *bytes;
	size_t length = input__bytes(input, end ? (size_t)(end - input->at) : input->left, &bytes);

	if (end)
		input__number(input, 1);
	return copy(bytes, length);
}

char *input__rest(struct input *input)
{
	const uint8_t *bytes;
	size_t length = input__bytes(input, input->left, &bytes);

	return copy(bytes, length);
}

void *harness__exactly(const void *data, size_t size)
{
	void *exact = malloc(size ? size : 1);

	MUST(exact);
	memcpy(exact, data, size);
	return exact;
}

int harness__file(const void *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	MUST(fd >= 0);
	MUST(pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

void harness__set_file(const char *path, const void *data, size_t size)
{
	file_count = 0;
	link_text = NULL;
	if (path)
		harness__add_file(path, data, size);
}

void harness__add_file(const char *path, const void *data, size_t size)
{
	MUST(file_count < FILES_MAX);
	files[file_count++] =
		(struct stand_in){.path = path, .data = data, .size = size, .folder = -1};
}

void harness__set_link(const char *text)
{
	link_text = text;
}

void harness__add_folder(const char *path, int fd)
{
	MUST(file_count < FILES_MAX);
	files[file_count++] = (struct stand_in){.path = path, .folder = fd};
}

void harness__set_maps(const char *text)
{
	maps = text;
}

void harness__set_memory(uint64_t address, const void *data, size_t size)
{
	memory.address = address;
	memory.data = data;
	memory.size = size;
}

void harness__fail(const char *condition, const char *in_file, int line)
{
	fprintf(stderr, "%s:%d: must be: %s\n", in_file, line, condition);
	abort();
}

/* --- in place of the system --- */

static const struct stand_in *stand_in_of(const char *path)
{
	for (size_t i = 0; i < file_count; i++)
		if (strncmp(path, files[i].path, strlen(files[i].path)) == 0)
			return &files[i];
	return NULL;
}

static int open_input(const struct stand_in *file)
{
	if (file->folder >= 0)
		return fcntl(file->folder, F_DUPFD_CLOEXEC, 3);
	return file->data ? harness__file(file->data, file->size) : -ENOENT;
}

static int fail(int error)
{
	errno = -error;
	return -1;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
ssize_t __real_readlink(const char *path, char *buffer, size_t size);
ssize_t __wrap_readlink(const char *path, char *buffer, size_t size);
int __real_root_file__open(pid_t pid, const char *path);
int __wrap_root_file__open(pid_t pid, const char *path);
int __real_root_file__open_link(pid_t pid, const char *link);
int __wrap_root_file__open_link(pid_t pid, const char *link);
int __real_regular_file__open(const char *path);
int __wrap_regular_file__open(const char *path);
int __real_mapping__open(const struct mapping *mapping, pid_t pid);
int __wrap_mapping__open(const struct mapping *mapping, pid_t pid);
int __real_proc_maps__each(pid_t pid, mapping_fn fn, void *arg);
int __wrap_proc_maps__each(pid_t pid, mapping_fn fn, void *arg);
int __real_process_memory__read(pid_t pid, uint64_t address, void *buffer, size_t size);
int __wrap_process_memory__read(pid_t pid, uint64_t address, void *buffer, size_t size);
int __real_process_memory__read_string(pid_t pid, uint64_t address, char *buffer, size_t size);
int __wrap_process_memory__read_string(pid_t pid, uint64_t address, char *buffer, size_t size);

FILE *harness__sink(void)
{
	static FILE *sink;

	if (!sink)
		sink = __real_fopen("/dev/null", "we");
	MUST(sink);
	return sink;
}

int __wrap_open(const char *path, int flags, ...)
{
	const struct stand_in *file = stand_in_of(path);
	mode_t mode = 0;
	va_list args;
	int fd;

	if (!file) {
		va_start(args, flags);
		if (flags & O_CREAT)
			mode = va_arg(args, mode_t);
		va_end(args);
		return __real_open(path, flags, mode);
	}
	fd = open_input(file);
	return fd < 0 ? fail(fd) : fd;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	const struct stand_in *file = stand_in_of(path);
	int fd;

	/*
	 * libFuzzer calls the same function, from inside this program, to write the inputs it has
	 * found.
	 */
	if (!file || *mode != 'r')
		return __real_fopen(path, mode);
	fd = open_input(file);
	if (fd >= 0)
		return fdopen(fd, "r");
	errno = -fd;
	return NULL;
}

DIR *__wrap_opendir(const char *path)
{
	if (!stand_in_of(path))
		return __real_opendir(path);
	errno = ENOENT;
	return NULL;
}

ssize_t __wrap_readlink(const char *path, char *buffer, size_t size)
{
	const struct stand_in *file = stand_in_of(path);
	const void *text;

	if (!file)
		return __real_readlink(path, buffer, size);
	text = link_text ? link_text : file->data;
	if (!text)
		return fail(-ENOENT);
	if (size > (link_text ? strlen(link_text) : file->size))
		size = link_text ? strlen(link_text) : file->size;
	memcpy(buffer, text, size);
	return (ssize_t)size;
}

int __wrap_root_file__open(pid_t pid, const char *path)
{
	const struct stand_in *file = stand_in_of(path);

	return file ? open_input(file) : __real_root_file__open(pid, path);
}

int __wrap_root_file__open_link(pid_t pid, const char *link)
{
	const struct stand_in *file = stand_in_of(link);

	return file ? open_input(file) : __real_root_file__open_link(pid, link);
}

int __wrap_regular_file__open(const char *path)
{
	const struct stand_in *file = stand_in_of(path);

	return file ? open_input(file) : __real_regular_file__open(path);
}

int __wrap_mapping__open(const struct mapping *mapping, pid_t pid)
{
	const struct stand_in *file = stand_in_of(mapping->path);

	return file ? open_input(file) : __real_mapping__open(mapping, pid);
}

int __wrap_proc_maps__each(pid_t pid, mapping_fn fn, void *arg)
{
	char *text;
	int ret;

	if (!maps)
		return __real_proc_maps__each(pid, fn, arg);
	text = strdup(maps);
	MUST(text);
	ret = proc_maps__each_line(text, fn, arg);
	free(text);
	return ret;
}

int __wrap_process_memory__read(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	uint64_t at = address - memory.address;

	if (!memory.data)
		return __real_process_memory__read(pid, address, buffer, size);
	if (at > memory.size || size > memory.size - at)
		return -EFAULT;
	memcpy(buffer, memory.data + at, size);
	return 0;
}

int __wrap_process_memory__read_string(pid_t pid, uint64_t address, char *buffer, size_t size)
{
	uint64_t at = address - memory.address;
	const uint8_t *end;

	if (!memory.data)
		return __real_process_memory__read_string(pid, address, buffer, size);
	if (at >= memory.size)
		return -EFAULT;
	if (size > memory.size - at)
		size = memory.size - at;
	memcpy(buffer, memory.data + at, size);
	end = memchr(buffer, '\0', size);
	return end ? 0 : -ENAMETOOLONG;
}
