// SPDX-License-Identifier: BSD-2-Clause
// Offsets in CPython by version; see python_offsets.h.
#include "symbol/python_offsets.h"

#include <errno.h>
#include <string.h>

/*
 * From compiling the structures of 3.8.18, 3.9.18, 3.10.13, 3.11.7, 3.12.1 and 3.13.0 on x86-64,
 * and from 3.14.10. Before 3.11 a frame is an object.
 */
/* clang-format off */
static const struct python_offsets versions[] = {
	{
		.minor = 8, .lines = PYTHON_LINES_LNOTAB, .key = 1396,
		.code_argcount = 16, .code_file = 104, .code_name = 112, .code_table = 120, .code_first_line = 40,
		.text_ascii = 48, .text_other = 72, .references_bits = 64,
		.target = {
			.state_frame = 24, .state_id = 176, .cframe_frame = PYTHON_NO_CFRAME, .frame_size = 112,
			.frame_back = 24, .frame_code = 32, .frame_instruction = 104, .code_words = 15,
			.code_changing = PYTHON_NO_WORD, .entries = PYTHON_ENTRY_EACH, .lasti_unit = 1,
		},
	},
	{
		.minor = 9, .lines = PYTHON_LINES_LNOTAB, .key = 588,
		.code_argcount = 16, .code_file = 104, .code_name = 112, .code_table = 120, .code_first_line = 40,
		.text_ascii = 48, .text_other = 72, .references_bits = 64,
		.target = {
			.state_frame = 24, .state_id = 176, .cframe_frame = PYTHON_NO_CFRAME, .frame_size = 112,
			.frame_back = 24, .frame_code = 32, .frame_instruction = 104, .code_words = 15,
			.code_changing = PYTHON_NO_WORD, .entries = PYTHON_ENTRY_EACH, .lasti_unit = 1,
		},
	},
	{
		.minor = 10, .lines = PYTHON_LINES_RANGES, .key = 588,
		.code_argcount = 16, .code_file = 104, .code_name = 112, .code_table = 120, .code_first_line = 40,
		.text_ascii = 48, .text_other = 72, .references_bits = 64,
		.target = {
			.state_frame = 24, .state_id = 176, .cframe_frame = PYTHON_NO_CFRAME, .frame_size = 104,
			.frame_back = 24, .frame_code = 32, .frame_instruction = 96, .code_words = 15,
			.code_changing = PYTHON_NO_WORD, .entries = PYTHON_ENTRY_EACH, .lasti_unit = 2,
		},
	},
	{
		/* The word that may change contains co_flags and co_warmup. */
		.minor = 11, .lines = PYTHON_LINES_LOCATIONS, .key = 596,
		.code_argcount = 56, .code_file = 112, .code_name = 120, .code_qualname = 128, .code_table = 136,
		.code_first_line = 72, .text_ascii = 48, .text_other = 72, .references_bits = 64,
		.target = {
			.state_frame = 56, .state_id = 152, .cframe_frame = 8, .frame_size = 72, .frame_back = 48,
			.frame_code = 32, .frame_instruction = 56, .frame_owner = 68, .code_bytes = 184,
			.code_words = 17, .code_changing = 5, .entries = PYTHON_ENTRY_MARKED,
		},
	},
	{
		.minor = 12, .lines = PYTHON_LINES_LOCATIONS, .key = 1548,
		.code_argcount = 52, .code_file = 112, .code_name = 120, .code_qualname = 128, .code_table = 136,
		.code_first_line = 68, .text_ascii = 40, .text_other = 56, .references_bits = 64,
		.target = {
			.state_frame = 56, .state_id = 136, .cframe_frame = 0, .frame_size = 72, .frame_back = 8,
			.frame_code = 0, .frame_instruction = 56, .frame_owner = 70, .code_bytes = 192,
			.code_words = 17, .code_changing = PYTHON_NO_WORD, .code_version = 10,
			.entries = PYTHON_ENTRY_SHIM,
		},
	},
	{
		.minor = 13, .lines = PYTHON_LINES_LOCATIONS, .key = 2164,
		.code_argcount = 52, .code_file = 112, .code_name = 120, .code_qualname = 128, .code_table = 136,
		.code_first_line = 68, .text_ascii = 40, .text_other = 56, .references_bits = 64,
		.target = {
			.state_frame = 72, .state_id = 152, .cframe_frame = PYTHON_NO_CFRAME, .frame_size = 72,
			.frame_back = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 70,
			.code_bytes = 200, .code_words = 17, .code_changing = PYTHON_NO_WORD, .code_version = 10,
			.state_interpreter = 16, .next_version = 17000, .entries = PYTHON_ENTRY_SHIM,
		},
	},
	{
		/*
		 * The lowest bits of a frame's code pointer say whether the reference is counted.
		 */
		.minor = 14, .lines = PYTHON_LINES_LOCATIONS, .key = 2340,
		.code_argcount = 52, .code_file = 112, .code_name = 120, .code_qualname = 128, .code_table = 136,
		.code_first_line = 68, .text_ascii = 40, .text_other = 56, .references_bits = 48,
		.target = {
			.state_frame = 72, .state_id = 152, .cframe_frame = PYTHON_NO_CFRAME, .frame_size = 80,
			.frame_back = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 74,
			.code_bytes = 208, .code_words = 17, .code_changing = PYTHON_NO_WORD, .code_version = 10,
			.code_tag = 3, .entries = PYTHON_ENTRY_SHIM,
		},
	},
};
/* clang-format on */

const struct python_offsets *python_offsets__of(unsigned int minor)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		if (versions[i].minor == minor)
			return &versions[i];
	}
	return NULL;
}

enum {
	WORD_COOKIE = 0,
	WORD_VERSION = 1,
	WORD_FREE_THREADED = 2,
};

/*
 * Where the offsets of each structure begin in the table, by version; the first word is the
 * structure's size.
 */
struct sections {
	uint8_t minor;
	uint8_t state, frame, code, object, type, bytes, text;
};

static const struct sections sections_of[] = {
	{13, 19, 28, 34, 44, 46, 64, 67},
	{14, 22, 31, 39, 50, 52, 74, 77},
};

/* Index of a word after a section's first one. */
/* clang-format off */
enum {
	STATE_FRAME = 4, STATE_ID,
	FRAME_BACK = 1, FRAME_CODE, FRAME_INSTRUCTION, FRAME_OWNER = 5,
	CODE_FILE = 1, CODE_NAME, CODE_QUALNAME, CODE_TABLE, CODE_FIRST_LINE, CODE_ARGCOUNT, CODE_BYTES = 9,
	OBJECT_TYPE = 1,
	TYPE_NAME = 1,
	BYTES_SIZE = 1, BYTES_DATA,
	TEXT_STATE = 1, TEXT_LENGTH, TEXT_ASCII,
};
/* clang-format on */

/*
 * No structure of the interpreter that is read here is larger, apart from the bytecode after a code
 * object.
 */
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

/*
 * Takes the offset of a field of `width` bytes in the structure whose section begins at `section`.
 */
static void take(struct taking *taking, uint16_t *offset, unsigned int section, unsigned int word,
		 unsigned int width)
{
	uint64_t size = word_of(taking->table, section),
		 value = word_of(taking->table, section + word);

	if (size > STRUCTURE_MAX || size < width || value > size - width || value % width)
		taking->wrong = true;
	else
		*offset = (uint16_t)value;
}

/* Requires a value that cannot differ here. */
static void expect(struct taking *taking, unsigned int word, uint64_t value)
{
	if (word_of(taking->table, word) != value)
		taking->wrong = true;
}

static void take_all(struct taking *taking, const struct sections *at,
		     struct python_offsets *offsets)
{
	struct python_target *target = &offsets->target;

	take(taking, &target->state_frame, at->state, STATE_FRAME, 8);
	take(taking, &target->state_id, at->state, STATE_ID, 8);
	take(taking, &target->frame_back, at->frame, FRAME_BACK, 8);
	take(taking, &target->frame_code, at->frame, FRAME_CODE, 8);
	take(taking, &target->frame_instruction, at->frame, FRAME_INSTRUCTION, 8);
	take(taking, &target->frame_owner, at->frame, FRAME_OWNER, 1);
	take(taking, &offsets->code_file, at->code, CODE_FILE, 8);
	take(taking, &offsets->code_name, at->code, CODE_NAME, 8);
	take(taking, &offsets->code_qualname, at->code, CODE_QUALNAME, 8);
	take(taking, &offsets->code_table, at->code, CODE_TABLE, 8);
	take(taking, &offsets->code_first_line, at->code, CODE_FIRST_LINE, 4);
	take(taking, &offsets->code_argcount, at->code, CODE_ARGCOUNT, 4);
	take(taking, &target->code_bytes, at->code, CODE_BYTES, 2);
	expect(taking, at->object + OBJECT_TYPE, PYTHON_OB_TYPE);
	expect(taking, at->type + TYPE_NAME, PYTHON_TYPE_NAME);
	expect(taking, at->bytes + BYTES_SIZE, PYTHON_BYTES_SIZE);
	expect(taking, at->bytes + BYTES_DATA, PYTHON_BYTES_DATA);
	expect(taking, at->text + TEXT_STATE, PYTHON_TEXT_STATE);
	expect(taking, at->text + TEXT_LENGTH, PYTHON_TEXT_LENGTH);
	expect(taking, at->text + TEXT_ASCII, offsets->text_ascii);
	/* The checksum covers the part that ends with the name and the table. */
	if (offsets->code_table != target->code_words * 8u ||
	    offsets->code_qualname + 8u != offsets->code_table)
		taking->wrong = true;
	if (target->frame_back >= target->frame_size || target->frame_code >= target->frame_size ||
	    target->frame_instruction >= target->frame_size ||
	    target->frame_owner >= target->frame_size)
		taking->wrong = true;
}

int python_offsets__check(struct python_offsets *offsets, const void *table, struct error *err)
{
	struct python_offsets taken = *offsets;
	struct taking taking = {.table = table};
	uint64_t version = word_of(table, WORD_VERSION);

	if (memcmp(table, "xdebugpy", 8) != 0)
		return error__set(err, -EPROTO, "its table of offsets has no valid header");
	if (version >> 16 != (0x300u | offsets->minor))
		return error__set(err, -EPROTO,
				  "its table of offsets has the unknown version %#llx",
				  (unsigned long long)version);
	if (word_of(table, WORD_FREE_THREADED))
		return error__set(err, -ENOTSUP, "a free-threaded interpreter");
	for (size_t i = 0; i < sizeof(sections_of) / sizeof(*sections_of); i++) {
		if (sections_of[i].minor == offsets->minor)
			take_all(&taking, &sections_of[i], &taken);
	}
	if (taking.wrong)
		return error__set(err, -EPROTO, "its table of offsets is inconsistent");
	*offsets = taken;
	return 0;
}
