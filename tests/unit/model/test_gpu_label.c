// SPDX-License-Identifier: BSD-2-Clause
// Which of the GPUs that a process sees it is said to use, and their labels.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/gpu_label.h"

static void labels(void **state)
{
	char text[GPU_LABEL_SIZE];

	(void)state;
	gpu_label(&(struct gpu){.index = 3, .mig = GPU_NONE}, text);
	assert_string_equal(text, "3");
	gpu_label(&(struct gpu){.index = 0, .mig = 1}, text);
	assert_string_equal(text, "0:1");
}

/* PyTorch sees two GPUs and works on the second. */
static void seen_is_not_used(void **state)
{
	struct process_gpu gpus[2] = {
		{.gpu = 0, .ordinal = 0, .used_bytes = GPU_UNKNOWN_BYTES},
		{.gpu = 1, .ordinal = 1, .used_bytes = GPU_UNKNOWN_BYTES},
	};
	struct device_totals device = {.device = 1};
	struct process process = {.gpus = gpus, .gpu_count = 2};

	(void)state;
	assert_false(gpu_label__is_used(&process, &gpus[0]));
	assert_false(gpu_label__is_used(&process, &gpus[1]));
	process.devices = &device;
	process.device_count = 1;
	assert_false(gpu_label__is_used(&process, &gpus[0]));
	assert_true(gpu_label__is_used(&process, &gpus[1]));
	/* NVML's word counts, also 0 bytes. */
	gpus[0].used_bytes = 0;
	assert_true(gpu_label__is_used(&process, &gpus[0]));
	/* It can use no other than the only one that it sees. */
	gpus[0].used_bytes = GPU_UNKNOWN_BYTES;
	process.gpu_count = 1;
	assert_true(gpu_label__is_used(&process, &gpus[0]));
}

/* NVML sees one that was on its GPU before gpuprobe came; its calls do not tell the number. */
static void the_only_gpu_has_work_of_unknown_number(void **state)
{
	struct process_gpu gpus[2] = {
		{.gpu = 4, .ordinal = 0, .used_bytes = GPU_UNKNOWN_BYTES},
		{.gpu = 5, .ordinal = 1, .used_bytes = GPU_UNKNOWN_BYTES},
	};
	struct process process = {.gpus = gpus, .gpu_count = 2};

	(void)state;
	assert_ptr_equal(gpu_label__of_device(&process, 1), &gpus[1]);
	assert_null(gpu_label__of_device(&process, 2));
	assert_null(gpu_label__of_device(&process, DEVICE_UNKNOWN));
	gpus[1].used_bytes = 0;
	assert_ptr_equal(gpu_label__of_device(&process, DEVICE_UNKNOWN), &gpus[1]);
	gpus[0].used_bytes = 1;
	assert_null(gpu_label__of_device(&process, DEVICE_UNKNOWN));
	process.gpu_count = 1;
	assert_ptr_equal(gpu_label__of_device(&process, DEVICE_UNKNOWN), &gpus[0]);
	process.gpu_count = 0;
	assert_null(gpu_label__of_device(&process, DEVICE_UNKNOWN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels),
		cmocka_unit_test(seen_is_not_used),
		cmocka_unit_test(the_only_gpu_has_work_of_unknown_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
