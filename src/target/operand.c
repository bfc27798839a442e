// SPDX-License-Identifier: BSD-2-Clause
// Parses operands of probe points, see operand.h. SIZE@PLACE: a negative size is that of a signed
// value; without SIZE@ the value has 8 bytes.
#include "target/operand.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_X86_NAMES 5
#define SYMBOL_MAX 200

/* --- numbers and words --- */

static void skip_blanks(const char **at)
{
	while (**at == ' ' || **at == '\t')
		(*at)++;
}

static bool take_char(const char **at, char wanted)
{
	if (**at != wanted)
		return false;
	(*at)++;
	return true;
}

/* Decimal or hexadecimal, with a sign; negative numbers and those up to 2^64 - 1. */
static bool take_number(const char **at, long long *number)
{
	const char *text = *at;
	bool negative = *text == '-';
	uint64_t value;
	char *end;

	if (*text == '-' || *text == '+')
		text++;
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, text[0] == '0' && tolower(text[1]) == 'x' ? 16 : 10);
	if (errno || (negative && value > (uint64_t)INT64_MAX + 1))
		return false;
	*number = (long long)(negative ? -value : value);
	*at = end;
	return true;
}

static bool is_of_symbol(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '@';
}

/* --- registers of x86-64 --- */

struct register_part {
	uint8_t number, size, shift;
};

/* By number: names of 8, 4, 2 and 1 bytes, and of the second byte. */
static const char *const x86_names[][MAX_X86_NAMES] = {
	{"rax", "eax", "ax", "al", "ah"}, {"rcx", "ecx", "cx", "cl", "ch"},
	{"rdx", "edx", "dx", "dl", "dh"}, {"rbx", "ebx", "bx", "bl", "bh"},
	{"rsp", "esp", "sp", "spl"},	  {"rbp", "ebp", "bp", "bpl"},
	{"rsi", "esi", "si", "sil"},	  {"rdi", "edi", "di", "dil"},
};

/* r8 to r15, with d, w, b or l behind for a part. */
static bool find_numbered(const char *name, struct register_part *part)
{
	char *end;
	unsigned long number;

	if (name[0] != 'r' || !isdigit((unsigned char)name[1]))
		return false;
	number = strtoul(name + 1, &end, 10);
	if (number < 8 || number > 15)
		return false;
	part->number = (uint8_t)number;
	part->size = !*end ? 8 : *end == 'd' ? 4 : *end == 'w' ? 2 : *end == 'b' || *end == 'l';
	return part->size && (!*end || !end[1]);
}

static bool find_x86_register(const char *name, struct register_part *part)
{
	static const uint8_t sizes[MAX_X86_NAMES] = {8, 4, 2, 1, 1};

	*part = (struct register_part){0};
	for (size_t i = 0; i < sizeof(x86_names) / sizeof(*x86_names); i++) {
		for (size_t n = 0; n < MAX_X86_NAMES && x86_names[i][n]; n++) {
			if (strcmp(x86_names[i][n], name))
				continue;
			*part = (struct register_part){(uint8_t)i, sizes[n], n == 4 ? 8 : 0};
			return true;
		}
	}
	return find_numbered(name, part);
}

/* "%rax" and its parts; not %rip. */
static bool take_x86_register(const char **at, struct register_part *part)
{
	char name[8];
	size_t n = 0;

	if (!take_char(at, '%'))
		return false;
	while (isalnum((unsigned char)**at) && n < sizeof(name) - 1)
		name[n++] = *(*at)++;
	name[n] = '\0';
	return !isalnum((unsigned char)**at) && find_x86_register(name, part);
}

/* A register that an address is computed from has all its bytes. */
static bool take_whole_register(const char **at, uint8_t *number)
{
	struct register_part part;

	if (!take_x86_register(at, &part) || part.size != 8)
		return false;
	*number = part.number;
	return true;
}

/* --- memory of x86-64 --- */

/* "name", "name+8" or "8+name", up to the bracket: its distance from the probe point. */
static bool take_symbol(const struct operand_reader *reader, const char **at, int64_t *distance)
{
	long long before = 0, behind = 0;
	char name[SYMBOL_MAX];
	size_t n = 0;

	if (take_number(at, &before) && !take_char(at, '+'))
		return false;
	while (is_of_symbol(**at) && n < sizeof(name) - 1)
		name[n++] = *(*at)++;
	name[n] = '\0';
	if (!n || ((**at == '+' || **at == '-') && !take_number(at, &behind)))
		return false;
	if (!reader->symbol || !reader->symbol(name, distance, reader->arg))
		return false;
	return !__builtin_add_overflow(*distance, before, distance) &&
	       !__builtin_add_overflow(*distance, behind, distance);
}

/* "name(%rip)": memory at a fixed distance from the probe point. */
static bool take_relative(const struct operand_reader *reader, const char **at,
			  struct probe_operand *operand)
{
	static const char rip[] = "(%rip)";
	int64_t distance;

	if (!take_symbol(reader, at, &distance) || strncmp(*at, rip, strlen(rip)))
		return false;
	*at += strlen(rip);
	operand->base = OPERAND_IP;
	operand->value = distance;
	return true;
}

/* ",%rbx,4)": the index and its scale. */
static bool take_index(const char **at, struct probe_operand *operand)
{
	long long scale = 1;

	skip_blanks(at);
	if (!take_whole_register(at, &operand->index) || operand->index == OPERAND_SP)
		return false;
	if (take_char(at, ',')) {
		skip_blanks(at);
		if (!take_number(at, &scale) ||
		    (scale != 1 && scale != 2 && scale != 4 && scale != 8))
			return false;
	}
	operand->scale = (uint8_t)scale;
	return true;
}

/* "-8(%r12,%r13,2)"; base or index may be missing. */
static bool take_x86_memory(const struct operand_reader *reader, const char **at,
			    struct probe_operand *operand)
{
	const char *begin = *at;
	long long value = 0;

	operand->kind = OPERAND_MEMORY;
	if (**at != '(' && !take_number(at, &value)) {
		*at = begin;
		return take_relative(reader, at, operand);
	}
	if (**at != '(') {
		*at = begin;
		return take_relative(reader, at, operand);
	}
	operand->value = value;
	take_char(at, '(');
	if (**at == '%' && !take_whole_register(at, &operand->base))
		return false;
	if (take_char(at, ',') && !take_index(at, operand))
		return false;
	return take_char(at, ')') &&
	       (operand->base != OPERAND_NO_REGISTER || operand->index != OPERAND_NO_REGISTER);
}

static bool take_x86(const struct operand_reader *reader, const char **at,
		     struct probe_operand *operand)
{
	struct register_part part;

	if (take_char(at, '$')) {
		operand->kind = OPERAND_CONSTANT;
		return take_number(at, &operand->value);
	}
	if (**at != '%')
		return take_x86_memory(reader, at, operand);
	if (!take_x86_register(at, &part))
		return false;
	operand->kind = OPERAND_REGISTER;
	operand->base = part.number;
	operand->shift = part.shift;
	/* A value wider than the part has no meaning there. */
	return operand->size <= part.size;
}

/* --- aarch64 --- */

/* "x0" to "x30", "w0" to "w30", "sp". */
static bool take_a64_register(const char **at, struct register_part *part)
{
	char letter = **at;
	unsigned long number;
	char *end;

	*part = (struct register_part){.number = OPERAND_A64_SP, .size = 8};
	if (!strncmp(*at, "sp", 2) && !isalnum((unsigned char)(*at)[2])) {
		*at += 2;
		return true;
	}
	if ((letter != 'x' && letter != 'w') || !isdigit((unsigned char)(*at)[1]))
		return false;
	number = strtoul(*at + 1, &end, 10);
	if (number > 30 || isalnum((unsigned char)*end))
		return false;
	part->number = (uint8_t)number;
	part->size = letter == 'x' ? 8 : 4;
	*at = end;
	return true;
}

static bool take_a64_whole(const char **at, uint8_t *number)
{
	struct register_part part;

	if (!take_a64_register(at, &part) || part.size != 8)
		return false;
	*number = part.number;
	return true;
}

/* ", 12" or ", x2" or ", x2, lsl 3" behind the base. */
static bool take_a64_offset(const char **at, struct probe_operand *operand)
{
	long long shift;

	skip_blanks(at);
	take_char(at, '#');
	if (take_number(at, &operand->value))
		return true;
	if (!take_a64_whole(at, &operand->index) || operand->index == OPERAND_A64_SP)
		return false;
	operand->scale = 1;
	if (!take_char(at, ','))
		return true;
	skip_blanks(at);
	if (strncmp(*at, "lsl", 3))
		return false;
	*at += 3;
	skip_blanks(at);
	take_char(at, '#');
	if (!take_number(at, &shift) || shift < 0 || shift > 3)
		return false;
	operand->scale = (uint8_t)(1u << shift);
	return true;
}

static bool take_a64(const char **at, struct probe_operand *operand)
{
	struct register_part part;

	if (take_char(at, '[')) {
		operand->kind = OPERAND_MEMORY;
		skip_blanks(at);
		if (!take_a64_whole(at, &operand->base))
			return false;
		if (take_char(at, ',') && !take_a64_offset(at, operand))
			return false;
		skip_blanks(at);
		return take_char(at, ']');
	}
	if (take_a64_register(at, &part)) {
		operand->kind = OPERAND_REGISTER;
		operand->base = part.number;
		return operand->size <= part.size;
	}
	operand->kind = OPERAND_CONSTANT;
	take_char(at, '#');
	return take_number(at, &operand->value);
}

/* --- operands --- */

/* "-8@": the size in bytes, negative for a signed value. */
static bool take_size(const char **at, struct probe_operand *operand)
{
	const char *begin = *at;
	long long size;

	operand->size = 8;
	if (!take_number(at, &size) || !take_char(at, '@')) {
		*at = begin;
		return true;
	}
	operand->is_signed = size < 0;
	size = size < 0 ? -size : size;
	operand->size = (uint8_t)size;
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Where the operand at `text` ends: at a blank outside of brackets. */
static const char *end_of(const char *text)
{
	unsigned int open = 0;

	for (; *text; text++) {
		if (*text == '(' || *text == '[')
			open++;
		else if ((*text == ')' || *text == ']') && open)
			open--;
		else if (!open && (*text == ' ' || *text == '\t'))
			break;
	}
	return text;
}

static bool parse(const struct operand_reader *reader, const char *text,
		  struct probe_operand *operand)
{
	bool is_understood;

	*operand = (struct probe_operand){
		.base = OPERAND_NO_REGISTER, .index = OPERAND_NO_REGISTER, .scale = 1};
	if (!take_size(&text, operand))
		return false;
	is_understood = reader->machine == OPERAND_X86_64 ? take_x86(reader, &text, operand) :
							    take_a64(&text, operand);
	return is_understood && !*text;
}

int operand__next(const struct operand_reader *reader, const char **text,
		  struct probe_operand *operand)
{
	char copy[OPERAND_TEXT_MAX];
	const char *begin, *end;
	size_t length;

	skip_blanks(text);
	begin = *text;
	if (!*begin)
		return 0;
	end = end_of(begin);
	length = (size_t)(end - begin);
	*text = end;
	skip_blanks(text);
	if (length >= sizeof(copy))
		return -EBADMSG;
	memcpy(copy, begin, length);
	copy[length] = '\0';
	return parse(reader, copy, operand) ? 1 : -EBADMSG;
}
