// SPDX-License-Identifier: BSD-2-Clause
// Debug files that can only be identified by their CRC: how much of them is read, in bytes, not in
// seconds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include "fake_clock.h"
#include "symbol/symbol_cache.h"

#define LIBRARIES 20
#define MIB (1ull << 20)
#define AT_ONCE (256 * MIB)
#define DEBUG_NAME "x%d.debug"

static uint64_t bytes_read;

/* In place of libc's. */
ssize_t pread(int fd, void *buffer, size_t size, off_t at)
{
	ssize_t n = syscall(SYS_pread64, fd, buffer, size, at);

	bytes_read += n > 0 ? (uint64_t)n : 0;
	return n;
}

ssize_t pread64(int fd, void *buffer, size_t size, off_t at)
{
	return pread(fd, buffer, size, at);
}

static char folder[] = "/tmp/gpuprobe-link-XXXXXX";

static const char *path_of(const char *form, int i)
{
	static char path[256];
	size_t length = (size_t)snprintf(path, sizeof(path), "%s/", folder);

	snprintf(path + length, sizeof(path) - length, form, i);
	return path;
}

static Elf64_Ehdr elf_header(void)
{
	return (Elf64_Ehdr){
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
}

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[32];
	char link[16];
	uint32_t crc;
};

/* A library without a build id whose debug file has the number `debug`. */
static void make_library(int i, int debug, uint32_t crc)
{
	struct image image = {
		.header = elf_header(),
		.segment = {PT_LOAD, PF_R | PF_X, 0, 0, 0, 8192, 8192, 4096},
		.names = "\0.gnu_debuglink\0.shstrtab",
		.crc = crc,
	};
	int fd = open(path_of("lib%d.so", i), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);

	snprintf(image.link, sizeof(image.link), DEBUG_NAME, debug);
	image.header.e_shoff = offsetof(struct image, sections);
	image.header.e_shnum = 3;
	image.header.e_shstrndx = 2;
	image.sections[1] = (Elf64_Shdr){
		.sh_name = 1,
		.sh_type = SHT_PROGBITS,
		.sh_offset = offsetof(struct image, link),
		.sh_size = strlen(image.link) / 4 * 4 + 4 + sizeof(image.crc),
	};
	memcpy(image.link + strlen(image.link) / 4 * 4 + 4, &crc, sizeof(crc));
	image.sections[2] = (Elf64_Shdr){
		.sh_name = 16,
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct image, names),
		.sh_size = sizeof(image.names),
	};
	assert_true(fd >= 0);
	assert_int_equal(write(fd, &image, sizeof(image)), sizeof(image));
	assert_int_equal(ftruncate(fd, 8192), 0);
	close(fd);
}

/* Sparse; returns its CRC if requested. */
static uint32_t make_debug(int i, uint64_t size, bool with_crc)
{
	const Elf64_Phdr segment = {PT_LOAD, PF_R | PF_X, 0, 0, 0, 0, 8192, 4096};
	const Elf64_Ehdr header = elf_header();
	static uint8_t zeros[1 << 16];
	uint64_t at = sizeof(header) + sizeof(segment);
	int fd = open(path_of(DEBUG_NAME, i), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	uLong crc = crc32(0, NULL, 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
	assert_int_equal(write(fd, &segment, sizeof(segment)), sizeof(segment));
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	close(fd);
	crc = crc32(crc, (const uint8_t *)&header, sizeof(header));
	crc = crc32(crc, (const uint8_t *)&segment, sizeof(segment));
	for (; with_crc && at < size; at += sizeof(zeros))
		crc = crc32(crc, zeros,
			    (uInt)(size - at < sizeof(zeros) ? size - at : sizeof(zeros)));
	return (uint32_t)crc;
}

static struct symbol_file *open_library(struct symbol_cache *cache, int i)
{
	const char *path = path_of("lib%d.so", i);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct symbol_file *file;

	assert_true(fd >= 0);
	assert_int_equal(symbol_cache__open(cache, fd, getpid(), path, &file), 0);
	assert_non_null(file->elf);
	return file;
}

static void name(struct symbol_file *file)
{
	uint64_t offset;
	char *text;

	if (!symbol_file__name(file, 4096, &text, &offset))
		free(text);
}

static void remove_files(void)
{
	for (int i = 0; i < LIBRARIES; i++) {
		unlink(path_of("lib%d.so", i));
		unlink(path_of(DEBUG_NAME, i));
	}
}

/* 20 GiB are requested. */
static void many_large_files(void **state)
{
	struct symbol_cache *cache = symbol_cache__new(400);

	(void)state;
	for (int i = 0; i < LIBRARIES; i++) {
		make_debug(i, 1ull << 30, false);
		make_library(i, i, 1);
	}
	bytes_read = 0;
	for (int i = 0; i < LIBRARIES; i++)
		assert_int_equal(open_library(cache, i)->linked.count, 1);
	/* Nothing needs a name yet. */
	assert_true(bytes_read < MIB);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < LIBRARIES; i++)
			name(open_library(cache, i));
	}
	assert_true(bytes_read >= AT_ONCE - MIB && bytes_read < AT_ONCE + MIB);
	symbol_cache__free(cache);
	remove_files();
}

/* Links of many libraries to one file: it is read once, even if the CRC differs. */
static void one_file_is_read_once(void **state)
{
	struct symbol_cache *cache = symbol_cache__new(400);
	uint32_t crc = make_debug(0, 8 * MIB, true);

	(void)state;
	bytes_read = 0;
	for (int i = 0; i < LIBRARIES; i++) {
		struct symbol_file *file;

		make_library(i, 0, crc + (i & 1));
		file = open_library(cache, i);
		name(file);
		assert_int_equal(file->linked.count, 0);
		assert_int_equal(file->debug != NULL, !(i & 1));
	}
	assert_true(bytes_read >= 8 * MIB && bytes_read < 9 * MIB);
	/* Another file, by its change time. */
	make_debug(0, 8 * MIB, false);
	make_library(0, 0, crc);
	name(open_library(cache, 0));
	assert_true(bytes_read >= 16 * MIB && bytes_read < 17 * MIB);
	symbol_cache__free(cache);
	remove_files();
}

/* Reading stops at the limit and continues later from there. */
static void goes_on_later(void **state)
{
	struct symbol_cache *cache = symbol_cache__new(400);
	const uint64_t size = AT_ONCE + 48 * MIB;
	uint32_t crc = make_debug(0, size, true);
	struct symbol_file *file;

	(void)state;
	make_library(0, 0, crc);
	file = open_library(cache, 0);
	bytes_read = 0;
	for (int i = 0; i < 600 && !file->debug; i++) {
		name(file);
		assert_true(file->debug || file->linked.count);
		pass_ms(50);
	}
	assert_non_null(file->debug);
	assert_true(bytes_read >= size && bytes_read < size + MIB);
	symbol_cache__free(cache);
	remove_files();
}

/* Larger than any limit: not even begun. */
static void too_large(void **state)
{
	struct symbol_cache *cache = symbol_cache__new(400);
	struct symbol_file *file;

	(void)state;
	make_debug(0, (1ull << 30) + 1, false);
	make_library(0, 0, 1);
	file = open_library(cache, 0);
	bytes_read = 0;
	name(file);
	assert_true(bytes_read < MIB && !file->debug && !file->linked.count);
	symbol_cache__free(cache);
	remove_files();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_large_files),
		cmocka_unit_test(one_file_is_read_once),
		cmocka_unit_test(goes_on_later),
		cmocka_unit_test(too_large),
	};
	int ret;

	if (!mkdtemp(folder))
		return 1;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return ret;
}
