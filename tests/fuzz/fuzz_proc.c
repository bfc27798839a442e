// SPDX-License-Identifier: BSD-2-Clause
// The texts of /proc/PID except maps, of any contents: stat, status, environ, cgroup, and
// perf-PID.map. Also files of a container's runtime. The first byte chooses.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda_environment.h"
#include "device/visible_devices.h"
#include "harness.h"
#include "symbol/perf_map.h"
#include "target/cgroup.h"
#include "target/image_name.h"
#include "target/proc.h"

static void read_cgroup(const struct input *input)
{
	struct cgroup_names names;
	char *path;

	harness__set_file("/proc/", input->at, input->left);
	if (!cgroup__read(1, &names)) {
		MUST(!names.container[0] || strlen(names.container) == CONTAINER_ID_LENGTH);
		MUST(strspn(names.container, "0123456789abcdef") == strlen(names.container));
		MUST(strspn(names.pod, "0123456789abcdef-") == strlen(names.pod));
	}
	path = cgroup__path(1);
	free(path);
}

static void read_process(const struct input *input)
{
	struct pid_namespace namespace;
	struct process_info info;

	harness__set_file("/proc/", input->at, input->left);
	if (!proc__info(1, &info))
		MUST(strlen(info.comm) < sizeof(info.comm));
	proc__exists(1);
	proc__own_namespace(&namespace);
}

static void read_environment(struct input *input)
{
	static const uint8_t uuid[16] = {0x10, [15] = 2};
	/* The last GPU is an instance of the one before. */
	static const struct gpu gpus[4] = {
		{.uuid = "GPU-00000000-0000-0000-0000-000000000000",
		 .name = "A",
		 .bus_id = "00000000:0A:00.0",
		 .mig = GPU_NONE},
		{.uuid = "GPU-00000000-0000-0000-0000-000000000001",
		 .name = "A",
		 .bus_id = "00000000:09:00.0",
		 .minor = 1,
		 .index = 1,
		 .mig = GPU_NONE},
		{.uuid = "GPU-10000000-0000-0000-0000-000000000002",
		 .name = "B",
		 .bus_id = "00000000:0B:00.0",
		 .minor = 2,
		 .index = 2,
		 .mig = GPU_NONE,
		 .divided = true},
		{.uuid = "MIG-20000000-0000-0000-0000-000000000003", .name = "B", .index = 2},
	};
	struct cuda_environment environment = {0};
	struct visible_devices visible;
	size_t count = input__number(input, 1) % 5;

	cuda_environment__parse((const char *)input->at, input->left, &environment);
	MUST(strnlen(environment.visible, VISIBLE_SIZE) < VISIBLE_SIZE);
	environment.nodes = input->left % 3;
	environment.minors = input->left % 16;
	visible_devices__map(&environment, gpus, count, &visible);
	MUST(visible.count <= VISIBLE_MAX);
	for (size_t i = 0; i < visible.count; i++)
		MUST(visible.gpu[i] >= GPU_NONE && visible.gpu[i] < (int)count);
	MUST(visible_devices__by_uuid(uuid, gpus, count) == (count > 2 ? 2 : GPU_NONE));
	harness__set_file("/proc/", input->at, input->left);
	cuda_environment__read(NULL, 1, &environment);
}

/*
 * `status` and the map are the same bytes: the status before the map's lines must not count as one.
 */
static void read_perf_map(const struct input *input)
{
	struct perf_map *map;
	uint64_t offset;

	harness__set_file("/", input->at, input->left);
	map = perf_map__read(1);
	for (uint64_t address = 0x7f00; map && address < 0x8000; address += 16) {
		const char *name = perf_map__find(map, address, &offset);

		MUST(!name || (*name && offset <= address && strlen(name) <= 1023));
	}
	perf_map__free(map);
}

static void read_image(struct input *input)
{
	enum image_file file = (enum image_file)(input__number(input, 1) % IMAGE_FILES);
	size_t length = input->left;
	char *text = input__rest(input);
	char name[IMAGE_NAME_SIZE];
	bool found = image_name__parse(file, text, length, "1", name);

	MUST(found == (name[0] != '\0') && strlen(name) < IMAGE_NAME_SIZE);
	for (const char *at = name; *at; at++)
		MUST(*at > ' ' && *at <= '~');
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	switch (input__number(&input, 1) % 5) {
	case 0: read_cgroup(&input); break;
	case 1: read_process(&input); break;
	case 2: read_environment(&input); break;
	case 3: read_perf_map(&input); break;
	default: read_image(&input);
	}
	harness__set_file(NULL, NULL, 0);
	return 0;
}
