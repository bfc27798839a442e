// SPDX-License-Identifier: BSD-2-Clause
// Static probe points. The first byte chooses: operands as x86-64's or aarch64's assembler writes
// them (even and odd numbers below 128), or an ELF file with notes of points.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "target/elf_file.h"
#include "target/usdt_notes.h"

#define OF_FILE 128
#define OPERANDS 8

static bool find(const char *name, int64_t *distance, void *arg)
{
	(void)arg;
	*distance = (int64_t)strlen(name);
	return *name != 'u';
}

static void must_be_operand(const struct probe_operand *operand, enum operand_machine machine)
{
	unsigned int registers = machine == OPERAND_X86_64 ? OPERAND_X86_REGISTERS : 32;

	MUST(operand->kind >= OPERAND_CONSTANT && operand->kind <= OPERAND_MEMORY);
	MUST(operand->size == 1 || operand->size == 2 || operand->size == 4 || operand->size == 8);
	MUST(operand->base < registers || operand->base == OPERAND_NO_REGISTER);
	MUST(operand->index < registers || operand->index == OPERAND_NO_REGISTER);
	MUST(operand->scale == 1 || operand->scale == 2 || operand->scale == 4 ||
	     operand->scale == 8);
	MUST(operand->shift == 0 || operand->shift == 8);
	MUST(operand->kind != OPERAND_REGISTER || operand->base != OPERAND_NO_REGISTER);
}

static void read_operands(const char *text, enum operand_machine machine)
{
	const struct operand_reader reader = {machine, find, NULL};
	const char *at = text, *end = text + strlen(text);
	struct probe_operand operand;
	int ret;

	do {
		const char *before = at;

		ret = operand__next(&reader, &at, &operand);
		MUST(at <= end && (!ret || at > before));
		if (ret > 0)
			must_be_operand(&operand, machine);
	} while (ret);
	MUST(!*at);
}

static int look_at(const struct usdt_point *point, void *arg)
{
	struct probe_operand operands[OPERANDS];
	int count = usdt_notes__operands(arg, point, operands, OPERANDS);

	MUST(strlen(point->provider) + strlen(point->name) < USDT_NOTES_BYTES_MAX);
	for (int i = 0; i < count; i++)
		must_be_operand(&operands[i], OPERAND_X86_64);
	return 0;
}

static void read_file(const uint8_t *data, size_t size)
{
	struct elf_file *elf;
	struct error err;

	if (elf_file__open_fd(harness__file(data, size), "input", &elf, &err))
		return;
	usdt_notes__each(elf, look_at, elf);
	elf_file__free(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint64_t how = input__number(&input, 1);
	char *text;

	if (how >= OF_FILE) {
		read_file(input.at, input.left);
		return 0;
	}
	text = input__rest(&input);
	read_operands(text, how % 2 ? OPERAND_AARCH64 : OPERAND_X86_64);
	free(text);
	return 0;
}
