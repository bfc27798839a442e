// SPDX-License-Identifier: BSD-2-Clause
// Python's objects and perf-PID.map with any contents: random memory of this process, with pointers
// into itself, and code objects with some words changed. Seeds are fixed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "growth_of_time.h"
#include "python_walk.h"
#include "symbol/perf_map.h"
#include "symbol/python_code.h"
#include "symbol/python_layout.h"
#include "symbol/python_text.h"

#define WORDS 1024 /* of memory; nothing follows it */

static uint64_t *memory;
static uint64_t state_of_random = 1;

/* xorshift64 */
static uint64_t next_random(void)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return state_of_random;
}

static uint64_t below(uint64_t limit)
{
	return next_random() % limit;
}

static uint64_t somewhere(void)
{
	return (uintptr_t)(memory + below(WORDS));
}

/*
 * A word as memory might have it: a pointer, a small number, a str's state, characters, anything.
 */
static uint64_t word(void)
{
	static const uint32_t states[] = {0x64, 0x24, 0x28, 0x30, 0x60, 0xe4};

	switch (below(8)) {
	case 0:
	case 1: return somewhere();
	case 2: return below(64);
	case 3: return below(1 << 17);
	case 4: return states[below(6)];
	case 5: return 0x6867666564636261ull + below(1000);
	case 6: return 0;
	default: return next_random();
	}
}

static int make_memory(void **state)
{
	size_t size = WORDS * sizeof(*memory);
	char *pages =
		mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	mprotect(pages + size, 4096, PROT_NONE);
	memory = (uint64_t *)pages;
	return 0;
}

static void scramble(void)
{
	for (size_t i = 0; i < WORDS; i++)
		memory[i] = word();
}

/* Offsets of a version whose types are in the memory. */
static struct python_offsets offsets_of(unsigned int minor)
{
	struct python_offsets offsets = *python_offsets__of(minor);

	offsets.target.code_type = somewhere();
	offsets.text_type = somewhere();
	offsets.frame_type = somewhere();
	return offsets;
}

static bool is_utf8(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at) {
		size_t more = *at < 0x80 ?
				      0 :
				      (*at >= 0xc2 && *at < 0xe0 ?
					       1 :
					       ((*at & 0xf0) == 0xe0 ? 2 : (*at < 0xf5 ? 3 : 9)));

		if (more == 9 || (*at >= 0x80 && *at < 0xc0))
			return false;
		if (*at == 0xed && at[1] >= 0xa0) /* half of a surrogate pair */
			return false;
		for (at++; more; more--, at++) {
			if ((*at & 0xc0) != 0x80)
				return false;
		}
	}
	return true;
}

/*
 * A str at a random address, mostly with its type. Some must be readable, or the test would test
 * nothing.
 */
static void texts(void **state)
{
	size_t read = 0;

	(void)state;
	scramble();
	for (int round = 0; round < 100000; round++) {
		struct python_offsets offsets = offsets_of(8 + (unsigned int)round % 7);
		uint64_t address = somewhere() + (round % 16 ? 0 : below(8));
		char *text;

		memory[below(WORDS)] = word();
		if (round % 4 && address + 16 <= (uintptr_t)(memory + WORDS))
			memcpy((char *)(uintptr_t)address + PYTHON_OB_TYPE, &offsets.text_type, 8);
		text = python_text__read(NULL, getpid(), &offsets, address);
		if (!text)
			continue;
		read++;
		assert_memory_equal((char *)(uintptr_t)address + PYTHON_OB_TYPE, &offsets.text_type,
				    8);
		assert_true(strlen(text) <= 4 * PYTHON_TEXT_MAX);
		assert_true(is_utf8(text));
		free(text);
	}
	assert_true(read > 100);
}

static uint64_t *put_object(size_t at, uint64_t type)
{
	memory[at] = 1 + below(3);
	memory[at + 1] = type;
	return memory + at;
}

static void put_text(size_t at, const struct python_offsets *offsets)
{
	uint64_t *object = put_object(at, offsets->text_type);

	object[2] = 1 + below(20);
	object[3] = next_random();
	object[4] = 0x64;
	memset((char *)object + offsets->text_ascii, 'a', 24);
}

/* A code object at word 0, followed by its texts and its table. */
static void put_code(const struct python_offsets *offsets)
{
	uint64_t *code = put_object(0, offsets->target.code_type),
		 *table = put_object(96, somewhere());
	const uint64_t pointers[] = {(uintptr_t)(memory + 32), (uintptr_t)(memory + 64),
				     (uintptr_t)table};
	uint16_t name = offsets->code_qualname ? offsets->code_qualname : offsets->code_name;

	put_text(32, offsets);
	put_text(64, offsets);
	table[2] = below(40);
	code[offsets->code_file / 8] = pointers[0];
	code[name / 8] = pointers[1];
	code[offsets->code_table / 8] = pointers[2];
}

/* The frame as the BPF program would report it. */
static bool make_frame(const struct python_offsets *offsets, uint64_t code,
		       struct python_frame *frame)
{
	struct python_scratch scratch = {0};
	struct python_walk walk = {
		.scratch = &scratch, .target = &offsets->target, .frames = frame};

	memset(frame, 0, sizeof(*frame));
	if (find_checksum(&walk, code))
		return false;
	put_frame(&walk, code, (u32)next_random());
	return true;
}

/* A frame with a name has a printable one, and a line or none. */
static bool look(struct python_codes *codes, const struct python_offsets *offsets,
		 const struct python_frame *frame)
{
	const struct python_code *code = python_codes__find(codes, 1, getpid(), offsets, frame);

	if (!code)
		return false;
	assert_true(is_utf8(code->function) && strlen(code->function) <= 4 * PYTHON_TEXT_MAX);
	assert_true(is_utf8(code->file) && strlen(code->file) <= 4 * PYTHON_TEXT_MAX);
	assert_true(code->table_size <= PYTHON_TABLE_MAX);
	python_code__line(code, frame);
	return true;
}

static void code_objects(void **state)
{
	struct python_codes *codes = python_codes__new(1 << 16, NULL);
	size_t named = 0, rounds = 40000;

	(void)state;
	walked_pid = getpid();
	scramble();
	for (size_t round = 0; round < rounds; round++) {
		struct python_offsets offsets = offsets_of(8 + (unsigned int)round % 7);
		struct python_frame frame;

		put_code(&offsets);
		for (uint64_t changes = below(4); changes; changes--)
			memory[below(112)] = word();
		if (!make_frame(&offsets, (uintptr_t)memory, &frame))
			frame = (struct python_frame){.code = somewhere(),
						      .checksum = (u32)next_random()};
		/* Changed after BPF has read it. */
		if (round % 4 == 0)
			memory[below(112)] ^= 1ull << below(64);
		named += look(codes, &offsets, &frame);
		python_codes__prune(codes);
	}
	python_codes__free(codes);
	assert_in_range(named, rounds / 10, rounds - rounds / 10);
}

/* Frames anywhere, offsets of any kind: the walk ends, and reports no more than it may. */
static void walks(void **state)
{
	(void)state;
	walked_pid = getpid();
	scramble();
	for (int round = 0; round < 30000; round++) {
		struct python_offsets offsets = offsets_of(8 + (unsigned int)round % 7);
		struct python_frame frames[PYTHON_FRAMES_MAX + 2];
		struct python_scratch scratch = {0};
		u32 count, max = 1 + (u32)below(PYTHON_FRAMES_MAX);
		uint64_t frame = somewhere();

		put_code(&offsets);
		for (int i = 0; i < 4; i++)
			((uint8_t *)&offsets.target)[16 + below(sizeof(offsets.target) - 16)] ^=
				(uint8_t)(round % 3 ? 0 : next_random());
		walked_fsbase = somewhere();
		offsets.target.key_address = (uintptr_t)(memory + 200);
		memory[200] = below(4);
		for (int i = 0; i < 200; i++)
			memory[300 + below(WORDS - 300)] = i % 2 ? (uintptr_t)memory : frame;
		memset(&frames[PYTHON_FRAMES_MAX + 1], 0x5a, sizeof(frames[0]));
		count = walk_python(&(struct memory_of){}, &offsets.target, &scratch, frames, max,
				    next_random());
		assert_true(count <= max + 1);
		assert_int_equal(frames[PYTHON_FRAMES_MAX + 1].checksum, 0x5a5a5a5a);
	}
}

static void layouts(void **state)
{
	(void)state;
	scramble();
	for (int round = 0; round < 50000; round++) {
		struct python_offsets offsets = offsets_of(8 + (unsigned int)round % 7);
		struct error err = {0};
		int ret;

		memory[below(WORDS)] = word();
		if (round % 2) {
			memcpy(memory, "xdebugpy", 8);
			memory[1] = 0x03000000u | (uint64_t)offsets.minor << 16;
			memory[2] = 0;
		}
		ret = python_layout__check(NULL, getpid(), (uintptr_t)memory, &offsets, &err);
		assert_true(ret < 0 && err.text[0]); /* no type here is called "code" */
	}
}

/* 3.14 has flags above the reference count; in other versions such a word is not an object's. */
static void flags_of_objects(void **state)
{
	(void)state;
	walked_pid = getpid();
	for (unsigned int minor = 12; minor <= 14; minor++) {
		struct python_codes *codes = python_codes__new(1 << 16, NULL);
		struct python_offsets offsets = offsets_of(minor);
		struct python_frame frame;

		scramble();
		put_code(&offsets);
		memory[32] = memory[64] = 0x0001000000000000ull | 3ull << 30;
		assert_true(make_frame(&offsets, (uintptr_t)memory, &frame));
		assert_int_equal(look(codes, &offsets, &frame), minor == 14);
		python_codes__free(codes);
	}
}

static void write_map(const char *path)
{
	static const char *const pieces[] = {"7f00 10 f\n",
					     "7f08",
					     " ",
					     "\n",
					     "ffffffffffffffff",
					     "0",
					     " 0x20 ",
					     "name",
					     "-1",
					     "\303\266",
					     "1000 fffffffffffffff0 wide\n",
					     "zz",
					     "\t",
					     "7f04 2 inner\n"};
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	for (uint64_t i = below(60); i; i--)
		fputs(pieces[below(sizeof(pieces) / sizeof(*pieces))], out);
	fclose(out);
}

static void perf_maps(void **state)
{
	size_t found = 0;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path); /* of another process that had this pid */
	for (int round = 0; round < 3000; round++) {
		struct perf_map *map;

		write_map(path);
		map = perf_map__read(getpid());
		assert_non_null(map);
		for (int i = 0; i < 20; i++) {
			uint64_t address = i % 2 ? 0x7f00 + below(32) : next_random(), offset = 0;
			const char *name = perf_map__find(map, address, &offset);

			assert_true(!name || (*name && offset <= address && !strchr(name, '\n')));
			found += name != NULL;
			if (name && (!strcmp(name, "f") || !strcmp(name, "inner")))
				assert_true(offset < (*name == 'f' ? 0x10 : 2));
		}
		perf_map__free(map);
	}
	unlink(path);
	assert_true(found > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(code_objects),
		cmocka_unit_test(walks),
		cmocka_unit_test(layouts),
		cmocka_unit_test(flags_of_objects),
		cmocka_unit_test(perf_maps),
	};

	end_after_running_s(60);
	return cmocka_run_group_tests_name("python_fuzz", tests, make_memory, NULL);
}
