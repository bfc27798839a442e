/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that the fuzz targets share. gpuprobe's readers get files, mappings and memory from the
 * system. While a target has set them, the readers get the input's instead (the linker's --wrap,
 * see fuzz.mk).
 */
#ifndef FUZZ_HARNESS_H
#define FUZZ_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The input, read piece by piece from its start; zeros after its end. */
struct input {
	const uint8_t *at;
	size_t left;
};

uint64_t input__number(struct input *input, size_t bytes);

/* Points *bytes at the next `size` bytes, or as many as are left; returns how many. */
size_t input__bytes(struct input *input, size_t size, const uint8_t **bytes);

/* A string, up to a NUL or the input's end, malloc'd. Never NULL. */
char *input__string(struct input *input);

/* The rest of the input as a string, malloc'd. Never NULL. */
char *input__rest(struct input *input);

/*
 * A copy whose memory ends where the data end, so that reads beyond are caught; malloc'd. Never
 * NULL.
 */
void *harness__exactly(const void *data, size_t size);

/* A file in memory that contains these bytes. */
int harness__file(const void *data, size_t size);

/*
 * Replaces every file whose path begins with `path`, until the next call; NULL data: such a file
 * cannot be opened. With a NULL path no file is replaced any more.
 */
void harness__set_file(const char *path, const void *data, size_t size);

/* Adds another replaced file: the first one given whose `path` matches is used. At most 8. */
void harness__add_file(const char *path, const void *data, size_t size);

/* Target of every replaced link. NULL, as after harness__set_file: the file's own contents. */
void harness__set_link(const char *text);

/*
 * Folder that is opened in place of every path that begins with `path`, as with harness__add_file.
 */
void harness__add_folder(const char *path, int fd);

/* Text that is read as the mappings of any process; NULL: the process's real ones. */
void harness__set_maps(const char *text);

/* Memory that process_memory__read reads, from `address` on; NULL: the process's real memory. */
void harness__set_memory(uint64_t address, const void *data, size_t size);

/* Ends the program with a message if `condition`, which must always hold, does not. */
#define MUST(condition) ((condition) ? (void)0 : harness__fail(#condition, __FILE__, __LINE__))
_Noreturn void harness__fail(const char *condition, const char *file, int line);

/* A stream that discards its output; stays open. */
struct _IO_FILE *harness__sink(void);

/* Called by libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
