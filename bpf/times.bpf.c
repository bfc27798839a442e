// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * GPU times (include/gpuprobe/gpu_times.h): copies what the library in the program hands over into
 * a ring. Only --gpu-times loads it, with maps of the monitor's object.
 */
#include "core/task.bpf.h"
#include "gpuprobe/gpu_times.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* Room for 160,000 pieces of work and their calls. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} gpu_times_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GPU_TIMES_LOSSES);
	__type(key, u32);
	__type(value, u64);
} gpu_times_lost SEC(".maps");

static __always_inline void count_lost(u32 what, u64 amount)
{
	u64 *lost = bpf_map_lookup_elem(&gpu_times_lost, &what);

	if (lost)
		*lost += amount;
}

static __always_inline void describe(struct gpu_times_head *head, u32 function, s32 pid)
{
	struct task_struct *task = bpf_get_current_task_btf();

	head->function = function;
	head->pid = pid;
	head->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
}

static __always_inline void take_work(struct pt_regs *ctx, s32 pid)
{
	u64 count = PT_REGS_PARM2(ctx);
	struct gpu_times_work *record;

	if (count > GPU_TIMES_BATCH)
		count = GPU_TIMES_BATCH;
	record = bpf_ringbuf_reserve(&gpu_times_ring, sizeof(*record), 0);
	if (!record) {
		count_lost(GPU_TIMES_LOST_WORK, count + PT_REGS_PARM3(ctx));
		return;
	}
	describe(&record->head, GPU_TIMES_WORK, pid);
	record->count = count;
	record->dropped = PT_REGS_PARM3(ctx);
	if (bpf_probe_read_user(record->work, sizeof(record->work), (void *)PT_REGS_PARM1(ctx))) {
		count_lost(GPU_TIMES_LOST_WORK, count + PT_REGS_PARM3(ctx));
		bpf_ringbuf_discard(record, 0);
		return;
	}
	bpf_ringbuf_submit(record, 0);
}

static __always_inline void take_name(struct pt_regs *ctx, s32 pid)
{
	struct gpu_times_name *record = bpf_ringbuf_reserve(&gpu_times_ring, sizeof(*record), 0);

	if (!record) {
		count_lost(GPU_TIMES_LOST_NAMES, 1);
		return;
	}
	describe(&record->head, GPU_TIMES_NAME, pid);
	record->name = PT_REGS_PARM1(ctx);
	if (bpf_probe_read_user_str(record->text, sizeof(record->text),
				    (void *)PT_REGS_PARM2(ctx)) < 0) {
		count_lost(GPU_TIMES_LOST_NAMES, 1);
		bpf_ringbuf_discard(record, 0);
		return;
	}
	bpf_ringbuf_submit(record, 0);
}

static __always_inline void take_failure(struct pt_regs *ctx, s32 pid)
{
	struct gpu_times_failure *record = bpf_ringbuf_reserve(&gpu_times_ring, sizeof(*record), 0);

	if (!record) {
		count_lost(GPU_TIMES_LOST_NAMES, 1);
		return;
	}
	describe(&record->head, GPU_TIMES_FAILURE, pid);
	record->code = PT_REGS_PARM1(ctx);
	if (bpf_probe_read_user_str(record->text, sizeof(record->text),
				    (void *)PT_REGS_PARM2(ctx)) < 0)
		record->text[0] = '\0';
	bpf_ringbuf_submit(record, 0);
}

static __always_inline void take_clock(struct pt_regs *ctx, s32 pid)
{
	u64 boot_ns = now();
	struct gpu_times_clock *record = bpf_ringbuf_reserve(&gpu_times_ring, sizeof(*record), 0);

	/* The next one does as well. */
	if (!record)
		return;
	describe(&record->head, GPU_TIMES_CLOCK, pid);
	record->cupti_ns = PT_REGS_PARM1(ctx);
	record->boot_ns = boot_ns;
	bpf_ringbuf_submit(record, 0);
}

/* Another gpuprobe's program may have loaded the same file. */
SEC("uprobe")
int gpu_times(struct pt_regs *ctx)
{
	u64 function = bpf_get_attach_cookie(ctx);
	s32 pid = pid_of(bpf_get_current_task_btf()->group_leader);

	if (!pid || !pid_is_watched(pid))
		return 0;
	if (function == GPU_TIMES_WORK)
		take_work(ctx, pid);
	else if (function == GPU_TIMES_NAME)
		take_name(ctx, pid);
	else if (function == GPU_TIMES_CLOCK)
		take_clock(ctx, pid);
	else
		take_failure(ctx, pid);
	return 0;
}
