/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses the operands of static probe points (USDT), as the assembler of the probed library wrote
 * them: "-8@%rax", "4@$5", "8@-8(%r12,%r13,2)"; on aarch64 "8@x0", "4@[sp, 12]". The text comes
 * from a watched process's file.
 */
#ifndef TARGET_OPERAND_H
#define TARGET_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/operand.h"

enum operand_machine {
	OPERAND_X86_64 = 0,
	OPERAND_AARCH64,
};

/*
 * Finds the address of the variable `name` relative to the probe point, for "8@name(%rip)". Returns
 * false if there is none.
 */
typedef bool (*operand_symbol_fn)(const char *name, int64_t *distance, void *arg);

struct operand_reader {
	enum operand_machine machine;
	operand_symbol_fn symbol; /* NULL: no symbol is known */
	void *arg;
};

/* Longer texts are not understood. */
#define OPERAND_TEXT_MAX 256

/*
 * Parses the next operand at *text, which is skipped, with the blanks behind it. Returns 1; 0 at
 * the end of the text; -EBADMSG if this operand is not understood (it is skipped nevertheless: as
 * far as a blank outside of brackets).
 */
int operand__next(const struct operand_reader *reader, const char **text,
		  struct probe_operand *operand);

#endif
