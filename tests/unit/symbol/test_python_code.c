// SPDX-License-Identifier: BSD-2-Clause
// Python code objects and strings, read from a process: this one, which plays an interpreter.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/python_code.h"
#include "symbol/python_text.h"

#define WORDS 600

/* Objects of 3.12, each with a reference count word and a type word. */
struct objects {
	uint64_t code[32], name[WORDS], file[WORDS], table[64];
};

static const uint64_t type;

static void put(uint64_t *object, size_t offset, const void *value, size_t size)
{
	memcpy((char *)object + offset, value, size);
}

static void make_text(uint64_t *object, const void *characters, uint64_t count, unsigned int width,
		      bool ascii)
{
	uint32_t text_state = width << 2 | 1 << 5 | (uint32_t)ascii << 6;

	object[0] = 1;
	put(object, PYTHON_TEXT_LENGTH, &count, sizeof(count));
	put(object, PYTHON_TEXT_STATE, &text_state, sizeof(text_state));
	put(object, ascii ? 40 : 56, characters, count * width);
}

static void make(struct objects *o, struct python_offsets *offsets)
{
	/* Bytes 0-1 line 7, 2-5 line 9. */
	static const uint8_t table[] = {0x80 | 10 << 3 | 0, 0, 0, 0x80 | 12 << 3 | 1, 0, 0};
	const void *pointers[] = {o->file, o->name, o->name, o->table};
	int32_t first_line = 7;
	uint64_t size = sizeof(table), at = (uintptr_t)&type;

	memset(o, 0, sizeof(*o));
	*offsets = *python_offsets__of(12);
	offsets->target.code_type = (uintptr_t)&type;
	make_text(o->name, "forward", 7, 1, true);
	make_text(o->file, "/a/model.py", 11, 1, true);
	o->table[0] = o->code[0] = 1;
	put(o->table, PYTHON_BYTES_SIZE, &size, sizeof(size));
	put(o->table, PYTHON_BYTES_DATA, table, sizeof(table));
	put(o->code, PYTHON_OB_TYPE, &at, sizeof(at));
	put(o->code, offsets->code_first_line, &first_line, sizeof(first_line));
	put(o->code, offsets->code_file, pointers, sizeof(pointers));
}

static struct python_frame frame_of(const struct objects *o, const struct python_offsets *offsets,
				    uint32_t at)
{
	struct python_identity identity = {0};
	size_t size = ((const uint64_t *)o->table)[2];

	memcpy(identity.code, &o->code[1], offsets->target.code_words * 8u);
	identity.name_hash = o->name[3];
	identity.table_size = size;
	memcpy(identity.table, &o->table[4],
	       size < sizeof(identity.table) ? size : sizeof(identity.table));
	return (struct python_frame){
		.code = (uintptr_t)o->code,
		.instruction = at,
		.checksum = python_checksum(&identity),
	};
}

static void names_code(void **state)
{
	static struct objects o;
	struct python_offsets offsets;
	struct python_codes *codes = python_codes__new(1 << 20, NULL);
	struct python_frame frame;
	const struct python_code *code;

	(void)state;
	make(&o, &offsets);
	frame = frame_of(&o, &offsets, 4 | PYTHON_ENTRY);
	assert_false(python_codes__has(codes, 1, &frame));
	code = python_codes__find(codes, 1, getpid(), &offsets, &frame);
	assert_non_null(code);
	assert_string_equal(code->function, "forward");
	assert_string_equal(code->file, "/a/model.py");
	assert_int_equal(python_code__line(code, &frame), 9);
	frame.instruction = 0;
	assert_int_equal(python_code__line(code, &frame), 7);
	frame.instruction = 6;
	assert_int_equal(python_code__line(code, &frame), 0);
	frame.instruction = PYTHON_NO_INSTRUCTION;
	assert_int_equal(python_code__line(code, &frame), 0);
	/* Once read it is not read again. */
	memset(&o, 0, sizeof(o));
	assert_ptr_equal(python_codes__find(codes, 1, getpid(), &offsets, &frame), code);
	assert_null(python_codes__find(codes, 2, getpid(), &offsets, &frame));
	python_codes__free(codes);
}

/* Each change makes it another object's code, or none. */
static void what_has_changed_has_no_name(void **state)
{
	static struct objects o;
	struct python_offsets offsets;

	(void)state;
	for (int change = 0; change < 9; change++) {
		struct python_codes *codes = python_codes__new(1 << 20, NULL);
		struct python_frame frame;

		make(&o, &offsets);
		frame = frame_of(&o, &offsets, 0);
		if (change == 1)
			o.code[0] = 0; /* freed */
		else if (change == 2)
			o.name[0] = 1ull << 40; /* freed: the allocator's data are here */
		else if (change == 3)
			o.code[1]++; /* of another type */
		else if (change == 4)
			o.name[3]++; /* another name */
		else if (change == 5)
			((uint8_t *)o.table)[PYTHON_BYTES_DATA + 3]++;
		else if (change == 6)
			o.table[2] = UINT64_MAX;
		else if (change == 7)
			frame.code = 16;
		else if (change == 8)
			o.file[4] = 0; /* not a str */
		assert_int_equal(python_codes__find(codes, 1, getpid(), &offsets, &frame) != NULL,
				 change == 0);
		assert_true(python_codes__has(codes, 1, &frame));
		python_codes__free(codes);
	}
}

static void memory_is_bounded(void **state)
{
	static struct objects o;
	struct python_offsets offsets;
	struct python_codes *codes = python_codes__new(10000, NULL);
	struct python_frame frame;

	(void)state;
	make(&o, &offsets);
	frame = frame_of(&o, &offsets, 0);
	for (uint32_t process = 0; process < 1000; process++) {
		assert_non_null(python_codes__find(codes, process, getpid(), &offsets, &frame));
		python_codes__prune(codes);
	}
	assert_false(python_codes__has(codes, 0, &frame));
	assert_true(python_codes__has(codes, 999, &frame));
	python_codes__free(codes);
}

static void assert_text(const void *characters, uint64_t count, unsigned int width, bool ascii,
			const char *expected)
{
	static uint64_t object[WORDS];
	char *text;

	memset(object, 0, sizeof(object));
	make_text(object, characters, count, width, ascii);
	text = python_text__read(NULL, getpid(), python_offsets__of(12), (uintptr_t)object);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void texts(void **state)
{
	static const uint16_t cyrillic[] = {0x444, 0x61, 0x20ac};
	static const uint32_t wide[] = {0x2000b, 0x40d, 0x110000, 0xd800, 0};

	(void)state;
	assert_text("", 0, 1, true, "");
	assert_text("a b", 3, 1, true, "a b");
	assert_text("gr\xf6\xdf"
		    "e",
		    5, 1, false, "größe");
	assert_text(cyrillic, 3, 2, false, "фa€");
	assert_text(wide, 5, 4, false, "\xf0\xa0\x80\x8bЍ\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

static void long_texts_are_cut(void **state)
{
	static uint64_t object[WORDS];
	uint64_t huge = UINT64_MAX;
	char *text, many[2000];

	(void)state;
	memset(many, 'x', sizeof(many));
	make_text(object, many, sizeof(many), 1, true);
	text = python_text__read(NULL, getpid(), python_offsets__of(12), (uintptr_t)object);
	assert_non_null(text);
	assert_int_equal(strlen(text), PYTHON_TEXT_MAX);
	free(text);
	put(object, PYTHON_TEXT_LENGTH, &huge, sizeof(huge));
	assert_null(python_text__read(NULL, getpid(), python_offsets__of(12), (uintptr_t)object));
}

/* Whatever is at the address: a name or none. */
static void random_memory(void **state)
{
	static struct objects o;
	struct python_offsets offsets;
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct python_codes *codes = python_codes__new(1 << 20, NULL);
		struct python_frame frame;
		const struct python_code *code;

		make(&o, &offsets);
		frame = frame_of(&o, &offsets, (uint32_t)rand_r(&seed) & 0xff);
		for (int i = 0; i < 4; i++)
			((uint8_t *)&o)[(size_t)rand_r(&seed) % sizeof(o)] = (uint8_t)rand_r(&seed);
		if (round % 2) {
			for (size_t i = 0; i < 12; i++)
				((uint8_t *)o.name)[16 + (size_t)rand_r(&seed) % 24] =
					(uint8_t)rand_r(&seed);
		}
		code = python_codes__find(codes, 1, getpid(), &offsets, &frame);
		if (code)
			assert_true(python_code__line(code, &frame) >= 0 &&
				    strlen(code->function) <= 4096);
		python_codes__free(codes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_code),
		cmocka_unit_test(what_has_changed_has_no_name),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(texts),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(random_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
