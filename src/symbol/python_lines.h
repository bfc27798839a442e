/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Line numbers of Python code: decodes the tables of code objects, which differ by interpreter
 * version. Pure functions; the bytes may be hostile.
 */
#ifndef SYMBOL_PYTHON_LINES_H
#define SYMBOL_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

enum python_lines {
	PYTHON_LINES_LNOTAB = 0, /* 3.8 and 3.9: co_lnotab, steps of bytecode and line */
	PYTHON_LINES_RANGES,	 /* 3.10: co_linetable, ranges of bytecode with a line step */
	PYTHON_LINES_LOCATIONS,	 /* since 3.11: co_linetable, entries of lines and columns */
};

/*
 * The line of the instruction `offset` bytes into the bytecode; `first_line` is the line at which
 * the code begins. 0 if the table does not say.
 */
int python_lines__find(enum python_lines form, const uint8_t *table, size_t size, int first_line,
		       uint32_t offset);

#endif
