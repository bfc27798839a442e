/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An operand of a static probe point (USDT): where a value is when a thread is there. Userspace
 * parses it (src/target/operand.h); BPF programs read it (bpf/tensor/operand.bpf.h).
 */
#ifndef GPUPROBE_OPERAND_H
#define GPUPROBE_OPERAND_H

#include <linux/types.h>

enum operand_kind {
	OPERAND_NONE = 0, /* the point has no such operand */
	OPERAND_CONSTANT, /* `value` itself */
	OPERAND_REGISTER, /* `size` bytes of the register `base` */
	OPERAND_MEMORY,	  /* `size` bytes at base + index * scale + value */
};

/* Registers of x86-64, in the order in which instructions encode them, and the probe's address. */
enum operand_register {
	OPERAND_AX = 0,
	OPERAND_CX,
	OPERAND_DX,
	OPERAND_BX,
	OPERAND_SP,
	OPERAND_BP,
	OPERAND_SI,
	OPERAND_DI,
	OPERAND_R8,	 /* to R15 = 15 */
	OPERAND_IP = 16, /* address of the probe point */
	OPERAND_X86_REGISTERS,
};

/* Registers of aarch64: x0 to x30 are 0 to 30. */
#define OPERAND_A64_SP 31

#define OPERAND_NO_REGISTER 0xff

struct probe_operand {
	__s64 value;	/* a constant, or the displacement of memory */
	__u8 kind;	/* enum operand_kind */
	__u8 size;	/* 1, 2, 4 or 8 bytes */
	__u8 is_signed; /* a narrow value is extended by its sign */
	__u8 base;	/* register, or OPERAND_NO_REGISTER */
	__u8 index;	/* the same, for memory */
	__u8 scale;	/* 1, 2, 4 or 8 */
	__u8 shift;	/* bits above which the value begins in the register: 8 for %ah */
	__u8 pad;
};

#endif
