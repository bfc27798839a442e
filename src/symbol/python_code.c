// SPDX-License-Identifier: BSD-2-Clause
// Code objects of Python processes; see python_code.h.
#include "symbol/python_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "symbol/python_text.h"

#define CODE_BYTES (PYTHON_OB_TYPE + PYTHON_CODE_WORDS * sizeof(uint64_t))

struct code_key {
	uint64_t address;
	uint32_t process;
	uint32_t checksum;
};

struct kept_code {
	struct code_key key;
	bool known; /* false: it could not be read */
	size_t bytes;
	struct python_code code;
	UT_hash_handle hh;
};

struct python_codes {
	struct kept_code *kept; /* the oldest first */
	size_t bytes, bytes_max;
	struct memory_reader *memory;
};

struct python_codes *python_codes__new(size_t bytes_max, struct memory_reader *memory)
{
	struct python_codes *codes = calloc(1, sizeof(*codes));

	if (!codes)
		return NULL;
	codes->bytes_max = bytes_max;
	codes->memory = memory;
	return codes;
}

static void clear(struct python_code *code)
{
	free(code->function);
	free(code->file);
	free(code->table);
	memset(code, 0, sizeof(*code));
}

static void drop(struct python_codes *codes, struct kept_code *kept)
{
	codes->bytes -= kept->bytes;
	HASH_DEL(codes->kept, kept);
	clear(&kept->code);
	free(kept);
}

void python_codes__free(struct python_codes *codes)
{
	struct kept_code *kept, *next;

	if (!codes)
		return;
	HASH_ITER (hh, codes->kept, kept, next) {
		drop(codes, kept);
	}
	free(codes);
}

void python_codes__prune(struct python_codes *codes)
{
	while (codes->kept && codes->bytes > codes->bytes_max)
		drop(codes, codes->kept);
}

static uint64_t word_at(const uint8_t *object, uint16_t offset)
{
	uint64_t value = 0;

	if (offset + sizeof(value) <= CODE_BYTES)
		memcpy(&value, object + offset, sizeof(value));
	return value;
}

/*
 * Whether a live object is at the address: the first word of a freed one is a pointer of the
 * allocator, or 0. Immortal objects have up to 2^32 references.
 */
static bool is_alive(struct memory_reader *memory, pid_t pid, const struct python_offsets *offsets,
		     uint64_t address)
{
	uint64_t references;

	if (memory_reader__read(memory, pid, address, &references, sizeof(references)))
		return false;
	references &= UINT64_MAX >> (64 - offsets->references_bits);
	return references && references <= 1ull << 32;
}

/* Reads the part of the code object that BPF reads. */
static int read_object(struct memory_reader *memory, pid_t pid,
		       const struct python_offsets *offsets, uint64_t address,
		       uint8_t object[CODE_BYTES])
{
	const struct python_target *target = &offsets->target;
	uint64_t type;
	int ret;

	if (target->code_words < 2 || target->code_words > PYTHON_CODE_WORDS)
		return -EINVAL;
	memset(object, 0, CODE_BYTES);
	ret = memory_reader__read(memory, pid, address, object,
				  PYTHON_OB_TYPE + target->code_words * sizeof(uint64_t));
	if (ret)
		return ret;
	type = word_at(object, PYTHON_OB_TYPE);
	return type == target->code_type && is_alive(memory, pid, offsets, address) ? 0 : -EPROTO;
}

/* Whether the frame's checksum matches everything that was read. */
static bool is_of_frame(struct memory_reader *memory, pid_t pid, const struct python_target *target,
			const struct python_frame *frame, const struct python_code *code,
			const uint8_t object[CODE_BYTES])
{
	struct python_identity identity = {.table_size = code->table_size};
	uint64_t hash, name;

	memcpy(identity.code, object + PYTHON_OB_TYPE, target->code_words * sizeof(uint64_t));
	memcpy(identity.table, code->table,
	       code->table_size < sizeof(identity.table) ? code->table_size :
							   sizeof(identity.table));
	name = identity.code[target->code_words - 2];
	if (memory_reader__read(memory, pid, name + PYTHON_TEXT_HASH, &hash, sizeof(hash)))
		return false;
	identity.name_hash = hash;
	if (target->code_changing < PYTHON_CODE_WORDS)
		identity.code[target->code_changing] = 0;
	return python_checksum(&identity) == frame->checksum;
}

static int read_table(struct memory_reader *memory, pid_t pid, uint64_t address,
		      struct python_code *code)
{
	uint64_t size;
	int ret =
		memory_reader__read(memory, pid, address + PYTHON_BYTES_SIZE, &size, sizeof(size));

	if (ret)
		return ret;
	if (size > PYTHON_TABLE_MAX)
		return -E2BIG;
	code->table = malloc(size ? size : 1);
	if (!code->table)
		return -ENOMEM;
	code->table_size = size;
	return size ? memory_reader__read(memory, pid, address + PYTHON_BYTES_DATA, code->table,
					  size) :
		      0;
}

/* 3.12 ends a C call of the interpreter with such a frame, which is not a Python frame. */
static bool is_shim(const struct python_code *code)
{
	return strcmp(code->function, "<interpreter trampoline>") == 0;
}

/* The object may be freed while it is read, so its identity is checked last. */
static int read_code(struct memory_reader *memory, pid_t pid, const struct python_offsets *offsets,
		     const struct python_frame *frame, struct python_code *code)
{
	uint16_t name_at = offsets->code_qualname ? offsets->code_qualname : offsets->code_name;
	uint8_t object[CODE_BYTES];
	uint64_t name, file, table;
	int ret = read_object(memory, pid, offsets, frame->code, object);

	if (ret)
		return ret;
	name = word_at(object, name_at);
	file = word_at(object, offsets->code_file);
	table = word_at(object, offsets->code_table);
	code->first_line = (int32_t)word_at(object, offsets->code_first_line);
	code->lines = offsets->lines;
	code->function = python_text__read(memory, pid, offsets, name);
	code->file = python_text__read(memory, pid, offsets, file);
	if (!code->function || !code->file || is_shim(code))
		return -EPROTO;
	ret = read_table(memory, pid, table, code);
	if (!ret)
		ret = read_object(memory, pid, offsets, frame->code, object);
	if (ret)
		return ret;
	return is_alive(memory, pid, offsets, name) && is_alive(memory, pid, offsets, file) &&
			       is_alive(memory, pid, offsets, table) &&
			       is_of_frame(memory, pid, &offsets->target, frame, code, object) ?
		       0 :
		       -EPROTO;
}

static struct code_key key_of(uint32_t process, const struct python_frame *frame)
{
	return (struct code_key){
		.address = frame->code, .process = process, .checksum = frame->checksum};
}

static struct kept_code *look_up(const struct python_codes *codes, uint32_t process,
				 const struct python_frame *frame)
{
	struct code_key key = key_of(process, frame);

	return TABLE_FIND(codes->kept, key, &key);
}

bool python_codes__has(const struct python_codes *codes, uint32_t process,
		       const struct python_frame *frame)
{
	return look_up(codes, process, frame) != NULL;
}

const struct python_code *python_codes__find(struct python_codes *codes, uint32_t process,
					     pid_t pid, const struct python_offsets *offsets,
					     const struct python_frame *frame)
{
	struct kept_code *kept = look_up(codes, process, frame);
	struct code_key key = key_of(process, frame);

	if (kept)
		return kept->known ? &kept->code : NULL;
	kept = TABLE_ADD_NEW(codes->kept, key, &key);
	if (!kept)
		return NULL;
	kept->known = !read_code(codes->memory, pid, offsets, frame, &kept->code);
	if (!kept->known)
		clear(&kept->code);
	kept->bytes = sizeof(*kept) + kept->code.table_size;
	if (kept->known)
		kept->bytes += strlen(kept->code.function) + strlen(kept->code.file) + 2;
	codes->bytes += kept->bytes;
	return kept->known ? &kept->code : NULL;
}

int python_code__line(const struct python_code *code, const struct python_frame *frame)
{
	uint32_t offset = frame->instruction & PYTHON_INSTRUCTION_MASK;

	/* Since 3.11 the position is a pointer: one that points outside the code has no line. */
	if (offset == PYTHON_NO_INSTRUCTION)
		return code->lines == PYTHON_LINES_LOCATIONS ? 0 : code->first_line;
	return python_lines__find(code->lines, code->table, code->table_size, code->first_line,
				  offset);
}
