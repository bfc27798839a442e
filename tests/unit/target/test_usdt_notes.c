// SPDX-License-Identifier: BSD-2-Clause
// Static probe points of this very program, and of damaged copies of it.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../../sim/c10/probe.h"
#include "target/usdt_notes.h"

#define MARK 0x1234

extern volatile unsigned short test_semaphore;
extern long test_variable;

__attribute__((visibility("hidden"))) SIM_SEMAPHORE(test_semaphore) = MARK;
__attribute__((visibility("hidden"))) long test_variable = 7;

static __attribute__((noinline)) void pass(long a)
{
	__asm__ volatile(SIM_PROBE(unit, first, test_semaphore, "-8@%%rdi 8@test_variable(%%rip)")
			 :
			 : "D"(a), "m"(test_variable));
	__asm__ volatile(SIM_PROBE(unit, second, 0, "4@$5") : : "D"(a));
	__asm__ volatile(SIM_PROBE(unit, third, 0, "4@$5 8@%%xmm0") : : "D"(a));
}

struct found {
	struct usdt_point points[8]; /* texts are copied */
	char texts[8][3][64];
	size_t count;
};

static int keep(const struct usdt_point *point, void *arg)
{
	struct found *found = arg;
	const char *const texts[] = {point->provider, point->name, point->operands};

	if (strcmp(point->provider, "unit"))
		return 0;
	assert_true(found->count < 8);
	for (int i = 0; i < 3; i++)
		snprintf(found->texts[found->count][i], sizeof(found->texts[0][0]), "%s", texts[i]);
	found->points[found->count++] = *point;
	return 0;
}

static struct elf_file *open_self(void)
{
	struct elf_file *file;
	struct error err;

	assert_int_equal(elf_file__open("/proc/self/exe", &file, &err), 0);
	return file;
}

static void finds_points(void **state)
{
	struct elf_file *file = open_self();
	struct found found = {.count = 0};
	unsigned short semaphore;
	unsigned char code;

	(void)state;
	pass(1);
	assert_int_equal(usdt_notes__each(file, keep, &found), 0);
	assert_int_equal(found.count, 3);
	assert_string_equal(found.texts[0][1], "first");
	assert_string_equal(found.texts[1][1], "second");
	assert_string_equal(found.texts[1][2], "4@$5");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(elf_file__read(file, found.points[i].file_offset, &code, 1), 1);
		assert_int_equal(code, 0x90); /* nop */
	}
	assert_int_equal(elf_file__read(file, found.points[0].semaphore, &semaphore, 2), 2);
	assert_int_equal(semaphore, MARK);
	assert_int_equal(found.points[1].semaphore, 0);
	elf_file__free(file);
}

static void finds_operands(void **state)
{
	struct elf_file *file = open_self();
	struct found found = {.count = 0};
	struct probe_operand operands[4];
	uint64_t address;

	(void)state;
	assert_int_equal(usdt_notes__each(file, keep, &found), 0);
	found.points[0].operands = found.texts[0][2];
	assert_int_equal(usdt_notes__operands(file, &found.points[0], operands, 4), 2);
	assert_int_equal(operands[0].base, OPERAND_DI);
	assert_int_equal(operands[1].base, OPERAND_IP);
	assert_int_equal(elf_file__find_object(file, "test_variable", &address), 0);
	assert_int_equal(found.points[0].address + (uint64_t)operands[1].value, address);
	assert_int_equal(operands[2].kind, OPERAND_NONE);
	/* Only those that are asked for must be understood. */
	found.points[2].operands = found.texts[2][2];
	assert_int_equal(usdt_notes__operands(file, &found.points[2], operands, 1), 1);
	assert_int_equal(usdt_notes__operands(file, &found.points[2], operands, 2), -EBADMSG);
	elf_file__free(file);
}

/* A copy of this program whose notes `change` has changed. */
static struct elf_file *open_changed(void (*change)(char *notes, size_t size))
{
	struct elf_file *file = open_self();
	struct elf_section section;
	struct stat status = *elf_file__stat(file);
	char *bytes = malloc((size_t)status.st_size);
	int fd = memfd_create("changed", 0);
	struct error err;

	assert_non_null(bytes);
	assert_true(elf_file__find_contents(file, ".note.stapsdt", &section));
	assert_int_equal(elf_file__read(file, 0, bytes, (size_t)status.st_size), status.st_size);
	change(bytes + section.offset, section.size);
	assert_int_equal(write(fd, bytes, (size_t)status.st_size), status.st_size);
	free(bytes);
	elf_file__free(file);
	assert_int_equal(elf_file__open_fd(fd, "changed", &file, &err), 0);
	return file;
}

/* Description of the first note: behind its header and its owner's name. */
#define FIRST 20

/* As if the program had been linked 16 bytes lower, and prelinked since. */
static void move_base(char *notes, size_t size)
{
	uint64_t numbers[3];

	assert_true(size > FIRST + sizeof(numbers));
	memcpy(numbers, notes + FIRST, sizeof(numbers));
	for (int i = 0; i < 3; i++)
		numbers[i] -= 16;
	memcpy(notes + FIRST, numbers, sizeof(numbers));
}

static void follows_the_base(void **state)
{
	struct elf_file *self = open_self(), *moved = open_changed(move_base);
	struct found here = {.count = 0}, there = {.count = 0};

	(void)state;
	assert_int_equal(usdt_notes__each(self, keep, &here), 0);
	assert_int_equal(usdt_notes__each(moved, keep, &there), 0);
	assert_int_equal(there.count, here.count);
	assert_int_equal(there.points[0].address, here.points[0].address);
	assert_int_equal(there.points[0].semaphore, here.points[0].semaphore);
	elf_file__free(self);
	elf_file__free(moved);
}

static void lengthen(char *notes, size_t size)
{
	(void)size;
	memset(notes + 4, 0xff, 4); /* of the description */
}

static void lead_nowhere(char *notes, size_t size)
{
	(void)size;
	memset(notes + FIRST, 0x7f, 8);
}

static void lose_semaphore(char *notes, size_t size)
{
	(void)size;
	memset(notes + FIRST + 16, 0x7f, 8);
}

static void lose_zeros(char *notes, size_t size)
{
	uint32_t length;

	(void)size;
	memcpy(&length, notes + 4, sizeof(length));
	memset(notes + FIRST + 24, 'x', length - 24);
}

static void skips_damaged_notes(void **state)
{
	static const struct {
		void (*change)(char *notes, size_t size);
		size_t left;
	} cases[] = {{lengthen, 0}, {lead_nowhere, 2}, {lose_semaphore, 2}, {lose_zeros, 2}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct elf_file *file = open_changed(cases[i].change);
		struct found found = {.count = 0};

		assert_int_equal(usdt_notes__each(file, keep, &found), 0);
		assert_int_equal(found.count, cases[i].left);
		elf_file__free(file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_points),
		cmocka_unit_test(finds_operands),
		cmocka_unit_test(follows_the_base),
		cmocka_unit_test(skips_damaged_notes),
	};

	return cmocka_run_group_tests_name("usdt_notes", tests, NULL, NULL);
}
