// SPDX-License-Identifier: BSD-2-Clause
// Offsets in CPython by version, see python_offsets.h.
#include "symbol/python_offsets.h"

#include <errno.h>
#include <string.h>

/*
 * As the compiler lays out the structures of 3.8.18, 3.9.18, 3.10.13, 3.11.7,
 * 3.12.1 and 3.13.0 on x86-64. Before 3.11 a frame is an object.
 */
static const struct python_offsets versions[] = {
	{
		.minor = 8, .lines = PYTHON_LINES_LNOTAB, .key = 1396,
		.code_argcount = 16, .code_file = 104, .code_name = 112, .code_table = 120, .code_first_line = 40,
		.text_ascii = 48, .text_other = 72,
		.target = {
			.state_frame = 24, .state_id = 176, .cframe_frame = PYTHON_NO_CFRAME, .frame_size = 112,
			.frame_back = 24, .frame_code = 32, .frame_instruction = 104, .code_words = 15,
			.code_changing = PYTHON_NO_WORD, .entries = PYTHON_ENTRY_EACH, .lasti_unit = 1,
		},
	},
	{
		.minor = 9, .lines = PYTHON_LINES_LNOTAB, .key = 588,
		.code_argcount = 16, .code_file = 104, .code_name = 112, .code_table = 120, .code_first_line = 40,
		.text_ascii = 48, .text_other = 72,
		.target = {
			.state_frame = 24, .state_id = 176, .cframe_frame = PYTHON_NO_CFRAME, .frame_size = 112,
			.frame_back = 24, .frame_code = 32, .frame_instruction = 104, .code_words = 15,
			.code_changing = PYTHON_NO_WORD, .entries = PYTHON_ENTRY_EACH, .lasti_unit = 1,
		},
	},
	{
		.minor = 10, .lines = PYTHON_LINES_RANGES, .key = 588,
		.code_argcount = 16, .code_file = 104, .code_name = 112, .code_table = 120, .code_first_line = 40,
		.text_ascii = 48, .text_other = 72,
		.target = {
			.state_frame = 24, .state_id = 176, .cframe_frame = PYTHON_NO_CFRAME, .frame_size = 104,
			.frame_back = 24, .frame_code = 32, .frame_instruction = 96, .code_words = 15,
			.code_changing = PYTHON_NO_WORD, .entries = PYTHON_ENTRY_EACH, .lasti_unit = 2,
		},
	},
	{
		/* The changing word is co_flags with co_warmup. */
		.minor = 11, .lines = PYTHON_LINES_LOCATIONS, .key = 596,
		.code_argcount = 56, .code_file = 112, .code_name = 120, .code_qualname = 128, .code_table = 136,
		.code_first_line = 72, .text_ascii = 48, .text_other = 72,
		.target = {
			.state_frame = 56, .state_id = 152, .cframe_frame = 8, .frame_size = 72, .frame_back = 48,
			.frame_code = 32, .frame_instruction = 56, .frame_owner = 68, .code_bytes = 184,
			.code_words = 17, .code_changing = 5, .entries = PYTHON_ENTRY_MARKED,
		},
	},
	{
		.minor = 12, .lines = PYTHON_LINES_LOCATIONS, .key = 1548,
		.code_argcount = 52, .code_file = 112, .code_name = 120, .code_qualname = 128, .code_table = 136,
		.code_first_line = 68, .text_ascii = 40, .text_other = 56,
		.target = {
			.state_frame = 56, .state_id = 136, .cframe_frame = 0, .frame_size = 72, .frame_back = 8,
			.frame_code = 0, .frame_instruction = 56, .frame_owner = 70, .code_bytes = 192,
			.code_words = 17, .code_changing = PYTHON_NO_WORD, .entries = PYTHON_ENTRY_SHIM,
		},
	},
	{
		.minor = 13, .lines = PYTHON_LINES_LOCATIONS, .key = 2164,
		.code_argcount = 52, .code_file = 112, .code_name = 120, .code_qualname = 128, .code_table = 136,
		.code_first_line = 68, .text_ascii = 40, .text_other = 56,
		.target = {
			.state_frame = 72, .state_id = 152, .cframe_frame = PYTHON_NO_CFRAME, .frame_size = 72,
			.frame_back = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 70,
			.code_bytes = 200, .code_words = 17, .code_changing = PYTHON_NO_WORD,
			.entries = PYTHON_ENTRY_SHIM,
		},
	},
	{
		/* The lowest bits of a frame's code tell whether it is counted. */
		.minor = 14, .lines = PYTHON_LINES_LOCATIONS, .key = 2340,
		.code_argcount = 52, .code_file = 112, .code_name = 120, .code_qualname = 128, .code_table = 136,
		.code_first_line = 68, .text_ascii = 40, .text_other = 56,
		.target = {
			.state_frame = 72, .state_id = 152, .cframe_frame = PYTHON_NO_CFRAME, .frame_size = 80,
			.frame_back = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 74,
			.code_bytes = 208, .code_words = 17, .code_changing = PYTHON_NO_WORD, .code_tag = 3,
			.entries = PYTHON_ENTRY_SHIM,
		},
	},
};

const struct python_offsets *python_offsets__of(unsigned int minor)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		if (versions[i].minor == minor)
			return &versions[i];
	}
	return NULL;
}

/* Words of the table that are the same in every version, and those of 3.13. */
enum {
	WORD_COOKIE = 0,
	WORD_VERSION = 1,
	WORD_FREE_THREADED = 2,
	WORD_STATE_SIZE = 19,
	WORD_STATE_FRAME = 23,
	WORD_STATE_ID = 24,
	WORD_FRAME_SIZE = 28,
	WORD_FRAME_BACK = 29,
	WORD_FRAME_CODE = 30,
	WORD_FRAME_INSTRUCTION = 31,
	WORD_FRAME_OWNER = 33,
	WORD_CODE_SIZE = 34,
	WORD_CODE_FILE = 35,
	WORD_CODE_NAME = 36,
	WORD_CODE_QUALNAME = 37,
	WORD_CODE_TABLE = 38,
	WORD_CODE_FIRST_LINE = 39,
	WORD_CODE_ARGCOUNT = 40,
	WORD_CODE_BYTES = 43,
	WORD_OB_TYPE = 45,
	WORD_TYPE_NAME = 47,
	WORD_BYTES_SIZE = 65,
	WORD_BYTES_DATA = 66,
	WORD_TEXT_STATE = 68,
	WORD_TEXT_LENGTH = 69,
	WORD_TEXT_ASCII = 70,
};

/* No structure of the interpreter that is read here is larger, but for the bytecode behind a code object. */
#define STRUCTURE_MAX 4096

static uint64_t word_of(const void *table, unsigned int word)
{
	uint64_t value;

	memcpy(&value, (const char *)table + word * sizeof(value), sizeof(value));
	return value;
}

struct taking {
	const void *table;
	bool wrong;
};

/* Takes an offset of something of `width` bytes in a structure whose size the table tells too. */
static void take(struct taking *taking, uint16_t *offset, unsigned int word, unsigned int size_word, unsigned int width)
{
	uint64_t size = word_of(taking->table, size_word), value = word_of(taking->table, word);

	if (size > STRUCTURE_MAX || size < width || value > size - width || value % width)
		taking->wrong = true;
	else
		*offset = (uint16_t)value;
}

/* What is no number that could be another here. */
static void expect(struct taking *taking, unsigned int word, uint64_t value)
{
	if (word_of(taking->table, word) != value)
		taking->wrong = true;
}

static void take_all(struct taking *taking, struct python_offsets *offsets)
{
	struct python_target *target = &offsets->target;

	take(taking, &target->state_frame, WORD_STATE_FRAME, WORD_STATE_SIZE, 8);
	take(taking, &target->state_id, WORD_STATE_ID, WORD_STATE_SIZE, 8);
	take(taking, &target->frame_back, WORD_FRAME_BACK, WORD_FRAME_SIZE, 8);
	take(taking, &target->frame_code, WORD_FRAME_CODE, WORD_FRAME_SIZE, 8);
	take(taking, &target->frame_instruction, WORD_FRAME_INSTRUCTION, WORD_FRAME_SIZE, 8);
	take(taking, &target->frame_owner, WORD_FRAME_OWNER, WORD_FRAME_SIZE, 1);
	take(taking, &offsets->code_file, WORD_CODE_FILE, WORD_CODE_SIZE, 8);
	take(taking, &offsets->code_name, WORD_CODE_NAME, WORD_CODE_SIZE, 8);
	take(taking, &offsets->code_qualname, WORD_CODE_QUALNAME, WORD_CODE_SIZE, 8);
	take(taking, &offsets->code_table, WORD_CODE_TABLE, WORD_CODE_SIZE, 8);
	take(taking, &offsets->code_first_line, WORD_CODE_FIRST_LINE, WORD_CODE_SIZE, 4);
	take(taking, &offsets->code_argcount, WORD_CODE_ARGCOUNT, WORD_CODE_SIZE, 4);
	take(taking, &target->code_bytes, WORD_CODE_BYTES, WORD_CODE_SIZE, 2);
	expect(taking, WORD_OB_TYPE, PYTHON_OB_TYPE);
	expect(taking, WORD_TYPE_NAME, PYTHON_TYPE_NAME);
	expect(taking, WORD_BYTES_SIZE, PYTHON_BYTES_SIZE);
	expect(taking, WORD_BYTES_DATA, PYTHON_BYTES_DATA);
	expect(taking, WORD_TEXT_STATE, PYTHON_TEXT_STATE);
	expect(taking, WORD_TEXT_LENGTH, PYTHON_TEXT_LENGTH);
	expect(taking, WORD_TEXT_ASCII, offsets->text_ascii);
	/* The checksum is of what ends with the name and the table. */
	if (offsets->code_table != target->code_words * 8u || offsets->code_qualname + 8u != offsets->code_table)
		taking->wrong = true;
	if (target->frame_back >= target->frame_size || target->frame_code >= target->frame_size ||
	    target->frame_instruction >= target->frame_size || target->frame_owner >= target->frame_size)
		taking->wrong = true;
}

int python_offsets__check(struct python_offsets *offsets, const void *table, struct error *err)
{
	struct python_offsets taken = *offsets;
	struct taking taking = {.table = table};
	uint64_t version = word_of(table, WORD_VERSION);

	if (memcmp(table, "xdebugpy", 8) != 0)
		return error__set(err, -EPROTO, "its table of offsets does not begin as one");
	if (version >> 16 != (0x300u | offsets->minor))
		return error__set(err, -EPROTO, "its table of offsets is of version %#llx", (unsigned long long)version);
	if (word_of(table, WORD_FREE_THREADED))
		return error__set(err, -ENOTSUP, "a free-threaded interpreter");
	/* Where the words lie changes with the minor version. */
	if (offsets->minor != 13)
		return 0;
	take_all(&taking, &taken);
	if (taking.wrong)
		return error__set(err, -EPROTO, "its table of offsets cannot be true");
	*offsets = taken;
	return 0;
}
