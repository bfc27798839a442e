// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NVTX ranges (include/gpuprobe/nvtx.h): sums up by name what a thread does between the beginning
 * and the end of a range, from the thread's profile. Only --nvtx loads it, with maps of the
 * monitor's object.
 */
#include "call/thread_maps.bpf.h"
#include "core/task.bpf.h"
#include "gpuprobe/nvtx.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* A thread's counters at a moment. */
struct counters {
	u32 slot; /* the thread's counter slot; 0: it has made no call */
	u32 pad;
	u64 launches;
	struct time_totals time[TIME_CLASSES];
};

/* A range that is open. */
struct frame {
	u64 name, domain;
	u64 begin_ns;
	s32 tid;
	u32 ended; /* those above it have not */
	struct counters before;
};

/* The ranges in each other of a thread. */
struct open_ranges {
	u64 memory; /* of the program that they belong to: exec gives another one */
	u32 depth;
	u32 beyond; /* begun where there was no room */
	struct frame frames[NVTX_DEPTH];
};

struct open_key {
	struct nvtx_process process;
	u64 id;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct open_ranges);
} nvtx_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NVTX_OPEN);
	__type(key, struct open_key);
	__type(value, struct frame);
} nvtx_open SEC(".maps");

/* How many names each process has. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NVTX_PROCESSES);
	__type(key, struct nvtx_process);
	__type(value, u64);
} nvtx_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NVTX_ALL_NAMES);
	__type(key, struct nvtx_key);
	__type(value, struct nvtx_record);
} nvtx_ranges SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} nvtx_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NVTX_LOSSES);
	__type(key, u32);
	__type(value, u64);
} nvtx_lost SEC(".maps");

static __always_inline void count_lost(u32 what)
{
	u64 *lost = bpf_map_lookup_elem(&nvtx_lost, &what);

	if (lost)
		*lost += 1;
}

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

/* The number of the name under which the process's range counts; names of a process are limited. */
static __always_inline u64 limited_name(const struct nvtx_process *process, u64 name)
{
	struct nvtx_process key = *process; /* before Linux 6.2 a key cannot be an argument */
	u64 one = 1, *names = bpf_map_lookup_elem(&nvtx_processes, &key);

	if (!names)
		return bpf_map_update_elem(&nvtx_processes, &key, &one, BPF_NOEXIST) ? 0 : name;
	return __sync_fetch_and_add(names, 1) < NVTX_NAMES ? name : 0;
}

static __always_inline struct nvtx_record *record_of(const struct nvtx_process *process, u64 name)
{
	struct nvtx_key key = {.process = *process, .name = name};
	struct nvtx_record *record = bpf_map_lookup_elem(&nvtx_ranges, &key), empty = {0};

	if (record)
		return record;
	key.name = limited_name(process, name);
	bpf_map_update_elem(&nvtx_ranges, &key, &empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&nvtx_ranges, &key);
}

__noinline int end_range(const struct nvtx_process *process, const struct frame *frame)
{
	u64 ns = bpf_ktime_get_boot_ns();
	struct nvtx_record *record;

	if (!process || !frame)
		return 0;
	ns -= frame->begin_ns;
	record = record_of(process, frame->name);
	if (!record) {
		count_lost(NVTX_LOST_RANGES);
		return 0;
	}
	add(&record->count, 1);
	add(&record->ns, ns);
	if (ns > record->max_ns)
		record->max_ns = ns;
	if (frame->tid == (s32)bpf_get_current_pid_tgid())
		add_counters(record, frame);
	else
		add(&record->unmeasured, 1);
	return 0;
}

static __always_inline void begin_range(struct frame *frame, u64 name, u64 domain)
{
	frame->name = name;
	frame->domain = domain;
	frame->ended = 0;
	frame->tid = (s32)bpf_get_current_pid_tgid();
	__builtin_memset(&frame->before, 0, sizeof(frame->before));
	read_counters(&frame->before);
	frame->begin_ns = bpf_ktime_get_boot_ns();
}

/* --- ranges in each other --- */

/* exec leaves the storage, but not what was open in the program before it. */
static __always_inline struct open_ranges *own_ranges(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct open_ranges *open =
		bpf_task_storage_get(&nvtx_threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	u64 memory = (u64)task->mm;

	if (open && open->memory != memory) {
		open->memory = memory;
		open->depth = open->beyond = 0;
	}
	return open;
}

static __always_inline void push(u64 name, u64 domain)
{
	struct open_ranges *open = own_ranges();

	if (!open || open->depth >= NVTX_DEPTH) {
		count_lost(NVTX_LOST_RANGES);
		if (open)
			open->beyond++;
		return;
	}
	begin_range(&open->frames[open->depth & (NVTX_DEPTH - 1)], name, domain);
	open->depth++;
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
		end_range(process, frame);
		frame->ended = 1;
		break;
	}
	drop_ended(open);
}

/* --- ranges with ids --- */

static __always_inline void start(const struct nvtx_process *process, u64 name, u64 id)
{
	struct open_key key = {.process = *process, .id = id};
	struct frame frame = {0};

	begin_range(&frame, name, 0);
	if (bpf_map_update_elem(&nvtx_open, &key, &frame, BPF_ANY))
		count_lost(NVTX_LOST_RANGES);
}

static __always_inline void end(const struct nvtx_process *process, u64 id)
{
	struct open_key key = {.process = *process, .id = id};
	struct frame *frame = bpf_map_lookup_elem(&nvtx_open, &key);

	if (!frame)
		return;
	end_range(process, frame);
	bpf_map_delete_elem(&nvtx_open, &key);
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
	case NVTX_PUSH: push(PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx)); break;
	case NVTX_POP: pop(&process, PT_REGS_PARM1(ctx)); break;
	case NVTX_START: start(&process, PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx)); break;
	case NVTX_END: end(&process, PT_REGS_PARM1(ctx)); break;
	case NVTX_NAME: take_name(&process, PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx)); break;
	default: break;
	}
	return 0;
}
