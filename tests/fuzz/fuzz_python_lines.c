// SPDX-License-Identifier: BSD-2-Clause
// Line tables of Python code objects, in each format: bytes of any contents.
#include <string.h>

#include "harness.h"
#include "symbol/python_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	/* The last of the four values is none of the formats. */
	enum python_lines form = (enum python_lines)(input__number(&input, 1) % 4);
	int first = (int)input__number(&input, 4);
	uint32_t offset = (uint32_t)input__number(&input, 4);
	struct python_code code = {
		.first_line = first, .lines = (uint8_t)form, .table_size = input.left};
	struct python_frame frame = {.instruction = offset};

	MUST(python_lines__find(form, input.at, input.left, first, offset) >= 0);
	MUST(python_lines__find(form, input.at, input.left, 1, offset % 64) >= 0);
	if (input.left > PYTHON_TABLE_MAX)
		return 0;
	code.table = (uint8_t *)(uintptr_t)input.at;
	python_code__line(&code, &frame);
	return 0;
}
