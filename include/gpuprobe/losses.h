/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every way in which gpuprobe can lose data, in one list: the enumerator, its name in metrics and
 * JSON, and its meaning for a person. BPF programs count them, except skipped libraries and ended
 * processes, which userspace counts. Nothing is lost without being counted.
 */
#ifndef GPUPROBE_LOSSES_H
#define GPUPROBE_LOSSES_H

#define LOSSES(X) \
	X(PROCESS_TABLE_FULL, "process_table_full", "calls of processes beyond --max-processes") \
	X(ALLOCATION_MAP_FULL, "allocation_map_full", "allocations beyond --max-allocations") \
	X(KERNEL_MAP_FULL, "kernel_map_full", "launches of kernels beyond --max-kernels") \
	X(TALLY_MAP_FULL, "tally_map_full", "calls whose counter could not be created") \
	X(ERROR_MAP_FULL, "error_map_full", "failures whose counter could not be created") \
	X(INFLIGHT_MAP_FULL, "inflight_map_full", \
	  "asynchronous copies, or profiled launches, on streams beyond --max-inflight") \
	X(INFLIGHT_BUSY, "inflight_busy", \
	  "asynchronous copies on a stream that many threads used at once") \
	X(CAPTURE_MAP_FULL, "capture_map_full", \
	  "captures whose launches may be counted as executed") \
	X(GRAPH_MAP_FULL, "graph_map_full", \
	  "graphs and executed graph launches that had no room in a table") \
	X(SHAPE_MAP_FULL, "shape_map_full", \
	  "sampled launches whose grid and block could not be kept") \
	X(LAUNCH_LIST_TOO_LONG, "launch_list_too_long", \
	  "launches on more than 16 devices by one call: those beyond") \
	X(EVENT_MAP_FULL, "event_map_full", \
	  "recorded events whose position in the stream was not kept") \
	X(ORDER_MAP_FULL, "order_map_full", \
	  "waits of one stream for another that had no room: its copies count as in flight for " \
	  "longer") \
	X(OBJECT_MAP_FULL, "object_map_full", \
	  "streams, events, contexts, modules and libraries beyond what a table holds") \
	X(CONTEXT_MAP_FULL, "context_map_full", "calls whose context had no room in a table") \
	X(THREAD_STORAGE, "thread_storage", "calls for which the kernel gave no thread storage") \
	X(CALL_DEPTH, "call_depth", "calls nested deeper than gpuprobe follows") \
	X(RING_FULL, "ring_full", "notices that did not fit the ring buffer") \
	X(NO_MEMORY, "no_memory", "records for which the kernel had no memory") \
	X(BATCH_TOO_LONG, "batch_too_long", \
	  "batched copies of more than 1,024 parts, whose bytes beyond are not counted") \
	X(ARRAY_ELEMENTS, "array_elements", \
	  "copies of arrays whose element size the runtime's call does not show: bytes not " \
	  "counted") \
	X(ARRAY_FORMAT, "array_format", "arrays of formats of unknown size: bytes not counted") \
	X(POOL_MAP_FULL, "pool_map_full", "calls whose memory pool had no room in a table") \
	X(UNMAP_TOO_LONG, "unmap_too_long", \
	  "unmappings of more than 16,384 mappings at once: the rest is not seen") \
	X(STACK_RING_FULL, "stack_ring_full", \
	  "stacks that did not fit the ring buffer: sent when they are seen again") \
	X(STACK_NO_ROOM, "stack_no_room", \
	  "calls whose stack could not be taken: no memory for it") \
	X(SITE_MAP_FULL, "site_map_full", "calls whose call site had no room in a table") \
	X(THREAD_ACCOUNTS, "thread_accounts", \
	  "calls of threads beyond 1,024 at a time, whose time is not profiled") \
	X(DURATION_MAP_FULL, "duration_map_full", \
	  "calls whose duration had no room in a histogram") \
	X(SIZE_MAP_FULL, "size_map_full", "allocations of sizes that had no room in a table") \
	X(COPY_SIZE_MAP_FULL, "copy_size_map_full", "copies whose size had no room in a table") \
	X(IGNORED_MAP_FULL, "ignored_map_full", "unchecked errors that had no room in a table") \
	X(MAPPED_COPY_MAP_FULL, "mapped_copy_map_full", \
	  "copies from mapped files that had no room in a table") \
	X(TARGET_MAP_FULL, "target_map_full", \
	  "copies to pinned memory that had no room in a table") \
	X(HANDED_OVER, "handed_over", \
	  "calls that lasted 5 s and more while probes went from one process to all: their " \
	  "return was not seen") \
	X(HOST_MAP_FULL, "host_map_full", \
	  "samples and sleeps of followed threads that had no room in a table: their time has no " \
	  "stack") \
	X(TENSOR_MAP_FULL, "tensor_map_full", "tensors beyond --max-tensors") \
	X(TENSOR_RING_FULL, "tensor_ring_full", \
	  "events of tensors that did not fit the ring buffer") \
	X(GPU_CALL_RING_FULL, "gpu_call_ring_full", \
	  "calls that did not fit the ring buffer: the GPU times of their work have no call") \
	X(UNREADABLE, "unreadable", "results that could not be read from the program's memory") \
	X(LIBRARY_SKIPPED, "library_skipped", \
	  "files of processes that may be CUDA libraries and got no probes: see the warnings") \
	X(ENDED_FORGOTTEN, "ended_forgotten", \
	  "ended processes that no report shows, too many or too large to keep until one was " \
	  "made") \
	X(ENDED_EARLY, "ended_early", \
	  "ended processes that no metrics page shows, too many or too large to keep until one " \
	  "was made")

enum loss {
#define LOSS_ENUMERATOR(id, name, text) LOSS_##id,
	LOSSES(LOSS_ENUMERATOR)
#undef LOSS_ENUMERATOR
	LOSS_COUNT,
};

#endif
