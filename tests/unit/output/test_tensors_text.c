// SPDX-License-Identifier: BSD-2-Clause
// The sentence about a process's tensors: what is held, also where gpuprobe came later.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "output/tensors_text.h"

#define MIB (1ull << 20)

static void expect(const struct process *process, const char *expected)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	tensors_text__print(out, process, QUANTITY_ROUNDED, "; ");
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void all_is_known_from_the_start(void **state)
{
	struct tensors tensors = {
		.live_count = 32,
		.live_bytes = 3 * MIB,
		.segments = {.count = 2,
			     .bytes = 4 * MIB,
			     .tensor_bytes = 3 * MIB,
			     .unused_bytes = MIB},
	};
	const struct process process = {.tensors = &tensors};

	(void)state;
	expect(&process, "4.0 MiB held, 3.0 MiB in 32 tensors, 1.0 MiB unused");
}

/* Tensors lie in segments that gpuprobe has not seen, so there is more than it has seen. */
static void older_segments_hold_newer_tensors(void **state)
{
	struct tensors tensors = {
		.live_count = 32,
		.live_bytes = 9 * MIB,
		.segments = {.count = 2,
			     .bytes = 4 * MIB,
			     .tensor_bytes = 3 * MIB,
			     .unused_bytes = MIB},
	};
	const struct process process = {.since_attach = true, .tensors = &tensors};

	(void)state;
	expect(&process,
	       "at least 10.0 MiB held, 9.0 MiB in 32 tensors, 1.0 MiB unused (modelled); "
	       "since attach: older segments and tensors are unknown");
	tensors.live_bytes = 3 * MIB;
	expect(&process, "4.0 MiB held, 3.0 MiB in 32 tensors, 1.0 MiB unused (modelled); "
			 "since attach: older segments and tensors are unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_known_from_the_start),
		cmocka_unit_test(older_segments_hold_newer_tensors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
