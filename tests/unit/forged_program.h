/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of the test's own program, whose frame information a test changes. Include after cmocka.h.
 */
#ifndef TESTS_FORGED_PROGRAM_H
#define TESTS_FORGED_PROGRAM_H

#include <elf.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/frame_info.h"

/* A file with changed frame information, mapped as code. */
struct forged {
	char path[32];
	uint8_t *bytes, *mapped;
	size_t size;
	uint64_t frames, frames_size; /* .eh_frame, and .eh_frame_hdr before it */
};

static inline struct forged copy_program(void)
{
	struct forged forged = {.path = "/tmp/test_forged.XXXXXX"};
	FILE *in = fopen("/proc/self/exe", "r");
	const Elf64_Shdr *sections;
	const Elf64_Ehdr *header;
	const char *names;
	struct stat stat;

	assert_non_null(in);
	fstat(fileno(in), &stat);
	forged.size = (size_t)stat.st_size;
	forged.bytes = malloc(forged.size);
	assert_int_equal(fread(forged.bytes, 1, forged.size, in), forged.size);
	fclose(in);
	header = (const Elf64_Ehdr *)forged.bytes;
	sections = (const Elf64_Shdr *)(forged.bytes + header->e_shoff);
	names = (const char *)forged.bytes + sections[header->e_shstrndx].sh_offset;
	for (int i = 0; i < header->e_shnum; i++) {
		if (strcmp(names + sections[i].sh_name, ".eh_frame_hdr") == 0)
			forged.frames = sections[i].sh_offset;
		if (strcmp(names + sections[i].sh_name, ".eh_frame") == 0)
			forged.frames_size =
				sections[i].sh_offset + sections[i].sh_size - forged.frames;
	}
	assert_true(forged.frames && forged.frames_size);
	return forged;
}

static inline void write_forged(struct forged *forged)
{
	int fd = mkstemp(forged->path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, forged->bytes, forged->size), forged->size);
	forged->mapped = mmap(NULL, forged->size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(forged->mapped != MAP_FAILED);
	close(fd);
}

static inline void drop_forged(struct forged *forged)
{
	munmap(forged->mapped, forged->size);
	unlink(forged->path);
	strcpy(forged->path, "/tmp/test_forged.XXXXXX");
}

static inline bool is_believed(const struct forged *forged)
{
	int fd = open(forged->path, O_RDONLY);
	uint64_t size;
	struct Elf *elf = frame_info__open(fd, &size);

	elf_end(elf);
	close(fd);
	return elf;
}

#endif
