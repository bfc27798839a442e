// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The conventional way to trace CUDA calls, as the benchmark's reference: a program at the entry
 * and one at the return, the start time in a hash map by thread, and an event into a ring of 256
 * KiB at each of them. Unlike most such tools it counts the events that do not fit.
 */
#include "core/kernel.bpf.h"

#include "usual.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10240);
	__type(key, u32);
	__type(value, u64);
} starts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps");

__u64 lost;

static __always_inline struct usual_event *begin_event(struct pt_regs *ctx, u32 type, u64 now)
{
	struct usual_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	u64 id = bpf_get_current_pid_tgid();

	if (!event) {
		__sync_fetch_and_add(&lost, 1);
		return NULL;
	}
	event->time_ns = now;
	event->pid = id >> 32;
	event->tid = (u32)id;
	event->function = bpf_get_attach_cookie(ctx);
	event->type = type;
	bpf_get_current_comm(event->comm, sizeof(event->comm));
	return event;
}

SEC("uprobe")
int usual_enter(struct pt_regs *ctx)
{
	u32 tid = (u32)bpf_get_current_pid_tgid();
	u64 now = bpf_ktime_get_ns();
	struct usual_event *event;

	bpf_map_update_elem(&starts, &tid, &now, BPF_ANY);
	event = begin_event(ctx, USUAL_ENTER, now);
	if (!event)
		return 0;
	event->arguments[0] = PT_REGS_PARM1(ctx);
	event->arguments[1] = PT_REGS_PARM2(ctx);
	event->arguments[2] = PT_REGS_PARM3(ctx);
	event->duration_ns = 0;
	event->result = 0;
	bpf_ringbuf_submit(event, 0);
	return 0;
}

SEC("uretprobe")
int usual_leave(struct pt_regs *ctx)
{
	u32 tid = (u32)bpf_get_current_pid_tgid();
	u64 *start = bpf_map_lookup_elem(&starts, &tid);
	u64 now = bpf_ktime_get_ns(), duration_ns;
	struct usual_event *event;

	if (!start)
		return 0;
	duration_ns = now - *start;
	bpf_map_delete_elem(&starts, &tid);
	event = begin_event(ctx, USUAL_LEAVE, now);
	if (!event)
		return 0;
	event->duration_ns = duration_ns;
	event->result = PT_REGS_RC(ctx);
	__builtin_memset(event->arguments, 0, sizeof(event->arguments));
	bpf_ringbuf_submit(event, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
