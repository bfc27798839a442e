// SPDX-License-Identifier: BSD-2-Clause
/*
 * Python objects in a process's memory, of any contents: code objects, texts, types, the offset
 * table, and the walk of bpf/stack/python.bpf.h itself, compiled for userspace. The input: the
 * version, the operation, the memory, which starts at the address BASE.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "python_walk.h"
#include "symbol/python_code.h"
#include "symbol/python_layout.h"
#include "symbol/python_text.h"

#define BASE 0x10000ull
#define CODE (BASE + 0x100)
#define CODE_TYPE (BASE + 0x400)
#define TEXT_TYPE (BASE + 0x600)
#define FRAME_TYPE (BASE + 0x800)
#define FRAMES (BASE + 0xa00)
#define KEY (BASE + 0xf0)

static struct python_offsets offsets_of(unsigned int minor)
{
	struct python_offsets offsets = *python_offsets__of(minor);

	offsets.target.code_type = CODE_TYPE;
	offsets.target.key_address = KEY;
	offsets.target.specific = 16;
	offsets.target.value_size = 16;
	offsets.target.value_data = 8;
	offsets.text_type = TEXT_TYPE;
	offsets.frame_type = FRAME_TYPE;
	return offsets;
}

static void must_be_utf8(const char *text)
{
	size_t length = strlen(text);

	MUST(length <= 4 * PYTHON_TEXT_MAX);
	for (size_t i = 0; i < length; i++)
		MUST((uint8_t)text[i] != 0xc0 && (uint8_t)text[i] < 0xf5);
}

static void find(struct python_codes *codes, const struct python_offsets *offsets,
		 const struct python_frame *frame)
{
	const struct python_code *code = python_codes__find(codes, 1, 1, offsets, frame);

	MUST(python_codes__has(codes, 1, frame));
	if (!code)
		return;
	must_be_utf8(code->function);
	must_be_utf8(code->file);
	MUST(code->table_size <= PYTHON_TABLE_MAX);
	MUST(code->lines != PYTHON_LINES_LOCATIONS || python_code__line(code, frame) >= 0);
}

/* The frame has the checksum that BPF would report for the object at that address. */
static void read_object(const struct python_offsets *offsets, uint32_t instruction)
{
	struct python_codes *codes = python_codes__new(1 << 12, NULL);
	struct python_scratch scratch = {0};
	struct python_frame frame = {.code = CODE, .instruction = instruction};
	struct python_walk walk = {
		.scratch = &scratch, .target = &offsets->target, .frames = &frame};

	MUST(codes);
	if (!find_checksum(&walk, CODE))
		put_frame(&walk, CODE, instruction);
	find(codes, offsets, &frame);
	frame.checksum++;
	find(codes, offsets, &frame);
	python_codes__prune(codes);
	python_codes__free(codes);
}

static void walk_frames(const struct python_offsets *offsets, uint64_t fsbase)
{
	struct python_codes *codes = python_codes__new(1 << 16, NULL);
	struct python_frame frames[PYTHON_FRAMES_MAX + 1] = {0};
	struct python_scratch scratch = {0};
	u32 count;

	MUST(codes);
	walked_fsbase = fsbase;
	count = walk_python(&(struct memory_of){}, &offsets->target, &scratch, frames,
			    PYTHON_FRAMES_MAX, fsbase);
	MUST(count <= PYTHON_FRAMES_MAX + 1);
	for (u32 i = 0; i < count; i++)
		find(codes, offsets, &frames[i]);
	python_codes__free(codes);
}

static void read_layout(struct python_offsets *offsets)
{
	struct error err = {""};

	if (!python_layout__check(NULL, 1, BASE, offsets, &err))
		MUST(offsets->target.frame_size <= PYTHON_FRAME_READ);
	else
		MUST(err.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct python_offsets offsets = offsets_of(8 + (unsigned int)input__number(&input, 1) % 7);
	unsigned int what = (unsigned int)input__number(&input, 1) % 4;
	char *text;

	walked_pid = 1;
	harness__set_memory(BASE, input.at, input.left);
	if (what == 0)
		read_object(&offsets, (uint32_t)input.left);
	if (what == 1)
		walk_frames(&offsets, FRAMES);
	if (what == 2)
		read_layout(&offsets);
	text = what == 3 ? python_text__read(NULL, 1, &offsets, CODE) : NULL;
	if (text)
		must_be_utf8(text);
	free(text);
	harness__set_memory(0, NULL, 0);
	return 0;
}
