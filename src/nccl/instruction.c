// SPDX-License-Identifier: BSD-2-Clause
// Decodes one instruction of x86-64: prefixes, opcode, ModRM, SIB, displacement, immediate.
#include "nccl/instruction.h"

#include <string.h>

#define LONGEST 15
#define TWO_BYTES 0x0f00
#define BITS(name) ((name##_bits)[opcode >> 5 & 7] >> (opcode & 31) & 1)

struct cursor {
	const uint8_t *code;
	size_t at, size;
};

/* Opcodes with a ModRM byte, of one byte and behind 0x0f; a bit each. */
static const uint32_t modrm_bits[8] = {0x0f0f0f0f, 0x0f0f0f0f, 0x00000000, 0x00000a08,
				       0x0000ffff, 0x00000000, 0xff0f00c3, 0xc0c00000};
static const uint32_t modrm_0f_bits[8] = {0xffff200f, 0x0000ff0f, 0xffffffff, 0xff7fffff,
					  0xffff0000, 0xfffff838, 0xffff00ff, 0x7fffffff};
/* Opcodes that do not exist in 64-bit code, or begin what is unknown here. */
static const uint32_t unknown_bits[8] = {0xc0c040c0, 0x80808080, 0x00000000, 0x00000007,
					 0x04000004, 0x00000000, 0x00704030, 0x00000400};
static const uint32_t unknown_0f_bits[8] = {0x00009410, 0xfa4000f0, 0x00000000, 0x00000000,
					    0x00000000, 0x000000c0, 0x00000000, 0x80000000};

static bool take(struct cursor *cursor, unsigned int bytes, uint64_t *value)
{
	if (cursor->size - cursor->at < bytes)
		return false;
	*value = 0;
	memcpy(value, cursor->code + cursor->at, bytes);
	cursor->at += bytes;
	return true;
}

static bool is_prefix(uint64_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0 ||
	       byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
	       byte == 0x65;
}

/* Prefixes and opcode. */
static bool take_opcode(struct cursor *cursor, struct instruction *it, uint8_t *rex)
{
	uint64_t byte, more;

	do {
		if (!take(cursor, 1, &byte))
			return false;
		it->narrow |= byte == 0x66;
	} while (is_prefix(byte));
	*rex = 0;
	if ((byte & 0xf0) == 0x40) {
		*rex = (uint8_t)byte;
		if (!take(cursor, 1, &byte))
			return false;
	}
	it->wide = *rex & 8;
	it->narrow &= !it->wide;
	it->opcode = (uint32_t)byte;
	if (byte != 0x0f)
		return true;
	if (!take(cursor, 1, &byte))
		return false;
	it->opcode = TWO_BYTES | (uint32_t)byte;
	if (byte != 0x38 && byte != 0x3a)
		return true;
	if (!take(cursor, 1, &more))
		return false;
	it->opcode = it->opcode << 8 | (uint32_t)more;
	return true;
}

static bool has_modrm(uint32_t opcode)
{
	if (opcode > 0xffff)
		return true;
	return opcode > 0xff ? BITS(modrm_0f) : BITS(modrm);
}

static bool is_unknown(uint32_t opcode)
{
	if (opcode > 0xffff)
		return false;
	return opcode > 0xff ? BITS(unknown_0f) : BITS(unknown);
}

/* The index 4 without REX.X is none. */
static bool take_sib(struct cursor *cursor, struct instruction *it, uint8_t rex)
{
	uint64_t sib;

	if (!take(cursor, 1, &sib))
		return false;
	it->rm = (uint8_t)((sib & 7) | (rex & 1) << 3);
	it->indexed = (sib >> 3 & 7) != 4 || (rex & 2);
	if (it->mod == 0 && (sib & 7) == 5)
		it->indexed = true;
	return true;
}

static bool take_modrm(struct cursor *cursor, struct instruction *it, uint8_t rex)
{
	uint64_t modrm, displacement = 0;
	bool base_only = false;

	if (!take(cursor, 1, &modrm))
		return false;
	it->mod = (uint8_t)(modrm >> 6);
	it->reg = (uint8_t)((modrm >> 3 & 7) | (rex & 4) << 1);
	it->rm = (uint8_t)((modrm & 7) | (rex & 1) << 3);
	if (it->mod == 3)
		return true;
	if ((modrm & 7) == 4) {
		if (!take_sib(cursor, it, rex))
			return false;
		base_only = it->mod == 0 && (it->rm & 7) == 5;
	} else {
		it->relative = it->mod == 0 && (modrm & 7) == 5;
	}
	if (it->mod == 1) {
		if (!take(cursor, 1, &displacement))
			return false;
		it->displacement = (int8_t)displacement;
	} else if (it->mod == 2 || it->relative || base_only) {
		if (!take(cursor, 4, &displacement))
			return false;
		it->displacement = (int32_t)(uint32_t)displacement;
	}
	return true;
}

/* Bytes of the immediate operand of opcodes of one byte. */
static unsigned int short_immediate(const struct instruction *it)
{
	unsigned int usual = it->narrow ? 2 : 4;
	uint32_t opcode = it->opcode;

	if (opcode < 0x40)
		return (opcode & 7) == 4 ? 1 : (opcode & 7) == 5 ? usual : 0;
	if (opcode >= 0x70 && opcode <= 0x7f)
		return 1;
	if (opcode >= 0xb0 && opcode <= 0xb7)
		return 1;
	if (opcode >= 0xb8 && opcode <= 0xbf)
		return it->wide ? 8 : usual;
	if (opcode >= 0xa0 && opcode <= 0xa3)
		return 8;
	switch (opcode) {
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7: return usual;
	case 0x6a:
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
	case 0xe4:
	case 0xe5:
	case 0xe6:
	case 0xe7:
	case 0xeb: return 1;
	case 0xe8:
	case 0xe9: return 4;
	case 0xc2: return 2;
	case 0xc8: return 3;
	case 0xf6: return (it->reg & 7) < 2 ? 1 : 0;
	case 0xf7: return (it->reg & 7) < 2 ? usual : 0;
	default: return 0;
	}
}

static unsigned int immediate_bytes(const struct instruction *it)
{
	uint32_t second = it->opcode & 0xff;

	if (it->opcode <= 0xff)
		return short_immediate(it);
	if (it->opcode > 0xffff)
		return it->opcode >> 8 == 0x0f3a;
	if (second >= 0x80 && second <= 0x8f)
		return 4;
	return (second >= 0x70 && second <= 0x73) || second == 0xa4 || second == 0xac ||
	       second == 0xba || second == 0xc2 || (second >= 0xc4 && second <= 0xc6);
}

bool instruction__decode(const uint8_t *code, size_t size, struct instruction *it)
{
	struct cursor cursor = {code, 0, size < LONGEST ? size : LONGEST};
	uint8_t rex;

	memset(it, 0, sizeof(*it));
	if (!take_opcode(&cursor, it, &rex) || is_unknown(it->opcode))
		return false;
	it->has_modrm = has_modrm(it->opcode);
	if (it->has_modrm) {
		if (!take_modrm(&cursor, it, rex))
			return false;
	} else {
		it->rm = (uint8_t)((it->opcode & 7) | (rex & 1) << 3);
	}
	if (!take(&cursor, immediate_bytes(it), &it->immediate))
		return false;
	it->length = (uint8_t)cursor.at;
	return true;
}
