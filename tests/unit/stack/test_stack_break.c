// SPDX-License-Identifier: BSD-2-Clause
// Where shown stacks break off.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stack/stack_break.h"

#define MARK \
	{ \
		.kind = FRAME_MARK, .function = "[callers not found]" \
	}

static const struct stack_frame torch[] = {
	{.function = "cudaMalloc", .object = "libcudart.so.13"},
	{.function = "at::empty", .object = "libtorch_cpu.so"},
	{.kind = FRAME_PYTHON, .function = "step", .file = "train.py"},
	MARK,
};
static const struct stack_frame unknown[] = {{.offset = 0x7f00}, MARK};

static void note(struct stack_break *known, const struct stack_frame *frames, uint32_t count,
		 bool broken)
{
	const struct stack stack = {.frames = frames, .count = count, .broken = broken};

	stack_break__note(known, &stack);
}

static void the_outermost_native_frame_has_it(void **state)
{
	struct stack_break known = {0};

	(void)state;
	stack_break__note(&known, NULL);
	note(&known, torch, 4, false);
	assert_false(known.found);
	note(&known, torch, 4, true);
	assert_true(known.found);
	assert_string_equal(known.object, "libtorch_cpu.so");
	note(&known, torch, 1, true);
	assert_string_equal(known.object, "libtorch_cpu.so");
}

static void it_may_be_unknown(void **state)
{
	struct stack_break known = {0};

	(void)state;
	note(&known, unknown, 2, true);
	assert_true(known.found);
	assert_string_equal(known.object, "");
	note(&known, torch, 1, true);
	assert_string_equal(known.object, "libcudart.so.13");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_outermost_native_frame_has_it),
		cmocka_unit_test(it_may_be_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
