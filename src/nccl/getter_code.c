// SPDX-License-Identifier: BSD-2-Clause
// Where NCCL's functions read a communicator, see getter_code.h. The code is taken instruction by
// instruction, without following jumps.
#include "nccl/getter_code.h"

#include <string.h>

#include "nccl/instruction.h"

#define LEAST_OFFSET 0x100 /* smaller displacements are of other structures */
#define LEAST_VERSION 2000 /* 2.0.0 as NCCL up to 2.8 writes it */
#define MOST_VERSION 99999
#define MOST_OFFSET (64u << 20)
#define MOST_BETWEEN 4 /* instructions between a load and its store */

#define RSP 4

static bool next(const uint8_t *code, size_t size, size_t *at, struct instruction *instruction)
{
	if (*at >= size || !instruction__decode(code + *at, size - *at, instruction))
		return false;
	*at += instruction->length;
	return true;
}

/* mov OFFSET(%base),%reg with a displacement of 32 bits */
static bool is_member_load(const struct instruction *it, bool wide)
{
	return it->opcode == 0x8b && it->wide == wide && !it->narrow && it->mod == 2 &&
	       !it->indexed && it->displacement >= LEAST_OFFSET && it->displacement < MOST_OFFSET;
}

/* mov %reg,(%base) */
static bool is_plain_store(const struct instruction *it, uint8_t reg)
{
	return it->opcode == 0x89 && !it->wide && !it->narrow && it->reg == reg && !it->indexed &&
	       !it->relative && (it->mod == 0 || (it->mod == 1 && !it->displacement));
}

/* What compilers put between: it neither branches nor changes the loaded register. */
static bool keeps(const struct instruction *it, uint8_t reg)
{
	switch (it->opcode) {
	case 0x8b: /* loads, such as the caller's pointer from the stack */
	case 0x8d: return it->reg != reg;
	case 0x31: return it->mod == 3 && it->rm != reg; /* xor */
	case 0x33: return it->reg != reg;
	case 0x83: return it->mod == 3 && it->rm == RSP; /* add to the stack pointer */
	case 0x90:
	case 0x0f1f: return true;
	default: return it->opcode >= 0x58 && it->opcode <= 0x5f && it->rm != reg; /* pop */
	}
}

bool getter_code__member(const uint8_t *code, size_t size, uint32_t *offset)
{
	struct instruction load = {0}, it;
	unsigned int left = 0; /* instructions that may still follow the load */
	bool found = false;
	size_t at = 0;

	while (next(code, size, &at, &it)) {
		if (left && is_plain_store(&it, load.reg)) {
			if (found && *offset != (uint32_t)load.displacement)
				return false;
			*offset = (uint32_t)load.displacement;
			found = true;
			left = 0;
		} else if (is_member_load(&it, false)) {
			load = it;
			left = MOST_BETWEEN;
		} else if (left) {
			left = keeps(&it, load.reg) ? left - 1 : 0;
		}
	}
	return found && at == size;
}

bool getter_code__loads(const uint8_t *code, size_t size, uint32_t offset)
{
	struct instruction it;
	size_t at = 0;

	while (next(code, size, &at, &it))
		if (is_member_load(&it, true) && it.displacement == (int64_t)offset)
			return true;
	return false;
}

/* cmp of a register with OFFSET(%base), in either direction */
static bool compares_member(const struct instruction *it, uint8_t reg)
{
	return (it->opcode == 0x39 || it->opcode == 0x3b) && it->wide && it->reg == reg &&
	       it->mod == 2 && !it->indexed && it->displacement >= LEAST_OFFSET &&
	       it->displacement < MOST_OFFSET;
}

bool getter_code__end_magic(const uint8_t *code, size_t size, uint32_t *offset)
{
	struct instruction it;
	bool loaded = false;
	uint8_t reg = 0;
	size_t at = 0;

	while (next(code, size, &at, &it)) {
		if (it.opcode >= 0xb8 && it.opcode <= 0xbf && it.wide &&
		    it.immediate == NCCL_MAGIC) {
			reg = it.rm;
			loaded = true;
		} else if (loaded && compares_member(&it, reg)) {
			*offset = (uint32_t)it.displacement;
			return true;
		}
	}
	return false;
}

/* movl $CONSTANT, (%base) */
static bool stores_constant(const struct instruction *it)
{
	return it->opcode == 0xc7 && !it->reg && !it->wide && !it->narrow && it->mod != 3 &&
	       !it->indexed && !it->relative && !it->displacement;
}

bool getter_code__version(const uint8_t *code, size_t size, int *version)
{
	struct instruction it;
	bool found = false;
	size_t at = 0;

	while (next(code, size, &at, &it)) {
		if (!stores_constant(&it))
			continue;
		if (it.immediate < LEAST_VERSION || it.immediate > MOST_VERSION ||
		    (found && *version != (int)it.immediate))
			return false;
		*version = (int)it.immediate;
		found = true;
	}
	return found;
}

void getter_code__calls(const uint8_t *code, size_t size, struct getter_calls *calls)
{
	struct instruction it;
	size_t at = 0;

	calls->count = 0;
	while (calls->count < GETTER_CALLS && next(code, size, &at, &it))
		if (it.opcode == 0xe8)
			calls->targets[calls->count++] =
				(int64_t)at + (int32_t)(uint32_t)it.immediate;
}
