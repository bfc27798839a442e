// SPDX-License-Identifier: BSD-2-Clause
// Records of the library for GPU times, which a watched program can make itself; what is summed up
// is printed.
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "model/gpu_times.h"
#include "output/json/gpu_times.h"

#define KINDS 6
#define A_CALL 5 /* no record of the library: a call that the probes saw */

/* A record is a kind, and as many bytes as it has; what the input lacks is zeros. */
static size_t size_of(uint32_t function)
{
	return function == GPU_TIMES_WORK  ? sizeof(struct gpu_times_work) :
	       function == GPU_TIMES_NAME  ? sizeof(struct gpu_times_name) :
	       function == GPU_TIMES_CLOCK ? sizeof(struct gpu_times_clock) :
	       function == A_CALL	   ? sizeof(struct gpu_call) :
					     sizeof(struct gpu_times_failure);
}

static void check(const struct gpu_times *times)
{
	const struct gpu_process_times *process, *next;

	HASH_ITER (hh, times->processes, process, next) {
		const struct process p = {.pid = (pid_t)process->key.pid,
					  .start_ns = process->key.start_ns};
		struct json json;

		MUST(process->kernel_count <= GPU_TIMES_KERNELS);
		json__init(&json, harness__sink());
		json__object_begin(&json);
		json_gpu_times__write(&json, times, &p);
		json_gpu_times__write_losses(&json, times);
		json__object_end(&json);
	}
}

static void take(struct gpu_times *times, void *record, size_t length, uint32_t function)
{
	struct gpu_times_head *head = record;
	struct gpu_call *call = record;

	if (function == A_CALL) {
		call->pid %= 3;
		gpu_times__take_call(times, call);
		return;
	}
	head->function = function;
	head->pid %= 3;
	gpu_times__take(times, record, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gpu_times times = {0};

	while (size) {
		size_t length = size_of(*data % KINDS), taken = size < length ? size : length;
		char *record = calloc(1, length);

		memcpy(record, data, taken);
		take(&times, record, length, *data % KINDS);
		free(record);
		data += taken;
		size -= taken;
	}
	gpu_times__join(&times);
	check(&times);
	gpu_times__clear(&times);
	return 0;
}
