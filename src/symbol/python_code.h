/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Python frames are called: their code objects, read from the process
 * once and kept by (process, address, checksum).
 *
 * All of it is the watched process's and hostile: sizes are bounded, types
 * are compared, and what cannot be true has no name.
 */
#ifndef SYMBOL_PYTHON_CODE_H
#define SYMBOL_PYTHON_CODE_H

#include <stdbool.h>
#include <sys/types.h>

#include "symbol/python_offsets.h"
#include "target/memory_reader.h"

#define PYTHON_TABLE_MAX 65536 /* bytes of a table of lines */

/* A code object. Its texts are UTF-8, not escaped. */
struct python_code {
	char *function; /* its qualified name since 3.11, else its name */
	char *file;	/* as the program was given it: perhaps relative */
	int first_line;
	uint8_t *table;
	size_t table_size;
	uint8_t lines; /* enum python_lines */
};

struct python_codes; /* those that were read */

/* Keeps at most about `bytes_max` bytes. `memory` must outlive it. NULL without memory. */
struct python_codes *python_codes__new(size_t bytes_max, struct memory_reader *memory);
void python_codes__free(struct python_codes *codes);

/*
 * The code object of a frame of process `pid`; `process` is a number that is
 * no other process's. NULL where it is no more what the frame's checksum is
 * of, or cannot be true; that is kept, too. Valid until python_codes__prune.
 */
const struct python_code *python_codes__find(struct python_codes *codes, uint32_t process, pid_t pid,
					     const struct python_offsets *offsets, const struct python_frame *frame);

/* Whether python_codes__find knows of this frame without reading from the process. */
bool python_codes__has(const struct python_codes *codes, uint32_t process, const struct python_frame *frame);

/* Lets the oldest ones go while there are more bytes than are to be kept. */
void python_codes__prune(struct python_codes *codes);

/*
 * The line that a frame of this code is at: 0 where its table tells of none. Up to 3.10 its first where none
 * of it has run; since 3.11 such a frame, or one whose instruction is not in its code, is at none.
 */
int python_code__line(const struct python_code *code, const struct python_frame *frame);

#endif
