// SPDX-License-Identifier: BSD-2-Clause
// Which first instructions allow a cheap probe; see probe_point.h.
#include "target/probe_point.h"

/* Legacy prefixes: a nop with one is still a nop, but a 16-bit branch is not emulated. */
static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	/* clang-format off */
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: /* segments */
	case 0x66: case 0x67: case 0xf2: case 0xf3:
		/* clang-format on */
		return true;
	}
	return false;
}

/* The size of a memory operand after 0f 1f: ModRM, SIB and displacement. */
static size_t operand_size(const uint8_t *operand)
{
	unsigned int mode = operand[0] >> 6, base = operand[0] & 7;
	size_t size = 1;

	if (mode != 3 && base == 4) {
		base = operand[1] & 7;
		size++;
	}
	if (mode == 1)
		size++;
	else if (mode == 2 || (mode == 0 && base == 5))
		size += 4;
	return size;
}

bool probe_point__is_nop5(const uint8_t *code, size_t n)
{
	size_t at = 0;

	if (n < 5)
		return false;
	while (at < 4 && is_prefix(code[at]))
		at++;
	if (code[at] == 0x90)
		return at == 4;
	return at <= 1 && code[at] == 0x0f && code[at + 1] == 0x1f &&
	       at + 2 + operand_size(code + at + 2) == 5;
}

bool probe_point__is_fast(const uint8_t *code, size_t n)
{
	bool plain = true;
	size_t at = 0;

	while (at < n && is_prefix(code[at])) {
		if (code[at] == 0x66)
			plain = false;
		at++;
	}
	if (at >= n || at > 4)
		return false;
	if (code[at] == 0x90) /* nop, and pause, which is a nop with a prefix */
		return true;
	if (at == 0 && code[0] >= 0x50 && code[0] <= 0x57) /* push rax … rdi */
		return true;
	if (at == 0 && n >= 2 && code[0] == 0x41 && code[1] >= 0x50 && code[1] <= 0x57)
		return true; /* push r8 … r15 */
	if (!plain)
		return false;
	if (code[at] == 0xe8 || code[at] == 0xe9 || code[at] == 0xeb) /* call, jmp */
		return true;
	if (code[at] >= 0x70 && code[at] <= 0x7f) /* jcc, short */
		return true;
	return n - at >= 2 && code[at] == 0x0f && code[at + 1] >= 0x80 && code[at + 1] <= 0x8f;
}
