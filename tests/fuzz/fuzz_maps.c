// SPDX-License-Identifier: BSD-2-Clause
// /proc/PID/maps of any contents, and what is derived from it: objects, code ranges, the
// interpreter's address.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "stack/code_map.h"
#include "symbol/process_map.h"
#include "symbol/python_process.h"
#include "target/proc_maps.h"

static int look_at(const struct mapping *mapping, void *arg)
{
	char *path;

	(void)arg;
	MUST(mapping->start < mapping->end && mapping->path);
	mapping__is_named_like_cuda(mapping->path);
	MUST(!mapping__is_file(mapping) || mapping->path[0] == '/');
	path = mapping__map_files_path(mapping, 1);
	free(path);
	return 0;
}

static int keep_addresses(const struct mapping *mapping, void *arg)
{
	const struct process_map *map = arg;
	const uint64_t addresses[] = {mapping->start, mapping->end - 1, mapping->end,
				      mapping->start - 1};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		const struct mapped_object *object = process_map__find(map, addresses[i]);
		uint64_t end;

		process_map__find_mapped(map, addresses[i]);
		process_map__may_return(map, addresses[i]);
		if (!object)
			continue;
		MUST(object->name && object->path);
		process_map__extent(map, object, object->start, &end);
	}
	return 0;
}

/* Two readings: a mapping of the first may be gone in the second. */
static void read_map(const char *first, const char *second)
{
	struct process_map *map = process_map__new(getpid());
	static struct code_map code;

	MUST(map);
	harness__set_maps(first);
	process_map__read(map, NULL);
	code_map__make(map, &code);
	harness__set_maps(second);
	process_map__read(map, NULL);
	code_map__make(map, &code);
	harness__set_maps(first);
	proc_maps__each(1, keep_addresses, map);
	process_map__free(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	char *first = input__string(&input), *second = input__rest(&input);
	struct python_process python;
	struct error err = {""};

	harness__set_maps(first);
	proc_maps__each(1, look_at, NULL);
	read_map(first, second);
	harness__set_file("/proc", NULL, 0);
	python_process__find(NULL, 1, &python, &err);
	harness__set_file(NULL, NULL, 0);
	harness__set_maps(NULL);
	free(first);
	free(second);
	return 0;
}
