// SPDX-License-Identifier: BSD-2-Clause
// Names and sums of the library for NVTX ranges, which a watched program can make itself; what is
// kept of them is printed.
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "model/nvtx_ranges.h"
#include "output/json/ranges.h"

static void check(struct nvtx_ranges *ranges)
{
	const struct process p = {.pid = 1};
	struct json json;

	nvtx_ranges__end(ranges);
	MUST(ranges->name_count <= NVTX_ALL_NAMES);
	json__init(&json, harness__sink());
	json__object_begin(&json);
	json_ranges__write(&json, ranges, &p);
	json_ranges__write_losses(&json, ranges);
	json__object_end(&json);
}

/* A name, as many bytes as the input has, and a range of the same key or another one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nvtx_ranges ranges = {0};

	nvtx_ranges__begin(&ranges, NULL);
	while (size) {
		struct nvtx_name *name = calloc(1, sizeof(*name));
		struct nvtx_record record = {.count = *data, .ns = size};
		size_t taken = size < sizeof(*name) ? size : sizeof(*name);

		memcpy(name, data, taken);
		name->key.process.pid &= 1;
		name->key.process.start_ns = 0;
		nvtx_ranges__take_name(&ranges, name, *data % 4 ? sizeof(*name) : taken);
		name->key.name ^= *data & 1;
		nvtx_ranges__add(&ranges, &name->key, &record);
		free(name);
		data += taken;
		size -= taken;
	}
	check(&ranges);
	nvtx_ranges__clear(&ranges);
	return 0;
}
