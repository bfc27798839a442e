// SPDX-License-Identifier: BSD-2-Clause
// An /etc/ld.so.cache of any contents.
#include <string.h>

#include "harness.h"
#include "target/loader_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct path_list list;
	struct error err = {""};

	harness__set_file("/host/", data, size);
	if (!loader_cache__find_cuda("/host", &list, &err)) {
		for (size_t i = 0; i < list.count; i++)
			MUST(strncmp(list.paths[i], "/host/", 6) == 0);
	} else {
		MUST(!list.count && err.text[0]);
	}
	path_list__clear(&list);
	harness__set_file(NULL, NULL, 0);
	return 0;
}
