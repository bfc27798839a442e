// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The Python frames of a thread: the calling one (core/own_memory.bpf.h), or another
 * (core/task_memory.bpf.h). Its thread state is the value of the interpreter's pthread key, whether
 * or not it holds the interpreter's lock. Everything is read as the process's struct python_target
 * says, and accepted only if it is consistent: the thread state names this thread, and a frame's
 * code pointer points to an object of the code type.
 */
#ifndef BPF_STACK_PYTHON_BPF_H
#define BPF_STACK_PYTHON_BPF_H

#include "core/kernel.bpf.h"
#include "gpuprobe/python.h"
#ifndef BPF_CORE_TASK_MEMORY_BPF_H
#include "core/own_memory.bpf.h"
#endif

/* glibc's PTHREAD_KEY_2NDLEVEL_SIZE and PTHREAD_KEYS_MAX. */
#define KEYS_IN_BLOCK 32
#define KEYS_MAX 1024

/* pid in gpuprobe's namespace -> how to find the process's frames. Written by userspace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, s32);
	__type(value, struct python_target);
} python_targets SEC(".maps");

/* Buffer for a frame and its code object, too large for the stack. */
struct python_scratch {
	u8 frame[PYTHON_FRAME_READ];
	struct python_identity identity;
	/*
	 * Frames so far. Kept out of struct python_walk because the verifier does not track values
	 * in maps, and so does not follow each count separately.
	 */
	u32 count;
	u32 pad;
};

struct python_walk {
	struct memory_of of;
	struct python_scratch *scratch;
	const struct python_target *target;
	struct python_frame *frames;
	u64 frame; /* address of the next frame */
	u64 sum;   /* of the code objects' addresses and checksums */
	u32 max;
	bool broken;
};

static __always_inline int read_pointer(const struct memory_of *of, u64 address, u64 *value)
{
	return read_memory(of, value, sizeof(*value), address) ? -1 : 0;
}

/* The thread's PyThreadState, or 0. */
static __always_inline u64 python_state(const struct memory_of *of,
					const struct python_target *target)
{
	u64 self = BPF_CORE_READ(memory_task(of), thread.fsbase), block, state, id;
	u32 key;

	if (read_memory(of, &key, sizeof(key), target->key_address) || key >= KEYS_MAX)
		return 0;
	if (read_pointer(of, self + target->specific + key / KEYS_IN_BLOCK * sizeof(u64), &block) ||
	    !block)
		return 0;
	block += key % KEYS_IN_BLOCK * target->value_size;
	if (read_pointer(of, block + target->value_data, &state) || !state)
		return 0;
	if (read_pointer(of, state + target->state_id, &id) || id != self)
		return 0;
	return state;
}

static __always_inline u64 frame_word(const struct python_scratch *scratch, u32 offset)
{
	offset &= PYTHON_FRAME_READ - sizeof(u64);
	barrier_var(offset);
	offset &= PYTHON_FRAME_READ - sizeof(u64);
	return *(const u64 *)(scratch->frame + offset);
}

static __always_inline u8 frame_byte(const struct python_scratch *scratch, u32 offset)
{
	barrier_var(offset);
	offset &= PYTHON_FRAME_READ - 1;
	return scratch->frame[offset];
}

/* The frame's position in its bytecode, in bytes. */
static __always_inline u32 instruction_of(const struct python_walk *walk, u64 code)
{
	const struct python_target *target = walk->target;
	u64 at = frame_word(walk->scratch, target->frame_instruction);

	if (target->lasti_unit)
		at = (s32)at < 0 ? PYTHON_NO_INSTRUCTION : (u64)(u32)at * target->lasti_unit;
	else
		at -= code + target->code_bytes;
	return at < PYTHON_NO_INSTRUCTION ? at : PYTHON_NO_INSTRUCTION;
}

/* Reads the start of the line table. */
static __always_inline int read_table(const struct memory_of *of, struct python_identity *identity,
				      u64 table)
{
	u32 size = sizeof(identity->table);

	if (read_pointer(of, table + PYTHON_BYTES_SIZE, &identity->table_size))
		return -1;
	__builtin_memset(identity->table, 0, sizeof(identity->table));
	if (identity->table_size < size)
		size = identity->table_size;
	barrier_var(size);
	if (size > sizeof(identity->table))
		return -1;
	return read_memory(of, identity->table, size, table + PYTHON_BYTES_DATA) ? -1 : 0;
}

/* Reads the input of the checksum. Returns 0 if it is a code object. */
static __always_inline int read_code(const struct python_walk *walk, u64 code)
{
	struct python_identity *identity = &walk->scratch->identity;
	u32 count = walk->target->code_words, size = count * sizeof(u64),
	    changing = walk->target->code_changing;

	__builtin_memset(identity->code, 0, sizeof(identity->code));
	barrier_var(size);
	if (size > sizeof(identity->code))
		return -1;
	if (read_memory(&walk->of, identity->code, size, code + PYTHON_OB_TYPE) ||
	    identity->code[0] != walk->target->code_type)
		return -1;
	barrier_var(count);
	if (count < 2 || count > PYTHON_CODE_WORDS)
		return -1;
	if (read_pointer(&walk->of, identity->code[count - 2] + PYTHON_TEXT_HASH,
			 &identity->name_hash))
		return -1;
	if (read_table(&walk->of, identity, identity->code[count - 1]))
		return -1;
	barrier_var(changing);
	if (changing < PYTHON_CODE_WORDS)
		identity->code[changing] = 0;
	return 0;
}

static __always_inline void put_frame(struct python_walk *walk, u64 code, u32 instruction)
{
	u32 at = walk->scratch->count;

	if (at >= PYTHON_FRAMES_MAX)
		return;
	walk->frames[at].code = code;
	walk->frames[at].instruction = instruction;
	walk->frames[at].checksum = python_checksum(&walk->scratch->identity);
	walk->sum =
		(walk->sum ^ code ^ (u64)walk->frames[at].checksum << 32) * 0x9e3779b97f4a7c15ull;
	walk->scratch->count = at + 1;
}

/* The latest frame was the first one of a C call of the interpreter. */
static __always_inline void mark_entry(struct python_walk *walk)
{
	u32 at = walk->scratch->count - 1;

	if (at < PYTHON_FRAMES_MAX)
		walk->frames[at].instruction |= PYTHON_ENTRY;
}

/* Handles one frame; returns 1 after the last. */
static long step_python(u32 n __attribute__((unused)), struct python_walk *walk)
{
	const struct python_target *target = walk->target;
	struct python_scratch *scratch = walk->scratch;
	u32 size = target->frame_size, entries = target->entries, instruction;
	u8 owner;
	u64 code;

	if (!walk->frame)
		return 1;
	walk->broken = true;
	barrier_var(size);
	if (size > sizeof(scratch->frame) ||
	    read_memory(&walk->of, scratch->frame, size, walk->frame))
		return 1;
	owner = frame_byte(scratch, target->frame_owner);
	if (entries == PYTHON_ENTRY_SHIM && owner >= PYTHON_OWNER_C) {
		mark_entry(walk);
		goto next;
	}
	code = frame_word(scratch, target->frame_code) & ~(u64)target->code_tag;
	if (scratch->count >= walk->max || !code || read_code(walk, code))
		return 1;
	instruction = instruction_of(walk, code);
	if (entries == PYTHON_ENTRY_EACH || (entries == PYTHON_ENTRY_MARKED && owner))
		instruction |= PYTHON_ENTRY;
	put_frame(walk, code, instruction);
next:
	walk->frame = frame_word(scratch, target->frame_back);
	walk->broken = false;
	return 0;
}

/*
 * Writes up to `max` frames, innermost first; `frames` has room for one more than
 * PYTHON_FRAMES_MAX. Returns their number: 0 if the thread runs no Python; if frames are missing,
 * the last one has code 0. *sum covers their code objects.
 */
static __always_inline u32 walk_python(const struct memory_of *of,
				       const struct python_target *target,
				       struct python_scratch *scratch, struct python_frame *frames,
				       u32 max, u64 *sum)
{
	struct python_walk walk = {
		.of = *of,
		.scratch = scratch,
		.target = target,
		.frames = frames,
		.max = max,
	};
	u64 state;
	u32 count;

	/* Linux 5.17. The tracer also runs on older kernels, without Python frames. */
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		return 0;
	state = python_state(of, target);
	if (!state || read_pointer(of, state + target->state_frame, &walk.frame))
		return 0;
	if (target->cframe_frame != PYTHON_NO_CFRAME && walk.frame &&
	    read_pointer(of, walk.frame + target->cframe_frame, &walk.frame))
		return 0;
	scratch->count = 0;
	/* Each frame may be followed by a shim. */
	bpf_loop(2 * PYTHON_FRAMES_MAX + 2, step_python, &walk, 0);
	count = scratch->count;
	if (count > PYTHON_FRAMES_MAX)
		return 0;
	if (walk.broken || walk.frame) {
		frames[count].code = 0;
		frames[count].instruction = 0;
		frames[count].checksum = 0;
		count++;
	}
	*sum = walk.sum;
	return count;
}

#endif
