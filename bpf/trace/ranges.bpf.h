// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NVTX ranges in a trace (--nvtx): an event when one begins, and another one with its name and its
 * time when it ends. The library in the program (inject/nvtx.c) tells of them.
 */
#ifndef BPF_TRACE_RANGES_BPF_H
#define BPF_TRACE_RANGES_BPF_H

#include "gpuprobe/nvtx.h"
#include "trace/event.bpf.h"

struct range_name {
	u64 domain_length;
	char text[NVTX_NAME_SIZE];
	char payload[NVTX_PAYLOAD_SIZE];
};

struct range_event {
	struct trace_event event;
	struct trace_range range;
};

struct traced_range {
	u64 domain, begin_ns;
	u64 ended; /* those above it have not */
	struct range_name name;
};

/* The ranges in each other of a thread, and the event that is being made. */
struct traced_ranges {
	u64 memory; /* of the program that they belong to: exec gives another one */
	u32 depth;
	u32 beyond; /* begun where there was no room */
	struct traced_range open[NVTX_DEPTH];
	struct range_event event;
	struct traced_range started;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct traced_ranges);
} traced_ranges SEC(".maps");

/* Ranges with ids that are open. Userspace makes room with --nvtx only. */
struct started_key {
	u32 process, pad; /* its number */
	u64 id;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct started_key);
	__type(value, struct traced_range);
} started_ranges SEC(".maps");

static __always_inline struct traced_ranges *ranges_of_thread(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct traced_ranges *ranges =
		bpf_task_storage_get(&traced_ranges, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	u64 memory = (u64)task->mm;

	if (ranges && ranges->memory != memory) {
		ranges->memory = memory;
		ranges->depth = ranges->beyond = 0;
	}
	return ranges;
}

static __always_inline void read_payload(struct range_name *name, u64 payload)
{
	if (bpf_probe_read_user_str(name->payload, sizeof(name->payload), (void *)payload) < 0)
		name->payload[0] = '\0';
}

/* A payload of the end counts instead of that of the beginning. */
static __always_inline void read_last_payload(struct range_name *name, u64 payload)
{
	char first = 0;

	if (!bpf_probe_read_user(&first, sizeof(first), (void *)payload) && first)
		read_payload(name, payload);
}

static __always_inline void read_name(struct range_name *name, u64 text, u64 domain_length,
				      u64 payload)
{
	read_payload(name, payload);
	if (bpf_probe_read_user_str(name->text, sizeof(name->text), (void *)text) < 0)
		name->text[0] = '\0';
	name->domain_length = domain_length;
}

/*
 * Sends the event, whose name and duration are set. Within a call, later events are waited for
 * anyway. Global: the verifier goes through it once.
 */
__noinline int put_range(struct traced_thread *thread, struct range_event *range, u32 function)
{
	volatile u64 *progress;
	u64 since;

	if (!thread || !range)
		return 0;
	progress = progress_of(thread);
	if (!progress)
		return 0;
	since = *progress;
	if (!since)
		*progress = TRACE_ENTERING;
	range->event.type = TRACE_RANGE;
	range->event.row = function;
	range->event.depth = thread->depth < TRACE_DEPTH ? thread->depth : TRACE_DEPTH - 1;
	range->event.words = 0;
	range->event.thread = thread->number;
	range->event.start_ns = now();
	if (range->event.duration_ns)
		range->event.duration_ns = range->event.start_ns - range->event.duration_ns;
	if ((!thread->announced && announce(thread)) ||
	    bpf_ringbuf_output(&ring, range, sizeof(*range), wake_flags(sizeof(*range))))
		lose_call(TRACE_LOST_RANGE);
	if (!since)
		*progress = 0;
	return 0;
}

/* The event of a name; `begin_ns` is 0 if no range ends. */
static __always_inline void describe_range(struct range_event *event, const struct range_name *name,
					   u64 begin_ns, u64 id)
{
	event->range.id = id;
	event->event.duration_ns = begin_ns;
	event->range.domain_length = name->domain_length;
	__builtin_memcpy(event->range.text, name->text, sizeof(name->text));
	__builtin_memcpy(event->range.payload, name->payload, sizeof(name->payload));
}

static __always_inline void push_range(struct traced_thread *thread, struct traced_ranges *ranges,
				       struct pt_regs *ctx)
{
	struct traced_range *range = &ranges->open[ranges->depth & (NVTX_DEPTH - 1)];

	if (ranges->depth >= NVTX_DEPTH) {
		ranges->beyond++;
		lose_call(TRACE_LOST_RANGE);
		return;
	}
	ranges->depth++;
	range->domain = ctx->si;
	range->ended = 0;
	read_name(&range->name, ctx->dx, ctx->cx, ctx->r8);
	describe_range(&ranges->event, &range->name, 0, 0);
	put_range(thread, &ranges->event, NVTX_PUSH);
	range->begin_ns = ranges->event.event.start_ns;
}

static __always_inline void forget_ended_ranges(struct traced_ranges *ranges)
{
	for (u32 i = 0; i < NVTX_DEPTH; i++) {
		u32 depth = ranges->depth;

		if (!depth || !ranges->open[(depth - 1) & (NVTX_DEPTH - 1)].ended)
			return;
		ranges->depth = depth - 1;
	}
}

/* The latest open range of the domain, or NULL. */
static __always_inline struct traced_range *latest_range(struct traced_ranges *ranges, u64 domain)
{
	for (u32 i = 1; i <= NVTX_DEPTH && i <= ranges->depth; i++) {
		struct traced_range *range = &ranges->open[(ranges->depth - i) & (NVTX_DEPTH - 1)];

		if (!range->ended && range->domain == domain)
			return range;
	}
	return NULL;
}

/* Ranges of domains end without regard to each other. */
static __always_inline void pop_range(struct traced_thread *thread, struct traced_ranges *ranges,
				      u64 domain, u64 payload)
{
	struct traced_range *range;

	if (ranges->beyond) {
		ranges->beyond--;
		return;
	}
	range = latest_range(ranges, domain);
	if (!range)
		return;
	range->ended = 1;
	read_last_payload(&range->name, payload);
	describe_range(&ranges->event, &range->name, range->begin_ns, 0);
	put_range(thread, &ranges->event, NVTX_POP);
	forget_ended_ranges(ranges);
}

static __always_inline void start_range(struct traced_thread *thread, struct traced_ranges *ranges,
					struct pt_regs *ctx)
{
	struct started_key key = {.process = thread->process, .id = ctx->si};

	read_name(&ranges->started.name, ctx->dx, ctx->cx, ctx->r8);
	describe_range(&ranges->event, &ranges->started.name, 0, key.id);
	put_range(thread, &ranges->event, NVTX_START);
	ranges->started.begin_ns = ranges->event.event.start_ns;
	if (bpf_map_update_elem(&started_ranges, &key, &ranges->started, BPF_ANY))
		lose_call(TRACE_LOST_RANGE);
}

static __always_inline void end_range(struct traced_thread *thread, struct traced_ranges *ranges,
				      u64 id, u64 payload)
{
	struct started_key key = {.process = thread->process, .id = id};
	struct traced_range *range = bpf_map_lookup_elem(&started_ranges, &key);

	if (!range)
		return;
	read_last_payload(&range->name, payload);
	describe_range(&ranges->event, &range->name, range->begin_ns, id);
	bpf_map_delete_elem(&started_ranges, &key);
	put_range(thread, &ranges->event, NVTX_END);
}

static __always_inline void mark_moment(struct traced_thread *thread, struct traced_ranges *ranges,
					struct pt_regs *ctx)
{
	read_name(&ranges->started.name, ctx->di, ctx->si, ctx->dx);
	describe_range(&ranges->event, &ranges->started.name, 0, 0);
	put_range(thread, &ranges->event, NVTX_MARK);
}

static __always_inline void trace_range(struct pt_regs *ctx)
{
	u64 function = bpf_get_attach_cookie(ctx);
	struct traced_thread *thread = tracing_thread();
	struct traced_ranges *ranges = thread ? ranges_of_thread() : NULL;

	if (!thread)
		return;
	if (!ranges) {
		lose_call(TRACE_LOST_RANGE);
		return;
	}
	switch (function) {
	case NVTX_PUSH: push_range(thread, ranges, ctx); break;
	case NVTX_POP: pop_range(thread, ranges, ctx->di, ctx->si); break;
	case NVTX_START: start_range(thread, ranges, ctx); break;
	case NVTX_END: end_range(thread, ranges, ctx->di, ctx->si); break;
	case NVTX_MARK: mark_moment(thread, ranges, ctx); break;
	default: break;
	}
}

#endif
