/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where CPython keeps what a stack is read from, by its version: 3.8 to 3.14,
 * builds with a global interpreter lock.
 *
 * Since 3.13 an interpreter has a table of offsets itself. It is in a watched
 * process's memory, so it is believed only as far as it can be true.
 */
#ifndef SYMBOL_PYTHON_OFFSETS_H
#define SYMBOL_PYTHON_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/python.h"
#include "symbol/python_lines.h"

struct python_offsets {
	uint8_t minor;
	uint8_t lines; /* enum python_lines */
	uint16_t key;  /* of autoTSSkey._key in _PyRuntime */
	uint16_t code_argcount, code_file, code_name, code_table, code_first_line;
	uint16_t code_qualname;		 /* 0: it has none */
	uint16_t text_ascii, text_other; /* in a str: its characters, where they are all ASCII, and else */
	uint64_t text_type;		 /* PyUnicode_Type, what every str points to: 0 until it is found */
	uint64_t frame_type;		 /* PyFrame_Type, where frames are objects: up to 3.10 */
	uint8_t references_bits;	 /* of an object's first word that count; those above are flags */
	struct python_target target;	 /* without its addresses, and those of libc */
};

/* In every str, and bytes object, and type, of these builds. */
#define PYTHON_TEXT_LENGTH 16
#define PYTHON_TEXT_STATE 32
#define PYTHON_TYPE_NAME 24
#define PYTHON_TYPE_BASICSIZE 32
#define PYTHON_TYPE_MEMBERS 240

/* Those of CPython 3.`minor`, or NULL. */
const struct python_offsets *python_offsets__of(unsigned int minor);

#define PYTHON_DEBUG_OFFSETS_SIZE 648 /* what is looked at of 3.14's; 3.13's ends before */

/*
 * Compares `offsets` with the table that _PyRuntime of 3.13 or later begins
 * with, of PYTHON_DEBUG_OFFSETS_SIZE bytes, and takes over what differs and is
 * possible. -EPROTO and the reason in *err where the table cannot be true.
 */
int python_offsets__check(struct python_offsets *offsets, const void *table, struct error *err);

#endif
