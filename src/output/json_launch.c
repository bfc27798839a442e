// SPDX-License-Identifier: BSD-2-Clause
// Launches in the JSON report, by kernel, see json_parts.h.
#include "output/json_parts.h"

void json_launch__write(struct json *j, const struct process *p)
{
	size_t i;

	json__key_u64(j, "launches", p->launches);
	json__key_u64(j, "graph_launches", p->graph_launches);
	json__key(j, "kernels");
	json__array_begin(j);
	for (i = 0; i < p->kernel_count; i++) {
		const struct kernel *k = &p->kernels[i];

		json__object_begin(j);
		json_parts__key_address(j, "handle", k->handle);
		json__key_string(j, "name", k->name);
		json__key_string(j, "short_name", k->short_name);
		json__key_u64(j, "launches", k->launches);
		json__key_u64(j, "serial", k->serial);
		json__object_end(j);
	}
	json__array_end(j);
}
