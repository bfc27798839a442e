/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process's memory as PyTorch's visualiser (torch/cuda/_memory_viz.py and its page) loads it:
 * what torch.cuda.memory._snapshot() returns, as a pickle. Segments are the live allocations from
 * CUDA that hold tensors or that PyTorch's allocator made; blocks are live tensors and the holes
 * between them. Its trace has the latest allocations and frees of tensors and of segments; of
 * segments that were freed earlier than that it has nothing.
 *
 * Exact: addresses, requested sizes, frames. Modelled, and listed in the file's key `gpuprobe`:
 * blocks' sizes (by PyTorch's rules), pools.
 * Tensors in no known segment, because that is from before the attach, get a segment that covers
 * just them: it has the key `gpuprobe`.
 */
#ifndef OUTPUT_SNAPSHOT_SNAPSHOT_H
#define OUTPUT_SNAPSHOT_SNAPSHOT_H

#include <stdio.h>

#include "model/model.h"
#include "model/sites.h"
#include "model/tensor_trace.h"

/* Events to write, of all processes. */
struct snapshot_trace {
	const struct tensor_trace *trace; /* NULL: none */
	/* now, by two clocks: wall time and CLOCK_BOOTTIME; later events are left out */
	struct timespec wall;
	uint64_t now_ns;
	uint64_t lost;	    /* events that BPF could not report */
	site_stack_fn find; /* the stack of an event */
	void *arg;
};

/*
 * Writes the snapshot of a process whose lists have all allocations and tensors. Sizes and
 * addresses may be hostile: what overlaps is cut or left out, and counted in the key `gpuprobe`.
 * Returns 0, or -ENOMEM: the text is incomplete then. Write errors stay with `out`.
 */
int snapshot__print(FILE *out, const struct process *process, const struct snapshot_trace *trace);

#endif
