// SPDX-License-Identifier: BSD-2-Clause
// Code objects of Python processes, see python_code.h.
#include "symbol/python_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "symbol/python_text.h"
#include "target/process_memory.h"

#define CODE_BYTES (PYTHON_OB_TYPE + PYTHON_CODE_WORDS * sizeof(uint64_t))

struct code_key {
	uint64_t address;
	uint32_t process;
	uint32_t checksum;
};

struct kept_code {
	struct code_key key;
	bool known; /* else it could not be read */
	size_t bytes;
	struct python_code code;
	UT_hash_handle hh;
};

struct python_codes {
	struct kept_code *kept; /* the oldest first */
	size_t bytes, bytes_max;
};

struct python_codes *python_codes__new(size_t bytes_max)
{
	struct python_codes *codes = calloc(1, sizeof(*codes));

	if (codes)
		codes->bytes_max = bytes_max;
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
	HASH_ITER(hh, codes->kept, kept, next) {
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

/* Reads the code object as far as BPF has: whether it is the frame's. */
static int read_object(pid_t pid, const struct python_target *target, const struct python_frame *frame,
		       uint8_t object[CODE_BYTES])
{
	uint64_t words[PYTHON_CODE_WORDS] = {0};
	uint32_t count = target->code_words;
	int ret;

	if (count > PYTHON_CODE_WORDS)
		return -EINVAL;
	memset(object, 0, CODE_BYTES);
	ret = process_memory__read(pid, frame->code, object, PYTHON_OB_TYPE + count * sizeof(uint64_t));
	if (ret)
		return ret;
	memcpy(words, object + PYTHON_OB_TYPE, count * sizeof(uint64_t));
	if (words[0] != target->code_type)
		return -EPROTO;
	return python_checksum((const __u64 *)words, count, target->code_changing) == frame->checksum ? 0 : -EPROTO;
}

static int read_table(pid_t pid, uint64_t address, struct python_code *code)
{
	uint64_t size;
	int ret = process_memory__read(pid, address + PYTHON_BYTES_SIZE, &size, sizeof(size));

	if (ret)
		return ret;
	if (size > PYTHON_TABLE_MAX)
		return -E2BIG;
	code->table = malloc(size ? size : 1);
	if (!code->table)
		return -ENOMEM;
	code->table_size = size;
	return size ? process_memory__read(pid, address + PYTHON_BYTES_DATA, code->table, size) : 0;
}

static int read_code(pid_t pid, const struct python_offsets *offsets, const struct python_frame *frame,
		     struct python_code *code)
{
	uint8_t object[CODE_BYTES], again[CODE_BYTES];
	uint64_t first_line;
	int ret = read_object(pid, &offsets->target, frame, object);

	if (ret)
		return ret;
	first_line = word_at(object, offsets->code_first_line);
	code->first_line = (int32_t)first_line;
	code->lines = offsets->lines;
	code->function = python_text__read(pid, offsets, word_at(object, offsets->code_qualname ? offsets->code_qualname :
											offsets->code_name));
	code->file = python_text__read(pid, offsets, word_at(object, offsets->code_file));
	if (!code->function || !code->file)
		return -EPROTO;
	/* A table too long to keep leaves the line of the function's beginning. */
	ret = read_table(pid, word_at(object, offsets->code_table), code);
	if (ret && ret != -E2BIG)
		return ret;
	/* It may have been freed while the parts were read. */
	return read_object(pid, &offsets->target, frame, again);
}

static struct code_key key_of(uint32_t process, const struct python_frame *frame)
{
	return (struct code_key){.address = frame->code, .process = process, .checksum = frame->checksum};
}

static struct kept_code *look_up(const struct python_codes *codes, uint32_t process, const struct python_frame *frame)
{
	struct code_key key = key_of(process, frame);
	struct kept_code *kept;

	HASH_FIND(hh, codes->kept, &key, sizeof(key), kept);
	return kept;
}

bool python_codes__has(const struct python_codes *codes, uint32_t process, const struct python_frame *frame)
{
	return look_up(codes, process, frame) != NULL;
}

const struct python_code *python_codes__find(struct python_codes *codes, uint32_t process, pid_t pid,
					     const struct python_offsets *offsets, const struct python_frame *frame)
{
	struct kept_code *kept = look_up(codes, process, frame);

	if (kept)
		return kept->known ? &kept->code : NULL;
	kept = calloc(1, sizeof(*kept));
	if (!kept)
		return NULL;
	kept->key = key_of(process, frame);
	kept->known = !read_code(pid, offsets, frame, &kept->code);
	if (!kept->known)
		clear(&kept->code);
	kept->bytes = sizeof(*kept) + kept->code.table_size;
	if (kept->known)
		kept->bytes += strlen(kept->code.function) + strlen(kept->code.file) + 2;
	codes->bytes += kept->bytes;
	HASH_ADD(hh, codes->kept, key, sizeof(kept->key), kept);
	return kept->known ? &kept->code : NULL;
}

int python_code__line(const struct python_code *code, const struct python_frame *frame)
{
	uint32_t offset = frame->instruction & PYTHON_INSTRUCTION_MASK;
	int line = 0;

	if (offset != PYTHON_NO_INSTRUCTION)
		line = python_lines__find(code->lines, code->table, code->table_size, code->first_line, offset);
	return line ? line : code->first_line;
}
