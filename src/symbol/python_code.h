/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of Python frames: their code objects, read from the process once and kept by (process,
 * address, checksum).
 *
 * Everything comes from the watched process and may be hostile: sizes are bounded, types are
 * compared, and implausible objects get no name.
 */
#ifndef SYMBOL_PYTHON_CODE_H
#define SYMBOL_PYTHON_CODE_H

#include <stdbool.h>
#include <sys/types.h>

#include "symbol/python_offsets.h"
#include "target/memory_reader.h"

#define PYTHON_TABLE_MAX 65536 /* bytes of a line table */

/* A code object. Its texts are UTF-8 and not escaped. */
struct python_code {
	char *function; /* its qualified name since 3.11, otherwise its name */
	char *file;	/* as given to the interpreter; may be relative */
	int first_line;
	uint8_t *table;
	size_t table_size;
	uint8_t lines; /* enum python_lines */
};

struct python_codes; /* the code objects that were read */

/*
 * Keeps at most about `bytes_max` bytes. `memory` must outlive it. Returns NULL if out of memory.
 */
struct python_codes *python_codes__new(size_t bytes_max, struct memory_reader *memory);
void python_codes__free(struct python_codes *codes);

/*
 * Returns the code object of a frame of process `pid`; `process` is a number unique to the process.
 * NULL if the object no longer matches the frame's checksum, or is implausible; this result is
 * kept, too. Valid until python_codes__prune.
 */
const struct python_code *python_codes__find(struct python_codes *codes, uint32_t process,
					     pid_t pid, const struct python_offsets *offsets,
					     const struct python_frame *frame);

/* Whether python_codes__find knows this frame without reading from the process. */
bool python_codes__has(const struct python_codes *codes, uint32_t process,
		       const struct python_frame *frame);

/* Drops the oldest entries while the limit of bytes is exceeded. */
void python_codes__prune(struct python_codes *codes);

/*
 * The line of a frame of this code; 0 if its table does not say. A frame that has not executed any
 * instruction is at the first line up to 3.10. Since 3.11 such a frame, or one whose instruction is
 * not in its code, has no line.
 */
int python_code__line(const struct python_code *code, const struct python_frame *frame);

#endif
