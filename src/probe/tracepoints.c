// SPDX-License-Identifier: BSD-2-Clause
// Attaches programs to tracepoints; see tracepoints.h.
#include "probe/tracepoints.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

static struct bpf_link *attach(const struct tracepoint *point)
{
	/* One program may be attached to several of these. */
	if (bpf_program__type(point->program) == BPF_PROG_TYPE_RAW_TRACEPOINT)
		return bpf_program__attach_raw_tracepoint(point->program, point->name);
	return bpf_program__attach(point->program);
}

int tracepoints__attach(const struct tracepoint *points, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (!bpf_program__autoload(points[i].program))
			continue;
		*points[i].link = attach(&points[i]);
		if (!*points[i].link)
			return error__set(err, -errno, "cannot attach to the tracepoint %s: %s",
					  points[i].name, strerror(errno));
	}
	return 0;
}
