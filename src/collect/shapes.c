// SPDX-License-Identifier: BSD-2-Clause
// Shapes of launches, see shapes.h.
#include "collect/shapes.h"

#include <bpf/libbpf.h>

#include "collect/sweep.h"
#include "gen/gpuprobe.skel.h"

/* A shape goes with its process, and once its kernel's launches are all of a generation that is over. */
static int take_shape(const struct sweep *sweep, const void *key, const void *value)
{
	const struct kernel_key *kernel = key;
	struct process *process = collector__process_at(sweep->collector, kernel->slot);
	int ret;

	if (!process)
		return 0;
	ret = kernel_table__set_shape(process->kernel_table, kernel, value);
	if (ret)
		return ret;
	if (sweep__of_process(sweep, kernel->slot) == SWEEP_END)
		return SWEEP_END;
	return kernel->generation != sweep->collector->records[kernel->slot].generation &&
			       kernel_table__is_over(process->kernel_table, kernel) ?
		       SWEEP_DELETE :
		       SWEEP_KEEP;
}

int shapes__read(struct collector *collector, bool reap)
{
	struct sweep sweep = {
		.collector = collector,
		.map = collector->skeleton->maps.shapes,
		.reap = reap,
		.take = take_shape,
	};

	return sweep__run(&sweep);
}
