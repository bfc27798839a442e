// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NVTX ranges (include/gpuprobe/nvtx.h): sums up by name what a thread does between the beginning
 * and the end of a range, from the thread's profile. Only --nvtx loads it, with maps of the
 * monitor's object.
 */
#include "nvtx/steps.bpf.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* --- counters --- */

/* Global, as others here: the verifier goes through it once. */
__noinline int read_counters(struct counters *counters)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);
	struct thread_profile *profile;
	u32 number;

	if (!counters)
		return 0;
	counters->slot = thread ? thread->counter_slot : 0;
	number = counters->slot - 1;
	profile = bpf_map_lookup_elem(&thread_accounts, &number);
	if (!profile)
		return 0;
	counters->launches = profile->launches;
	for (u32 i = 0; i < TIME_CLASSES; i++)
		counters->time[i] = profile->time[i];
	return 0;
}

static __always_inline void add(u64 *sum, u64 amount)
{
	__sync_fetch_and_add(sum, amount);
}

/* A thread without a call before the range has counted from 0 since. */
__noinline int add_counters(struct nvtx_record *record, const struct frame *frame)
{
	struct counters after = {0};

	if (!record || !frame)
		return 0;
	read_counters(&after);
	if (after.slot == NO_COUNTER_SLOT ||
	    (frame->before.slot && frame->before.slot != after.slot)) {
		add(&record->unmeasured, 1);
		return 0;
	}
	add(&record->launches, after.launches - frame->before.launches);
	for (u32 i = 0; i < TIME_CLASSES; i++) {
		add(&record->time[i].calls, after.time[i].calls - frame->before.time[i].calls);
		add(&record->time[i].ns, after.time[i].ns - frame->before.time[i].ns);
	}
	return 0;
}

/* --- the ranges that are summed up --- */

__noinline int end_range(const struct nvtx_process *process, const struct frame *frame)
{
	u64 ns = bpf_ktime_get_boot_ns();
	struct nvtx_record *record;
	u64 name;

	if (!process || !frame)
		return 0;
	ns -= frame->begin_ns;
	name = frame->name;
	record = record_of(process, &name);
	if (!record) {
		count_lost(NVTX_LOST_RANGES);
		return 0;
	}
	add(&record->count, 1);
	add(&record->ns, ns);
	if (ns > record->max_ns)
		record->max_ns = ns;
	if (frame->tid == (s32)bpf_get_current_pid_tgid())
		return add_counters(record, frame);
	add(&record->unmeasured, 1);
	add(&record->uncalled, 1);
	return 0;
}

static __always_inline void begin_range(struct frame *frame, u64 name, u64 domain)
{
	frame->name = name;
	frame->domain = domain;
	frame->ended = 0;
	frame->is_step = 0;
	frame->tid = (s32)bpf_get_current_pid_tgid();
	__builtin_memset(&frame->before, 0, sizeof(frame->before));
	read_counters(&frame->before);
	frame->begin_ns = bpf_ktime_get_boot_ns();
}

/* --- ranges in each other --- */

static __always_inline void push(const struct nvtx_process *process, u64 name, u64 domain)
{
	struct open_ranges *open = own_ranges();
	struct frame *frame;

	if (!open || open->depth >= NVTX_DEPTH) {
		count_lost(NVTX_LOST_RANGES);
		if (open)
			open->beyond++;
		return;
	}
	frame = &open->frames[open->depth & (NVTX_DEPTH - 1)];
	begin_range(frame, counted_name(process, name), domain);
	if (begins_step(process, open, name))
		begin_range_step(open, frame, 0);
	open->depth++;
	renew_path(process);
}

static __always_inline void drop_ended(struct open_ranges *open)
{
	for (u32 i = 0; i < NVTX_DEPTH; i++) {
		u32 depth = open->depth;

		if (!depth || !open->frames[(depth - 1) & (NVTX_DEPTH - 1)].ended)
			return;
		open->depth = depth - 1;
	}
}

/* Ranges of domains end without regard to each other. */
static __always_inline void pop(const struct nvtx_process *process, u64 domain)
{
	struct open_ranges *open = own_ranges();

	if (!open)
		return;
	if (open->beyond) {
		open->beyond--;
		return;
	}
	for (u32 i = 1; i <= NVTX_DEPTH && i <= open->depth; i++) {
		struct frame *frame = &open->frames[(open->depth - i) & (NVTX_DEPTH - 1)];

		if (frame->ended || frame->domain != domain)
			continue;
		end_range_step(open, frame);
		end_range(process, frame);
		frame->ended = 1;
		break;
	}
	drop_ended(open);
	renew_path(process);
}

/* --- ranges with ids --- */

static __always_inline void start(const struct nvtx_process *process, u64 name, u64 id)
{
	struct nvtx_open_key key = {.process = *process, .id = id};
	struct open_ranges *open = own_ranges();
	bool is_step = begins_step(process, open, name);

	if (!open) {
		count_lost(NVTX_LOST_RANGES);
		return;
	}
	name = counted_name(process, name);
	begin_range(&open->scratch, name, 0);
	if (is_step)
		begin_range_step(open, &open->scratch, id);
	if (bpf_map_update_elem(&nvtx_open, &key, &open->scratch, BPF_ANY))
		count_lost(NVTX_LOST_RANGES);
	else
		add_started(process, open, name, id);
}

static __always_inline void end(const struct nvtx_process *process, u64 id)
{
	struct nvtx_open_key key = {.process = *process, .id = id};
	struct frame *frame = bpf_map_lookup_elem(&nvtx_open, &key);
	struct open_ranges *open = own_ranges();

	if (!frame)
		return;
	if (frame->tid == (s32)bpf_get_current_pid_tgid())
		end_range_step(open, frame);
	end_range(process, frame);
	bpf_map_delete_elem(&nvtx_open, &key);
	renew_path(process);
}

/* --- names --- */

static __always_inline void take_name(const struct nvtx_process *process, u64 name, u64 text)
{
	struct nvtx_name *record = bpf_ringbuf_reserve(&nvtx_names, sizeof(*record), 0);

	if (!record) {
		count_lost(NVTX_LOST_NAMES);
		return;
	}
	record->key.process = *process;
	record->key.name = name;
	if (bpf_probe_read_user_str(record->text, sizeof(record->text), (void *)text) < 0) {
		count_lost(NVTX_LOST_NAMES);
		bpf_ringbuf_discard(record, 0);
		return;
	}
	bpf_ringbuf_submit(record, 0);
}

/* Another gpuprobe's program may have loaded the same file. */
SEC("uprobe")
int nvtx(struct pt_regs *ctx)
{
	u64 function = bpf_get_attach_cookie(ctx);
	struct task_struct *task = bpf_get_current_task_btf();
	struct nvtx_process process = {
		.pid = pid_of(task->group_leader),
		.start_ns = BPF_CORE_READ(task, group_leader, start_boottime),
	};

	if (!process.pid || !pid_is_watched(process.pid))
		return 0;
	switch (function) {
	case NVTX_PUSH: push(&process, PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx)); break;
	case NVTX_POP: pop(&process, PT_REGS_PARM1(ctx)); break;
	case NVTX_START: start(&process, PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx)); break;
	case NVTX_END: end(&process, PT_REGS_PARM1(ctx)); break;
	case NVTX_NAME: take_name(&process, PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx)); break;
	default: break;
	}
	return 0;
}
