/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where CPython keeps what a stack is read from, by version: 3.8 to 3.14, builds with a global
 * interpreter lock.
 *
 * Since 3.13 the interpreter itself has a table of offsets. That table is in a watched process's
 * memory, so only plausible values are used.
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
	uint16_t code_qualname;		 /* 0 if there is none */
	uint16_t text_ascii, text_other; /* a str's characters: if all are ASCII, or not */
	uint64_t text_type;		 /* PyUnicode_Type, every str's type; 0: not found yet */
	uint64_t frame_type;		 /* PyFrame_Type if frames are objects: up to 3.10 */
	/* Number of bits of an object's first word that count references; those above are flags. */
	uint8_t references_bits;
	struct python_target target; /* without its addresses and libc's values */
};

/* The same in every str, bytes object and type of these builds. */
#define PYTHON_TEXT_LENGTH 16
#define PYTHON_TEXT_STATE 32
#define PYTHON_TYPE_NAME 24
#define PYTHON_TYPE_BASICSIZE 32
#define PYTHON_TYPE_MEMBERS 240

/* The offsets of CPython 3.`minor`, or NULL. */
const struct python_offsets *python_offsets__of(unsigned int minor);

#define PYTHON_DEBUG_OFFSETS_SIZE 648 /* the part of 3.14's table that is read; 3.13's is shorter */

/*
 * Compares `offsets` with the table at the start of _PyRuntime (3.13 and later;
 * PYTHON_DEBUG_OFFSETS_SIZE bytes), and adopts values that differ and are possible. Returns -EPROTO
 * and the reason in *err if the table is implausible.
 */
int python_offsets__check(struct python_offsets *offsets, const void *table, struct error *err);

#endif
