/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One instruction of x86-64, to the extent that getter_code needs: its length, and registers and
 * displacement of its operand in memory. Instructions of AVX and later, which baseline code has
 * none of, are unknown.
 */
#ifndef NCCL_INSTRUCTION_H
#define NCCL_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instruction {
	uint8_t length;
	uint32_t opcode; /* 0x8b, 0x0f1f, 0x0f38f0 */
	bool wide;	 /* REX.W: 64-bit operands */
	bool narrow;	 /* prefix 0x66: 16-bit operands, or another instruction */
	bool has_modrm;
	uint8_t mod;
	uint8_t reg;   /* register operand, 0 to 15 */
	uint8_t rm;    /* base register, or the register itself if mod is 3; of opcodes that
			include a register: it */
	bool indexed;  /* the address has an index, or no base */
	bool relative; /* the address is relative to the next instruction */
	int64_t displacement;
	uint64_t immediate; /* not sign-extended */
};

/* False: unknown, or longer than `size`. */
bool instruction__decode(const uint8_t *code, size_t size, struct instruction *instruction);

#endif
