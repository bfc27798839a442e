// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the operands of static probe points (include/gpuprobe/operand.h). */
#ifndef BPF_TENSOR_OPERAND_BPF_H
#define BPF_TENSOR_OPERAND_BPF_H

#include "core/base.bpf.h"
#include "gpuprobe/operand.h"

/* The registers by their numbers: the verifier refuses to read one of the context's by a number. */
struct operand_registers {
	u64 at[OPERAND_X86_REGISTERS];
};

static __always_inline void read_registers(const struct pt_regs *ctx,
					   struct operand_registers *registers)
{
	registers->at[OPERAND_AX] = ctx->ax;
	registers->at[OPERAND_CX] = ctx->cx;
	registers->at[OPERAND_DX] = ctx->dx;
	registers->at[OPERAND_BX] = ctx->bx;
	registers->at[OPERAND_SP] = ctx->sp;
	registers->at[OPERAND_BP] = ctx->bp;
	registers->at[OPERAND_SI] = ctx->si;
	registers->at[OPERAND_DI] = ctx->di;
	registers->at[OPERAND_R8] = ctx->r8;
	registers->at[OPERAND_R8 + 1] = ctx->r9;
	registers->at[OPERAND_R8 + 2] = ctx->r10;
	registers->at[OPERAND_R8 + 3] = ctx->r11;
	registers->at[OPERAND_R8 + 4] = ctx->r12;
	registers->at[OPERAND_R8 + 5] = ctx->r13;
	registers->at[OPERAND_R8 + 6] = ctx->r14;
	registers->at[OPERAND_R8 + 7] = ctx->r15;
	registers->at[OPERAND_IP] = ctx->ip;
}

static __always_inline u64 register_at(const struct operand_registers *registers, u32 number)
{
	barrier_var(number);
	return number < OPERAND_X86_REGISTERS ? registers->at[number] : 0;
}

/* The low `size` bytes of the value, extended to 64 bits. */
static __always_inline u64 extend(u64 value, u32 size, bool is_signed)
{
	u32 unused = 64 - 8 * size;

	if (size >= 8)
		return value;
	value <<= unused & 63;
	return is_signed ? (u64)((s64)value >> (unused & 63)) : value >> (unused & 63);
}

/*
 * Sets *value to the operand's value. Returns 0, or -1 if there is no such operand or its memory
 * cannot be read. Global: the verifier goes through it once.
 */
__noinline int read_operand(const struct operand_registers *registers,
			    const struct probe_operand *operand, u64 *value)
{
	u64 found;

	if (!registers || !operand || !value)
		return -1;
	found = operand->value;
	if (operand->kind == OPERAND_REGISTER) {
		found = register_at(registers, operand->base) >> (operand->shift & 63);
	} else if (operand->kind == OPERAND_MEMORY) {
		found += register_at(registers, operand->base);
		found += register_at(registers, operand->index) * operand->scale;
		/* Eight bytes may cross into an unmapped page, so only what is needed is read. */
		if (operand->size == 8 ? bpf_probe_read_user(value, 8, (void *)found) :
		    operand->size == 4 ? bpf_probe_read_user(value, 4, (void *)found) :
		    operand->size == 2 ? bpf_probe_read_user(value, 2, (void *)found) :
					 bpf_probe_read_user(value, 1, (void *)found)) {
			lose(LOSS_UNREADABLE);
			return -1;
		}
		found = *value;
	} else if (operand->kind != OPERAND_CONSTANT) {
		return -1;
	}
	*value = extend(found, operand->size, operand->is_signed);
	return 0;
}

#endif
