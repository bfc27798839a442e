// SPDX-License-Identifier: BSD-2-Clause
// Where the time of threads that submit work went, as text: which lines of a stack are shown.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "model/host.h"
#include "model/model.h"
#include "output/finding/reasons.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct stack_frame own[] = {
	{.function = "cudaMalloc", .object = "libcudart.so.13"},
	{.function = "Pool<float>::grow(unsigned long)",
	 .object = "server",
	 .file = "/src/pool.cc",
	 .line = 8},
	{.function = "main", .object = "server"},
};
static const struct stack_frame backward[] = {
	{.function = "cudaMalloc", .object = "libcudart.so.13"},
	{.function = "at::_ops::mm::call(at::Tensor const&)", .object = "libtorch_cpu.so"},
	{.function = "torch::autograd::generated::MmBackward0::apply(int)",
	 .object = "libtorch_cpu.so"},
	{.kind = FRAME_MARK, .function = "[callers not found]"},
};

static void assert_lines(const struct stack_frame *frames, size_t count, const char *expected)
{
	const struct stack stack = {.frames = frames, .count = (uint32_t)count};
	struct host_location location = {.ns = NS_PER_S, .times = 1, .stack = &stack};
	struct host_thread thread = {.submits = true,
				     .tid = 11,
				     .pid = 10,
				     .watched_ns = NS_PER_S,
				     .locations = &location,
				     .location_count = 1};
	struct host_process host = {.threads = &thread, .thread_count = 1};
	const struct process process = {.host = &host};
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	reasons_text__print(out, &process, NS_PER_S, QUANTITY_ROUNDED);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void the_programs_own_lines_or_what_a_framework_does(void **state)
{
	(void)state;
	assert_lines(own, COUNT(own),
		     "       1.0 s 100.0 %  on the CPU                  Pool::grow (pool.cc:8) < "
		     "main\n");
	assert_lines(backward, COUNT(backward),
		     "       1.0 s 100.0 %  on the CPU                  "
		     "cudaMalloc < … autograd engine: MmBackward0, 2 frames\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_programs_own_lines_or_what_a_framework_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
