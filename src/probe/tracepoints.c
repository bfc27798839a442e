// SPDX-License-Identifier: BSD-2-Clause
// Attaches programs to tracepoints, see tracepoints.h.
#include "probe/tracepoints.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

int tracepoints__attach(const struct tracepoint *points, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (!bpf_program__autoload(points[i].program))
			continue;
		*points[i].link = bpf_program__attach(points[i].program);
		if (!*points[i].link)
			return error__set(err, -errno, "cannot attach to the tracepoint %s: %s", points[i].name,
					  strerror(errno));
	}
	return 0;
}
