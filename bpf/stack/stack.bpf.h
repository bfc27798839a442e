// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The calling thread's stack, native and Python, and its id: see
 * include/gpuprobe/stack.h. A stack is built in storage of the thread's own,
 * and goes to userspace if its id is new.
 *
 * With frame pointers the id is a hash of the return addresses that the kernel
 * finds. A copy of the stack cannot be followed here: its id is a hash of
 * all words in it that may be return addresses, and of where they are. Two
 * different stacks differ in these; what data of former calls lies between
 * them may give one stack several ids.
 */
#ifndef BPF_STACK_STACK_BPF_H
#define BPF_STACK_STACK_BPF_H

#include "core/base.bpf.h"
#include "process/code_changes.bpf.h"
#include "stack/python.bpf.h"
#include "gpuprobe/stack.h"

#define HASH_FACTOR 0x9e3779b97f4a7c15ull
#define COPY_PIECE 4096 /* a page: what follows it may not be mapped */
#define COPY_WORDS (STACK_COPY_MAX / 8)
/* Words of no known process that may be return addresses: user addresses not so near above the stack pointer. */
#define STACK_REACH (8ull << 20)
#define LOWEST_CODE 0x10000
#define USER_BITS 47
#define CODE_PAGES_BITS 40 /* below which lie the pages of a code's version, above which its changes */

struct stack_scratch {
	struct python_scratch python;
	struct stack_record record;
};

/* The copy lies where the record ends. */
struct stack_copy_scratch {
	struct stack_scratch stack;
	u8 copy[STACK_COPY_MAX + COPY_PIECE];
};

/* One of the two is created, by config.stack_mode. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stack_scratch);
} stack_scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stack_copy_scratch);
} stack_copy_scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} stack_ring SEC(".maps");

/*
 * Ids that userspace has been told. One that leaves is told again. The value
 * is 0, or what userspace has found: another id whose stack is the same, by
 * which calls are to be counted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, u64);
} stacks_told SEC(".maps");

/* With STACK_AUTO, written by userspace: chains that lead to the stack's beginning. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, u8);
} whole_chains SEC(".maps");

/* pid in gpuprobe's namespace -> where it has code. Written by userspace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, s32);
	__type(value, struct code_map);
} code_maps SEC(".maps");

/* Whose stack is to be taken, and where. */
struct stack_place {
	u64 start_ns; /* of the process */
	u64 function;
	u32 owner;
	s32 pid;
	bool entering;	  /* the function's first instruction is next, else the one after the call */
	bool interrupted; /* wherever the thread is, not at a call */
};

static __always_inline u64 mix(u64 sum, u64 word)
{
	sum = (sum ^ word) * HASH_FACTOR;
	return sum ^ sum >> 32;
}

static __always_inline bool copies_stacks(void)
{
	return config.stack_mode > STACK_FP;
}

static __always_inline struct stack_scratch *stack_scratch(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stack_scratch *scratch;

	if (copies_stacks())
		scratch = bpf_task_storage_get(&stack_copy_scratches, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	else
		scratch = bpf_task_storage_get(&stack_scratches, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!scratch)
		lose(LOSS_STACK_NO_ROOM);
	return scratch;
}

/* The registers as they are after the call. The callee has changed none of the others yet, or has put them back. */
static __always_inline void keep_registers(struct stack_record *record, const struct pt_regs *regs,
					   const struct stack_place *place)
{
	record->registers.ip = regs->ip;
	record->registers.sp = regs->sp;
	if (place->entering) {
		if (bpf_probe_read_user(&record->registers.ip, sizeof(u64), (void *)regs->sp))
			record->registers.ip = 0;
		record->registers.sp += sizeof(u64);
	}
	record->registers.bp = regs->bp;
	record->registers.bx = regs->bx;
	record->registers.r12 = regs->r12;
	record->registers.r13 = regs->r13;
	record->registers.r14 = regs->r14;
	record->registers.r15 = regs->r15;
}

/*
 * The kernel walks frame pointers, and at a function's entry that of the caller
 * is not yet pushed: before Linux 6.10, and later where the function does not
 * begin with `push %rbp`, the caller is missed. The first address, which would
 * be the function's, is the caller's then; else it is 0 and does not count.
 */
static __always_inline void walk_native(struct stack_record *record, void *ctx, bool entering)
{
	long size = bpf_get_stack(ctx, record->native, sizeof(record->native), BPF_F_USER_STACK);

	record->natives = size < 0 ? 0 : size / sizeof(u64);
	if (record->natives >= STACK_FRAMES_MAX)
		record->flags |= STACK_CUT;
	if (!entering)
		return;
	record->native[0] = record->registers.ip;
	if (record->natives > 1 && record->native[1] == record->native[0])
		record->native[0] = 0;
	if (!record->natives)
		record->natives = 1;
}

/* Global, as the next: the verifier goes through them once. */
__noinline int walk_python_stack(struct stack_scratch *scratch)
{
	const struct python_target *target;
	u32 count;
	u64 sum;
	s32 pid;

	if (!scratch)
		return 0;
	pid = scratch->record.pid;
	target = bpf_map_lookup_elem(&python_targets, &pid);
	if (!target)
		return 0;
	count = walk_python(&(struct memory_of){}, target, &scratch->python, scratch->record.python, PYTHON_FRAMES_MAX, &sum);
	scratch->record.pythons = count > PYTHON_FRAMES_MAX + 1 ? 0 : count;
	return 0;
}

__noinline u64 hash_chain(const struct stack_scratch *scratch)
{
	const struct stack_record *record;
	u64 sum;

	if (!scratch)
		return 0;
	record = &scratch->record;
	sum = mix(config.stack_seed, record->start_ns ^ record->pid);
	for (u32 i = 0; i < STACK_FRAMES_MAX; i++) {
		if (i >= record->natives)
			break;
		sum = mix(sum, record->native[i]);
	}
	return sum;
}

__noinline u64 hash_python(const struct stack_scratch *scratch, u64 sum)
{
	const struct python_frame *frame;

	if (!scratch)
		return 0;
	for (u32 i = 0; i <= PYTHON_FRAMES_MAX; i++) {
		if (i >= scratch->record.pythons)
			break;
		frame = &scratch->record.python[i];
		sum = mix(mix(sum, frame->code), (u64)frame->checksum << 32 | frame->instruction);
	}
	return sum;
}

struct copy_hash {
	const u64 *words;
	const struct code_map *map; /* NULL: not known */
	u64 sum, sp;
	u32 count;
};

static __always_inline bool may_be_code(const struct copy_hash *hash, u64 word)
{
	u32 bit;

	if (!hash->map)
		return word >= LOWEST_CODE && !(word >> USER_BITS) && word - hash->sp > STACK_REACH;
	bit = code_map_bit(word) & (CODE_MAP_BITS - 1);
	return hash->map->bits[bit / 64] >> (bit % 64) & 1;
}

static long step_hash(u32 n, struct copy_hash *hash)
{
	u64 word;

	if (n >= hash->count || n >= COPY_WORDS)
		return 1;
	word = hash->words[n];
	if (may_be_code(hash, word))
		hash->sum = mix(hash->sum, word ^ (u64)n << 48);
	return 0;
}

/* Reads the stack from the stack pointer on, as far as it is mapped. Returns how many bytes. */
__noinline u32 copy_stack(struct stack_copy_scratch *scratch)
{
	u32 at = 0, size, left;
	u64 from;

	if (!scratch)
		return 0;
	from = scratch->stack.record.registers.sp;
	for (u32 i = 0; i <= STACK_COPY_MAX / COPY_PIECE; i++) {
		if (at >= config.stack_bytes)
			break;
		left = config.stack_bytes - at;
		size = COPY_PIECE - ((from + at) & (COPY_PIECE - 1));
		if (size > left)
			size = left;
		barrier_var(at);
		barrier_var(size);
		if (at >= STACK_COPY_MAX || size > COPY_PIECE)
			break;
		if (bpf_probe_read_user(scratch->copy + at, size, (void *)(from + at)))
			break;
		at += size;
	}
	return at & ~7u;
}

__noinline u64 hash_copy(const struct stack_copy_scratch *scratch)
{
	const struct stack_record *record;
	struct copy_hash hash = {};
	s32 pid;

	if (!scratch)
		return 0;
	record = &scratch->stack.record;
	pid = record->pid;
	hash.words = (const u64 *)scratch->copy;
	hash.map = bpf_map_lookup_elem(&code_maps, &pid);
	hash.sp = record->registers.sp;
	hash.count = record->copied / sizeof(u64);
	hash.sum = mix(config.stack_seed, record->start_ns ^ record->pid);
	hash.sum = mix(hash.sum, record->registers.ip);
	if (record->registers.bp - record->registers.sp < record->copied)
		hash.sum = mix(hash.sum, record->registers.bp - record->registers.sp);
	bpf_loop(COPY_WORDS, step_hash, &hash, 0);
	return hash.sum;
}

/* The hash of what lies below the Python frames, with a copy in place where there is to be one. */
static __always_inline u64 hash_native(struct stack_scratch *scratch)
{
	struct stack_record *record = &scratch->record;
	u64 chain = hash_chain(scratch);

	record->chain = chain;
	record->copied = 0;
	/* Python's frames tell what is to be known. */
	if (config.copies_native && record->pythons)
		return chain;
	/* bpf_loop: Linux 5.17. On older ones there are frame pointers alone. */
	if (!copies_stacks() || !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		return chain;
	if (config.stack_mode == STACK_AUTO && bpf_map_lookup_elem(&whole_chains, &chain))
		return chain;
	record->copied = copy_stack((struct stack_copy_scratch *)scratch);
	return hash_copy((struct stack_copy_scratch *)scratch);
}

static __always_inline void report_stack(struct stack_record *record)
{
	u32 size = sizeof(*record), copied = record->copied;
	u64 same = 0;

	if (copies_stacks()) {
		barrier_var(copied);
		if (copied > STACK_COPY_MAX)
			return;
		size += copied;
	}
	if (bpf_ringbuf_output(&stack_ring, record, size, 0))
		lose(LOSS_STACK_RING_FULL);
	else
		bpf_map_update_elem(&stacks_told, &record->id, &same, BPF_NOEXIST);
}

/* The pages alone do not tell a library from one of its size that takes its place. */
static __always_inline u64 version_of_code(s32 pid)
{
	return BPF_CORE_READ(bpf_get_current_task_btf(), mm, exec_vm) | code_changes_of(pid) << CODE_PAGES_BITS;
}

/*
 * Fills the record but for what its owner knows, and returns its id. `ctx` is the program's, `regs` are the thread's
 * own: of a uprobe's program they are the same.
 */
static __always_inline u64 read_stack(struct stack_scratch *scratch, void *ctx, const struct pt_regs *regs,
				      const struct stack_place *place)
{
	struct stack_record *record = &scratch->record;

	record->start_ns = place->start_ns;
	record->code_version = version_of_code(place->pid);
	record->function = place->function;
	record->owner = place->owner;
	record->pid = place->pid;
	record->pythons = 0;
	record->flags = place->interrupted ? STACK_INTERRUPTED : 0;
	keep_registers(record, regs, place);
	walk_native(record, ctx, place->entering);
	walk_python_stack(scratch);
	/* Where code was mapped or unmapped the same addresses may be another library's. */
	return mix(hash_python(scratch, mix(hash_native(scratch), place->function)), record->code_version);
}

/* The id that calls are counted by, if userspace has been told of the stack; else 0. An id is never 0. */
static __always_inline u64 reported_stack(struct stack_record *record, u64 id)
{
	const u64 *same;

	record->id = id ? id : 1;
	same = bpf_map_lookup_elem(&stacks_told, &record->id);
	if (!same)
		return 0;
	return *same ? *same : record->id;
}

#endif
