// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How many kernels a graph runs: nodes added and launches captured. Copies and executable graphs
 * inherit the number, and each launch of the graph counts it. Graphs whose size cannot be known are
 * marked, see struct graph_record.
 */
#ifndef BPF_LAUNCH_GRAPH_BPF_H
#define BPF_LAUNCH_GRAPH_BPF_H

#include "launch/capture.bpf.h"
#include "object/live.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct graph_key);
	__type(value, struct graph_record);
} graphs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct graph_key);
	__type(value, struct graph_exec_record);
} graph_execs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct graph_key);
	__type(value, struct graph_node_record);
} graph_nodes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct disabled_node_key);
	__type(value, u64);
} disabled_nodes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct graph_run_key);
	__type(value, u64);
} graph_runs SEC(".maps");

/* call.arg of an added node */
#define NODE_OUT 0
#define NODE_GRAPH 1
#define NODE_KERNELS 2
/* call.arg of a removed or disabled node */
#define NODE_HANDLE 0
#define NODE_GRAPH_START 3
#define NODE_EXEC 1
#define NODE_ENABLED 2
/* call.arg of calls that create graphs and executable graphs */
#define GRAPH_OUT 0
#define GRAPH_HANDLE 1
/* call.arg of a graph launch */
#define RUN_KERNELS 0
#define RUN_CAPTURE 1
#define RUN_EXEC 2
/* call.flag of an added or removed node */
#define NODE_IS_UNKNOWN 0x01 /* its number of kernels is unknown, or it has no record */
/* it contains nodes; for a removed one: its number of kernels is unknown */
#define NODE_OPENS 0x02

/* CUgraphNodeType */
#define NODE_TYPE_KERNEL 0
#define NODE_TYPE_GRAPH 4
#define NODE_EVENT_RECORD 7
/* CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; later types decide themselves which kernels run */
#define NODE_TYPE_LAST_PLAIN 12
#define GRAPH_DEPTH 4	      /* levels of embedded graphs that are followed */
#define NODE_PARAMS_HANDLE 16 /* offset of graph.graph and eventRecord.event in CUgraphNodeParams */

static __always_inline int read_handle(u64 address, u64 *handle)
{
	if (!bpf_probe_read_user(handle, sizeof(*handle), (void *)address))
		return 0;
	lose(LOSS_UNREADABLE);
	return -1;
}

static __always_inline struct graph_record *graph_at(u32 slot, u64 graph)
{
	struct graph_key key = {.handle = graph, .slot = slot};

	return bpf_map_lookup_elem(&graphs, &key);
}

static __always_inline u32 node_doubts(u32 slot)
{
	struct process_record *process = process_at(slot);

	return process ? process->node_doubts : 0;
}

static __always_inline void raise_doubts(u32 slot)
{
	struct process_record *process = process_at(slot);

	if (process)
		__sync_fetch_and_add(&process->node_doubts, 1);
}

/* Whether the graph's size is known; stores it in *kernels. */
static __always_inline bool graph_size(u32 slot, u64 graph, u64 *kernels)
{
	struct graph_record *record = graph_at(slot, graph);

	*kernels = 0;
	if (!record || record->unknown || (record->open && record->doubts != node_doubts(slot)))
		return false;
	*kernels = record->kernels;
	return true;
}

static __always_inline void set_graph(u32 slot, u64 graph, const struct graph_record *record)
{
	struct graph_key key = {.handle = graph, .slot = slot};
	int error = bpf_map_update_elem(&graphs, &key, record, BPF_ANY);

	if (error)
		lose_update(error, LOSS_GRAPH_MAP_FULL);
}

/* Nothing is known of the graph, whatever was known of an earlier one with this handle. */
static __always_inline void forget_graph(u32 slot, u64 graph)
{
	struct graph_key key = {.handle = graph, .slot = slot};

	bpf_map_delete_elem(&graphs, &key);
}

/* The program can get the graph while it is captured, and may also add nodes to it explicitly. */
static __always_inline void graph_in_capture(u32 slot, u64 graph, u64 id)
{
	struct graph_record record = {
		.start_ns = now(), .capture = id, .doubts = node_doubts(slot), .open = 1};
	struct capture_record *capture = capture_at(slot, id);
	struct graph_record *known = graph_at(slot, graph);

	if (!graph || !capture || capture->into == graph || (known && known->capture == id))
		return;
	set_graph(slot, graph, &record);
}

/* The capture `id`, whose last state was `last`, has become the graph. */
static __always_inline void graph_captured(u32 slot, u64 graph, u64 id,
					   const struct capture_record *last)
{
	struct graph_record *known = graph_at(slot, graph), record = {.open = 1};

	if (known && (last->into == graph || (id && known->capture == id))) {
		__sync_fetch_and_add(&known->kernels, last->kernels);
		if (last->unknown)
			known->unknown = 1;
		if (!known->open)
			known->doubts = node_doubts(slot);
		known->open = 1;
		known->capture = 0;
		return;
	}
	if (last->unknown || last->into) {
		forget_graph(slot, graph);
		return;
	}
	record.kernels = last->kernels;
	record.start_ns = now();
	record.doubts = node_doubts(slot);
	set_graph(slot, graph, &record);
}

static __always_inline void node_of_params(u64 params, struct call *call, u32 slot)
{
	u64 handle = 0;
	u32 type;

	if (bpf_probe_read_user(&type, sizeof(type), (void *)params)) {
		lose(LOSS_UNREADABLE);
		call->flag |= NODE_IS_UNKNOWN;
		return;
	}
	if (type == NODE_TYPE_KERNEL)
		call->arg[NODE_KERNELS] = 1;
	else if (type > NODE_TYPE_LAST_PLAIN)
		call->flag |= NODE_IS_UNKNOWN;
	if (type == NODE_EVENT_RECORD && !read_handle(params + NODE_PARAMS_HANDLE, &handle))
		recorded_elsewhere(slot, handle);
	if (type != NODE_TYPE_GRAPH)
		return;
	call->flag |= NODE_OPENS;
	if (read_handle(params + NODE_PARAMS_HANDLE, &handle) ||
	    !graph_size(slot, handle, &call->arg[NODE_KERNELS]))
		call->flag |= NODE_IS_UNKNOWN;
}

static __always_inline void add_node_enter(struct pt_regs *ctx,
					   const volatile struct function_desc *function, u32 slot,
					   struct call *call)
{
	call->arg[NODE_OUT] = argument(ctx, function, ROLE_OUT);
	call->arg[NODE_GRAPH] = argument(ctx, function, ROLE_GRAPH);
	call->arg[NODE_KERNELS] = call->kind == GRAPH_ADD_KERNEL;
	if (has_role(function, ROLE_EVENT))
		recorded_elsewhere(slot, argument(ctx, function, ROLE_EVENT));
	if (call->kind == GRAPH_ADD_NODE) {
		node_of_params(argument(ctx, function, ROLE_PARAMS), call, slot);
	} else if (call->kind == GRAPH_ADD_CHILD) {
		call->flag |= NODE_OPENS;
		if (!graph_size(slot, argument(ctx, function, ROLE_CHILD),
				&call->arg[NODE_KERNELS]))
			call->flag |= NODE_IS_UNKNOWN;
	}
}

/* From here on the graph has nodes without a record. */
static __always_inline void open_graph(u32 slot, struct graph_record *graph)
{
	if (!graph->open)
		graph->doubts = node_doubts(slot);
	graph->open = 1;
}

/* The node's record, if its graph still exists. */
static __always_inline struct graph_node_record *node_at(u32 slot, u64 handle)
{
	struct graph_key key = {.handle = handle, .slot = slot};
	struct graph_node_record *node = bpf_map_lookup_elem(&graph_nodes, &key);
	struct graph_record *graph;

	if (!node)
		return NULL;
	graph = graph_at(slot, node->graph);
	return graph && graph->start_ns == node->graph_start_ns ? node : NULL;
}

/* Adds kernels to the graph, and to the graphs that it is embedded in. */
static __noinline int graph_grows(u32 slot, struct graph_record *graph, u64 kernels, u32 unknown)
{
	struct graph_node_record *node;

	for (int i = 0; i < GRAPH_DEPTH && graph; i++) {
		__sync_fetch_and_add(&graph->kernels, kernels);
		if (unknown)
			graph->unknown = 1;
		if (!graph->embedded)
			return 0;
		node = node_at(slot, graph->node);
		if (!node)
			break;
		__sync_fetch_and_add(&node->kernels, kernels);
		if (unknown)
			node->unknown = 1;
		graph = graph_at(slot, node->graph);
	}
	/* The enclosing node is unknown, or nested too deep. */
	raise_doubts(slot);
	return 0;
}

static __always_inline void node_added(u32 slot, const struct call *call)
{
	struct graph_record *graph = graph_at(slot, call->arg[NODE_GRAPH]);
	struct graph_node_record node = {
		.graph = call->arg[NODE_GRAPH],
		.kernels = call->arg[NODE_KERNELS],
		.unknown = call->flag & NODE_IS_UNKNOWN,
	};
	struct graph_key key = {.slot = slot};

	if (!graph)
		return;
	graph_grows(slot, graph, node.kernels, node.unknown);
	node.graph_start_ns = graph->start_ns;
	if (read_handle(call->arg[NODE_OUT], &key.handle) ||
	    bpf_map_update_elem(&graph_nodes, &key, &node, BPF_ANY) || call->flag & NODE_OPENS)
		open_graph(slot, graph);
}

static __always_inline void remove_node_enter(struct pt_regs *ctx,
					      const volatile struct function_desc *function,
					      u32 slot, struct call *call)
{
	struct graph_key key = {.handle = argument(ctx, function, ROLE_HANDLE), .slot = slot};
	struct graph_node_record *node = node_at(slot, key.handle);

	call->arg[NODE_HANDLE] = key.handle;
	if (!node) {
		call->flag = NODE_IS_UNKNOWN;
		return;
	}
	call->arg[NODE_GRAPH] = node->graph;
	call->arg[NODE_KERNELS] = node->kernels;
	call->arg[NODE_GRAPH_START] = node->graph_start_ns;
	call->flag = node->unknown ? NODE_OPENS : 0;
	bpf_map_delete_elem(&graph_nodes, &key);
}

static __always_inline void remove_node_leave(u32 slot, const struct call *call, s32 result)
{
	struct graph_key key = {.handle = call->arg[NODE_HANDLE], .slot = slot};
	struct graph_node_record node = {
		.graph = call->arg[NODE_GRAPH],
		.graph_start_ns = call->arg[NODE_GRAPH_START],
		.kernels = call->arg[NODE_KERNELS],
		.unknown = !!(call->flag & NODE_OPENS),
	};
	struct graph_record *graph;

	if (call->flag & NODE_IS_UNKNOWN) {
		if (!result)
			raise_doubts(slot);
		return;
	}
	graph = graph_at(slot, node.graph);
	if (result) {
		if (bpf_map_update_elem(&graph_nodes, &key, &node, BPF_NOEXIST) && graph)
			open_graph(slot, graph);
		return;
	}
	if (!graph || graph->start_ns != node.graph_start_ns)
		return;
	graph_grows(slot, graph, -node.kernels, 0);
}

/*
 * The handle may be reused before the call has returned: a graph created meanwhile has its own
 * record, which is not leaving.
 */
static __always_inline void graph_leaves(u32 slot, u64 graph)
{
	struct graph_record *record = graph_at(slot, graph);

	if (record)
		record->leaving = 1;
}

static __always_inline void graph_left(u32 slot, u64 graph, s32 result)
{
	struct graph_record *record = graph_at(slot, graph);

	if (!record || !record->leaving)
		return;
	record->leaving = 0;
	if (!result)
		forget_graph(slot, graph);
}

static __always_inline struct graph_exec_record *exec_at(u32 slot, u64 exec)
{
	struct graph_key key = {.handle = exec, .slot = slot};

	return bpf_map_lookup_elem(&graph_execs, &key);
}

static __always_inline void forget_exec(u32 slot, u64 exec)
{
	struct graph_key key = {.handle = exec, .slot = slot};

	bpf_map_delete_elem(&graph_execs, &key);
}

static __always_inline void exec_leaves(u32 slot, u64 exec)
{
	struct graph_exec_record *record = exec_at(slot, exec);

	if (record)
		record->leaving = 1;
}

static __always_inline void exec_left(u32 slot, u64 exec, s32 result)
{
	struct graph_exec_record *record = exec_at(slot, exec);

	if (!record || !record->leaving)
		return;
	record->leaving = 0;
	if (!result)
		forget_exec(slot, exec);
}

static __always_inline u8 object_of(u8 change)
{
	return change == GRAPH_DESTROY_EXEC || change == GRAPH_INSTANTIATE ? OBJECT_GRAPH_EXEC :
									     OBJECT_GRAPH;
}

static __always_inline void destroy_enter(struct pt_regs *ctx,
					  const volatile struct function_desc *function, u32 slot,
					  struct call *call)
{
	bool is_exec = call->kind == GRAPH_DESTROY_EXEC;
	u64 handle = argument(ctx, function, is_exec ? ROLE_GRAPHEXEC : ROLE_GRAPH);

	call->arg[OBJECT_HANDLE] = handle;
	call->flag = object_ends(slot, call, object_of(call->kind), handle);
	if (is_exec)
		exec_leaves(slot, handle);
	else
		graph_leaves(slot, handle);
}

static __always_inline void destroy_leave(u32 slot, const struct call *call, s32 result)
{
	u64 handle = call->arg[OBJECT_HANDLE];

	if (call->kind == GRAPH_DESTROY_EXEC)
		exec_left(slot, handle, result);
	else
		graph_left(slot, handle, result);
	if (result && call->flag)
		object_lives_on(slot, call, object_of(call->kind), handle);
}

static __noinline int graph_enter(struct pt_regs *ctx,
				  const volatile struct function_desc *function,
				  struct thread *thread, struct call *call)
{
	call->kind = function->kind;
	switch (call->kind) {
	case GRAPH_ADD_KERNEL:
	case GRAPH_ADD_CHILD:
	case GRAPH_ADD_NODE:
	case GRAPH_ADD_OTHER: add_node_enter(ctx, function, thread->slot, call); return 0;
	case GRAPH_REMOVE_NODE: remove_node_enter(ctx, function, thread->slot, call); return 0;
	case GRAPH_ENABLE_NODE:
		call->arg[NODE_HANDLE] = argument(ctx, function, ROLE_HANDLE);
		call->arg[NODE_EXEC] = argument(ctx, function, ROLE_GRAPHEXEC);
		call->arg[NODE_ENABLED] = argument(ctx, function, ROLE_FLAGS);
		return 0;
	case GRAPH_DESTROY:
	case GRAPH_DESTROY_EXEC: destroy_enter(ctx, function, thread->slot, call); return 0;
	case GRAPH_EMBEDDED: call->arg[GRAPH_HANDLE] = argument(ctx, function, ROLE_HANDLE); break;
	default: call->arg[GRAPH_HANDLE] = argument(ctx, function, ROLE_GRAPH);
	}
	call->arg[GRAPH_OUT] = argument(ctx, function, ROLE_OUT);
	return 0;
}

/* An empty graph, or a copy, none of whose nodes has a record. */
static __always_inline void graph_made(u32 slot, struct call *call)
{
	struct graph_record record = {.start_ns = now(), .doubts = node_doubts(slot)};
	u64 graph;

	if (read_handle(call->arg[GRAPH_OUT], &graph))
		return;
	object_begins(slot, call, OBJECT_GRAPH, graph, 0);
	record.open = call->kind == GRAPH_CLONE;
	if (call->kind == GRAPH_CLONE &&
	    !graph_size(slot, call->arg[GRAPH_HANDLE], &record.kernels))
		forget_graph(slot, graph);
	else
		set_graph(slot, graph, &record);
}

/*
 * The program got the graph inside a node and may change it, which changes the graph that contains
 * the node.
 */
static __always_inline void graph_embedded(u32 slot, const struct call *call)
{
	struct graph_record record = {
		.start_ns = now(), .doubts = node_doubts(slot), .open = 1, .embedded = 1};
	struct graph_node_record *node = node_at(slot, call->arg[GRAPH_HANDLE]);
	struct graph_record *known;
	u64 graph;

	if (read_handle(call->arg[GRAPH_OUT], &graph))
		return;
	known = graph_at(slot, graph);
	if (known && known->embedded && known->node == call->arg[GRAPH_HANDLE])
		return;
	record.node = call->arg[GRAPH_HANDLE];
	record.unknown = !node || node->unknown;
	record.kernels = node ? node->kernels : 0;
	set_graph(slot, graph, &record);
}

static __always_inline void graph_instantiated(u32 slot, struct call *call)
{
	struct graph_exec_record exec = {.start_ns = now()};
	struct graph_key key = {.slot = slot};
	int error;

	if (read_handle(call->arg[GRAPH_OUT], &key.handle))
		return;
	object_begins(slot, call, OBJECT_GRAPH_EXEC, key.handle, 0);
	if (!graph_size(slot, call->arg[GRAPH_HANDLE], &exec.kernels)) {
		forget_exec(slot, key.handle);
		return;
	}
	error = bpf_map_update_elem(&graph_execs, &key, &exec, BPF_ANY);
	if (error)
		lose_update(error, LOSS_GRAPH_MAP_FULL);
}

/* A node of the executable graph is now disabled or enabled. */
static __always_inline void node_switched(u32 slot, const struct call *call)
{
	struct disabled_node_key key = {
		.exec = call->arg[NODE_EXEC],
		.node = call->arg[NODE_HANDLE],
		.slot = slot,
	};
	struct graph_exec_record *exec = exec_at(slot, key.exec);
	struct graph_node_record *node = node_at(slot, key.node);
	bool enabled = call->arg[NODE_ENABLED], was_enabled;
	u64 start_ns, *disabled;

	if (!exec)
		return;
	if (!node || node->unknown)
		goto unknown;
	disabled = bpf_map_lookup_elem(&disabled_nodes, &key);
	was_enabled = !disabled || *disabled != exec->start_ns;
	if (enabled == was_enabled)
		return;
	if (enabled) {
		bpf_map_delete_elem(&disabled_nodes, &key);
		__sync_fetch_and_add(&exec->kernels, node->kernels);
		return;
	}
	start_ns = exec->start_ns;
	if (!bpf_map_update_elem(&disabled_nodes, &key, &start_ns, BPF_ANY)) {
		__sync_fetch_and_add(&exec->kernels, -node->kernels);
		return;
	}
unknown:
	forget_exec(slot, key.exec);
}

static __noinline int graph_changes(u32 slot, struct call *call, s32 result)
{
	if (!call)
		return 0;
	switch (call->kind) {
	case GRAPH_REMOVE_NODE: remove_node_leave(slot, call, result); return 0;
	case GRAPH_DESTROY:
	case GRAPH_DESTROY_EXEC: destroy_leave(slot, call, result); return 0;
	}
	if (result)
		return 0;
	switch (call->kind) {
	case GRAPH_ADD_KERNEL:
	case GRAPH_ADD_CHILD:
	case GRAPH_ADD_NODE:
	case GRAPH_ADD_OTHER: node_added(slot, call); break;
	case GRAPH_CREATE:
	case GRAPH_CLONE: graph_made(slot, call); break;
	case GRAPH_EMBEDDED: graph_embedded(slot, call); break;
	case GRAPH_INSTANTIATE: graph_instantiated(slot, call); break;
	case GRAPH_ENABLE_NODE: node_switched(slot, call); break;
	}
	return 0;
}

__noinline int graph_leave(struct thread *thread, struct call *call, s32 result)
{
	bool destroys;

	if (!thread || !call)
		return 0;
	destroys = call->kind == GRAPH_DESTROY || call->kind == GRAPH_DESTROY_EXEC;
	graph_changes(thread->slot, call, result);
	if (is_end_of_driver(result) && destroys)
		return 0;
	if (result)
		count_failure(thread->slot, call, call->kind, 0, result);
	else
		count_success(thread->slot, call, call->kind,
			      destroys && !call->flag ? TALLY_UNTRACKED : 0, 0);
	return 0;
}

/*
 * The size is read at entry: another thread may destroy the executable graph once it has been
 * launched.
 */
static __noinline int graph_launch_enter(struct pt_regs *ctx,
					 const volatile struct function_desc *function,
					 struct thread *thread, struct call *call)
{
	u64 handle = argument(ctx, function, ROLE_GRAPHEXEC);
	struct graph_exec_record *exec = exec_at(thread->slot, handle);

	call->arg[RUN_EXEC] = handle;
	call->kind = exec ? GRAPH_SIZE_KNOWN : GRAPH_SIZE_UNKNOWN;
	call->arg[RUN_KERNELS] = exec ? exec->kernels : 0;
	call->arg[RUN_CAPTURE] = capture_of(thread, function, argument(ctx, function, ROLE_STREAM));
	return 0;
}

static __always_inline void count_run(u32 slot, const struct call *call)
{
	struct graph_run_key key = {
		.kernels = call->arg[RUN_KERNELS],
		.slot = slot,
		.unknown = call->kind == GRAPH_SIZE_UNKNOWN,
	};
	u64 *count = bpf_map_lookup_elem(&graph_runs, &key), zero = 0;
	int error;

	if (!count) {
		error = bpf_map_update_elem(&graph_runs, &key, &zero, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&graph_runs, &key);
		if (!count) {
			lose_update(error, LOSS_GRAPH_MAP_FULL);
			return;
		}
	}
	__sync_fetch_and_add(count, 1);
}

static __noinline int graph_launch_leave(struct thread *thread, struct call *call, s32 result)
{
	u64 capture;

	if (!thread || !call)
		return 0;
	capture = call->arg[RUN_CAPTURE];
	if (result) {
		count_failure(thread->slot, call, call->kind, capture ? TALLY_CAPTURED : 0, result);
		return 0;
	}
	count_success(thread->slot, call, call->kind, capture ? TALLY_CAPTURED : 0, 0);
	if (capture)
		capture_add(thread->slot, capture, call->arg[RUN_KERNELS],
			    call->kind == GRAPH_SIZE_UNKNOWN);
	else
		count_run(thread->slot, call);
	return 0;
}

#endif
