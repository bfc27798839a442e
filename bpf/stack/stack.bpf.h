// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The calling thread's stack, native and Python, and its id, see include/gpuprobe/stack.h. A stack
 * is built in the thread's own storage, and sent to userspace if its id is new.
 *
 * With frame pointers the id is a hash of the return addresses that the kernel finds. A copied
 * stack cannot be unwound here: its id is a hash of all words that may be return addresses, and of
 * their positions. Different stacks differ in these; leftover data of former calls may give one
 * stack several ids.
 */
#ifndef BPF_STACK_STACK_BPF_H
#define BPF_STACK_STACK_BPF_H

#include "core/base.bpf.h"
#include "process/code_changes.bpf.h"
#include "stack/python.bpf.h"
#include "gpuprobe/stack.h"

#define HASH_FACTOR 0x9e3779b97f4a7c15ull
#define COPY_PIECE 4096 /* a page: the next one may be unmapped */
#define COPY_WORDS (STACK_COPY_MAX / 8)
/*
 * For an unknown process, words that may be return addresses: user addresses that are not this
 * close above the stack pointer.
 */
#define STACK_REACH (8ull << 20)
#define LOWEST_CODE 0x10000
#define USER_BITS 47
/* lower bits of a code version that count executable pages; the upper bits count changes */
#define CODE_PAGES_BITS 40

struct stack_scratch {
	struct python_scratch python;
	struct stack_record record;
};

/* The copy begins where the record ends. */
struct stack_copy_scratch {
	struct stack_scratch stack;
	u8 copy[STACK_COPY_MAX + COPY_PIECE];
};

/* config.stack_mode decides which of the two is created. */
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
 * Ids of stacks that were sent to userspace. An evicted id is sent again. The value is 0, or, set
 * by userspace, another id with the same stack, under which calls are counted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, u64);
} stacks_told SEC(".maps");

/* With STACK_AUTO: chains that reach the bottom of the stack. Written by userspace. */
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

/* Whose stack to take, and where. */
struct stack_origin {
	u64 start_ns; /* start of the process */
	u64 function;
	u32 owner;
	s32 pid;
	/* at the function's first instruction; otherwise at the one after the call */
	bool entering;
	bool interrupted; /* the thread is anywhere, not at a call */
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
		scratch = bpf_task_storage_get(&stack_copy_scratches, task, 0,
					       BPF_LOCAL_STORAGE_GET_F_CREATE);
	else
		scratch = bpf_task_storage_get(&stack_scratches, task, 0,
					       BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!scratch)
		lose(LOSS_STACK_NO_ROOM);
	return scratch;
}

/*
 * The registers as they are after the call. The callee has not changed the others yet, or has
 * restored them.
 */
static __always_inline void keep_registers(struct stack_record *record, const struct pt_regs *regs,
					   const struct stack_origin *origin)
{
	record->registers.ip = regs->ip;
	record->registers.sp = regs->sp;
	if (origin->entering) {
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
 * The kernel walks frame pointers, and at a function's entry the caller's is not pushed yet. So the
 * caller is missed before Linux 6.10, and later if the function does not begin with `push %rbp`. At
 * an entry the first address, which would be the function's own, is replaced by the caller's; it is
 * set to 0, which is ignored, if the kernel has found the caller.
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

/* Global, as the next function: the verifier goes through each once. */
__noinline int walk_python_stack(struct stack_scratch *scratch)
{
	const struct python_target *target;
	u32 count;
	s32 pid;

	if (!scratch)
		return 0;
	pid = scratch->record.pid;
	target = bpf_map_lookup_elem(&python_targets, &pid);
	if (!target)
		return 0;
	count = walk_python(&(struct memory_of){}, target, &scratch->python, scratch->record.python,
			    PYTHON_FRAMES_MAX, scratch->record.code_version);
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
	const struct code_map *map; /* NULL: unknown */
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

/*
 * Copies the stack from the stack pointer up to the end of its mapping. Returns the number of
 * bytes.
 */
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

/* The hash of the native part, which also takes the copy if there is to be one. */
static __always_inline u64 hash_native(struct stack_scratch *scratch)
{
	struct stack_record *record = &scratch->record;
	u64 chain = hash_chain(scratch);

	record->chain = chain;
	record->copied = 0;
	/* Python's frames give enough information. */
	if (config.copies_native && record->pythons)
		return chain;
	/* bpf_loop needs Linux 5.17. Older kernels have frame pointers only. */
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

/* The number of pages alone would not show that a library was replaced by one of the same size. */
static __always_inline u64 version_of_code(s32 pid)
{
	return BPF_CORE_READ(bpf_get_current_task_btf(), mm, exec_vm) | code_changes_of(pid)
										<< CODE_PAGES_BITS;
}

/*
 * Fills the record except what its owner knows, and returns its id. `ctx` is the program's context,
 * `regs` are the thread's registers: the same thing in a uprobe program.
 */
static __always_inline u64 read_stack(struct stack_scratch *scratch, void *ctx,
				      const struct pt_regs *regs, const struct stack_origin *origin)
{
	struct stack_record *record = &scratch->record;

	record->start_ns = origin->start_ns;
	record->code_version = version_of_code(origin->pid);
	record->function = origin->function;
	record->owner = origin->owner;
	record->pid = origin->pid;
	record->pythons = 0;
	record->flags = origin->interrupted ? STACK_INTERRUPTED : 0;
	keep_registers(record, regs, origin);
	walk_native(record, ctx, origin->entering);
	walk_python_stack(scratch);
	/* If code was mapped or unmapped, the same addresses may belong to another library. */
	return mix(hash_python(scratch, mix(hash_native(scratch), origin->function)),
		   record->code_version);
}

/*
 * The id under which calls are counted, if userspace already has the stack; otherwise 0. An id is
 * never 0.
 */
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
