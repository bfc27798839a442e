/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fuzz targets have in common. The readers of gpuprobe ask the system
 * themselves for files, mappings and memory: here they are given the input's
 * in place of it (the linker's --wrap, see fuzz.mk), as long as a target has
 * set them.
 */
#ifndef FUZZ_HARNESS_H
#define FUZZ_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The input, which is taken piece by piece from its beginning; zeros once it has ended. */
struct input {
	const uint8_t *at;
	size_t left;
};

uint64_t input__number(struct input *input, size_t bytes);

/* The next `size` bytes as far as there are any, in *bytes; returns how many. */
size_t input__bytes(struct input *input, size_t size, const uint8_t **bytes);

/* A string, up to a NUL or the input's end, malloc'd. Never NULL. */
char *input__string(struct input *input);

/* All that is left as a string, malloc'd. Never NULL. */
char *input__rest(struct input *input);

/* A copy that ends where its memory ends, so that whatever reads on is found; malloc. Never NULL. */
void *harness__exactly(const void *data, size_t size);

/* A file in memory with these bytes. */
int harness__file(const void *data, size_t size);

/*
 * The file that is read in place of every path that begins with `path`, until it is called anew; NULL data:
 * it cannot be opened. Without a path nothing stands in for files any more.
 */
void harness__set_file(const char *path, const void *data, size_t size);

/* One more: of several the first holds whose `path` fits, in the order in which they were given. At most 8. */
void harness__add_file(const char *path, const void *data, size_t size);

/* What every link that stands in leads to. NULL, as after harness__set_file: the file's own contents. */
void harness__set_link(const char *text);

/* The folder that is opened in place of every path that begins with `path`, as with harness__add_file. */
void harness__add_folder(const char *path, int fd);

/* What is read of the mappings of any process; NULL: its own. */
void harness__set_maps(const char *text);

/* What process_memory__read reads, from `address` on; NULL: the process's own. */
void harness__set_memory(uint64_t address, const void *data, size_t size);

/* Ends the program with a message unless `condition` holds: something that must never be. */
#define MUST(condition) ((condition) ? (void)0 : harness__fail(#condition, __FILE__, __LINE__))
_Noreturn void harness__fail(const char *condition, const char *file, int line);

/* Writes to nowhere; stays open. */
struct _IO_FILE *harness__sink(void);

/* libFuzzer's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
