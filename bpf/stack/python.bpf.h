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

#define PYTHON_PAGE 4096
/* Frames whose caller's frame is closer than this lie in one piece of Python's own stack. */
#define FRAMES_APART 1024
/* Code objects whose checksum a thread remembers; a power of two. */
#define CODES_KNOWN 256

#define FRAME_WORDS (PYTHON_FRAME_READ / 8)
#define LONE_FRAME (PYTHON_PAGE / 8 + FRAME_WORDS)
#define FRAMES_WORDS (LONE_FRAME + FRAME_WORDS)

#define STATE_WORDS 32 /* of a thread state, more than up to the last field that is read */
#define VERSIONS_APART (1u << 24)

/* A code object that this thread has looked at. */
struct known_code {
	u64 code;    /* address of the code object, and the walk's salt */
	u64 version; /* see version_of_code_object */
	u32 checksum;
	u32 made; /* its interpreter's next version when it was there */
	u64 walk; /* number of the latest walk that has met it */
};

/* Buffers of a walk, too large for the stack, and what walks of this thread have found. */
struct python_scratch {
	struct python_identity identity;
	u64 state[STATE_WORDS]; /* the start of the thread state */
	/* the part of a page up to the end of a frame in the next one, and a frame by itself */
	u64 frames[FRAMES_WORDS];
	u64 frames_at;	 /* its address */
	u32 frames_size; /* bytes of it that were read; 0: none */
	/* the number at target->next_version is no version */
	u32 miscounted;
	u64 walks; /* so far */
	struct known_code known[CODES_KNOWN];
	/* The walk in progress: its numbers have no room on the stack of Linux 6.1. */
	u64 frame;    /* address of the next frame */
	u64 last;     /* address of the latest frame on Python's own stack; 0: none */
	u32 at;	      /* where the frame is in `frames`, in words */
	u32 checksum; /* of the frame's code object */
	u32 max, broken;
	u64 salt; /* of what a thread remembers: changes at exec */
	u32 made; /* the interpreter's next version; 0: unknown */
	/*
	 * Frames so far. Kept out of struct python_walk because the verifier does not track values
	 * in maps, and so does not follow each count separately.
	 */
	u32 count;
};

struct python_walk {
	struct memory_of of;
	struct python_scratch *scratch;
	const struct python_target *target;
	struct python_frame *frames;
};

static __always_inline int read_pointer(const struct memory_of *of, u64 address, u64 *value)
{
	return read_memory(of, value, sizeof(*value), address) ? -1 : 0;
}

static __always_inline u64 state_word(const struct python_scratch *scratch, u32 offset)
{
	u32 word = offset / sizeof(u64);

	barrier_var(word);
	return word < STATE_WORDS ? scratch->state[word] : 0;
}

static __always_inline int read_state(const struct memory_of *of,
				      const struct python_target *target,
				      struct python_scratch *scratch, u64 state)
{
	u32 size = target->state_id > target->state_frame ? target->state_id : target->state_frame;

	size += sizeof(u64);
	barrier_var(size);
	if (size > sizeof(scratch->state))
		return -1;
	return read_memory(of, scratch->state, size, state) ? -1 : 0;
}

/* The thread's PyThreadState, whose start is read, or 0. */
static __always_inline u64 python_state(const struct memory_of *of,
					const struct python_target *target,
					struct python_scratch *scratch)
{
	u64 self = BPF_CORE_READ(memory_task(of), thread.fsbase), block, state;
	u32 key;

	if (read_memory(of, &key, sizeof(key), target->key_address) || key >= KEYS_MAX)
		return 0;
	if (read_pointer(of, self + target->specific + key / KEYS_IN_BLOCK * sizeof(u64), &block) ||
	    !block)
		return 0;
	block += key % KEYS_IN_BLOCK * target->value_size;
	if (read_pointer(of, block + target->value_data, &state) || !state)
		return 0;
	if (read_state(of, target, scratch, state) || state_word(scratch, target->state_id) != self)
		return 0;
	return state;
}

/* The interpreter's next version of a code object; 0: unknown. */
static __always_inline u32 next_version(const struct memory_of *of,
					const struct python_target *target,
					const struct python_scratch *scratch)
{
	u64 interpreter = state_word(scratch, target->state_interpreter);
	u32 next;

	if (!target->next_version || scratch->miscounted ||
	    read_memory(of, &next, sizeof(next), interpreter + target->next_version))
		return 0;
	return next;
}

static __always_inline u64 frame_word(const struct python_walk *walk, u32 offset)
{
	u32 word = walk->scratch->at + offset / sizeof(u64);

	barrier_var(word);
	return word < FRAMES_WORDS ? walk->scratch->frames[word] : 0;
}

static __always_inline u8 frame_byte(const struct python_walk *walk, u32 offset)
{
	return frame_word(walk, offset) >> offset % sizeof(u64) * 8;
}

/* The frame's position in its bytecode, in bytes. */
static __always_inline u32 instruction_of(const struct python_walk *walk, u64 code)
{
	const struct python_target *target = walk->target;
	u64 at = frame_word(walk, target->frame_instruction);

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

/*
 * The word of the code object with its number and others of its constants, or 0 if the interpreter
 * does not number code objects.
 */
static __always_inline u64 version_of_code_object(const struct python_walk *walk, u64 code)
{
	u32 word = walk->target->code_version;
	u64 version;

	if (!word || read_pointer(&walk->of, code + PYTHON_OB_TYPE + word * sizeof(u64), &version))
		return 0;
	return version >> 32 ? version : 0;
}

/* Inlined, it would need more of the stack than Linux 6.1 has on the deepest path. */
static __noinline int look_at_code(struct python_walk *walk, u64 code)
{
	if (read_code(walk, code))
		return -1;
	walk->scratch->checksum = python_checksum(&walk->scratch->identity);
	return 0;
}

/*
 * Finds the checksum of a code object. A thread reads the contents of each one once: a later one at
 * the same address has another number, and is not there while the interpreter has made none.
 * Returns 0 if it is a code object.
 */
static __always_inline int find_checksum(struct python_walk *walk, u64 code)
{
	struct python_scratch *scratch = walk->scratch;
	struct known_code *known = &scratch->known[(code >> 4 ^ code >> 12) & (CODES_KNOWN - 1)];
	bool same = known->code == (code ^ scratch->salt);
	u64 version;

	scratch->checksum = known->checksum;
	if (same &&
	    (known->walk == scratch->walks || (scratch->made && known->made == scratch->made)))
		return 0;
	version = version_of_code_object(walk, code);
	if (scratch->made - (u32)(version >> 32) - 1 > VERSIONS_APART) {
		scratch->miscounted |= scratch->made != 0 && version;
		scratch->made = 0;
	}
	known->made = version ? scratch->made : 0;
	known->walk = scratch->walks;
	if (same && version && known->version == version)
		return 0;
	known->code = 0;
	if (look_at_code(walk, code))
		return -1;
	known->code = code ^ scratch->salt;
	known->version = version;
	known->checksum = scratch->checksum;
	return 0;
}

static __always_inline void put_frame(struct python_walk *walk, u64 code, u32 instruction)
{
	u32 at = walk->scratch->count;

	if (at >= PYTHON_FRAMES_MAX)
		return;
	walk->frames[at].code = code;
	walk->frames[at].instruction = instruction;
	walk->frames[at].checksum = walk->scratch->checksum;
	walk->scratch->count = at + 1;
}

/* The latest frame was the first one of a C call of the interpreter. */
static __always_inline void mark_entry(struct python_walk *walk)
{
	u32 at = walk->scratch->count - 1;

	if (at < PYTHON_FRAMES_MAX)
		walk->frames[at].instruction |= PYTHON_ENTRY;
}

/* Finds the next frame among those that were read together. Returns 0 if it is there. */
static __always_inline int find_frame(struct python_walk *walk, u32 size)
{
	u64 at = walk->scratch->frame - walk->scratch->frames_at;

	if (at > PYTHON_PAGE || at + size > walk->scratch->frames_size)
		return -1;
	walk->scratch->at = at / sizeof(u64);
	return 0;
}

/* Reads the frame, and all that lies before it in its page. */
static __always_inline void read_frames(const struct python_walk *walk, u32 size)
{
	struct python_scratch *scratch = walk->scratch;
	u32 before = scratch->frame & (PYTHON_PAGE - 1);

	scratch->frames_at = scratch->frame - before;
	scratch->frames_size = 0;
	size += before;
	barrier_var(size);
	if (size <= PYTHON_PAGE + PYTHON_FRAME_READ &&
	    !read_memory(&walk->of, scratch->frames, size, scratch->frames_at))
		scratch->frames_size = size;
}

/*
 * Frames of one thread lie one behind the other on Python's own stack, since Python 3.11, with few
 * exceptions: reading a page of them is cheaper than reading each.
 */
static __always_inline int read_frame(struct python_walk *walk)
{
	struct python_scratch *scratch = walk->scratch;
	u32 size = walk->target->frame_size;
	bool near = scratch->last - scratch->frame < FRAMES_APART && !(scratch->frame & 7);

	barrier_var(size);
	if (size > PYTHON_FRAME_READ)
		return -1;
	if (!find_frame(walk, size))
		return 0;
	if (near) {
		read_frames(walk, size);
		if (!find_frame(walk, size))
			return 0;
	}
	scratch->at = LONE_FRAME;
	return read_memory(&walk->of, scratch->frames + LONE_FRAME, size, scratch->frame) ? -1 : 0;
}

/* Handles one frame; returns 1 after the last. */
static long step_python(u32 n __attribute__((unused)), struct python_walk *walk)
{
	const struct python_target *target = walk->target;
	struct python_scratch *scratch = walk->scratch;
	u32 entries = target->entries, instruction;
	u8 owner;
	u64 code;

	if (!scratch->frame)
		return 1;
	scratch->broken = true;
	if (read_frame(walk))
		return 1;
	owner = frame_byte(walk, target->frame_owner);
	if (entries == PYTHON_ENTRY_SHIM && owner >= PYTHON_OWNER_C) {
		mark_entry(walk);
		goto next;
	}
	scratch->last = scratch->frame;
	code = frame_word(walk, target->frame_code) & ~(u64)target->code_tag;
	if (scratch->count >= scratch->max || !code || find_checksum(walk, code))
		return 1;
	instruction = instruction_of(walk, code);
	if (entries == PYTHON_ENTRY_EACH || (entries == PYTHON_ENTRY_MARKED && owner))
		instruction |= PYTHON_ENTRY;
	put_frame(walk, code, instruction);
next:
	scratch->frame = frame_word(walk, target->frame_back);
	scratch->broken = false;
	return 0;
}

/*
 * Writes up to `max` frames, innermost first; `frames` has room for one more than
 * PYTHON_FRAMES_MAX. `salt` differs if the thread runs another program than before. Returns their
 * number: 0 if the thread runs no Python; if frames are missing, the last one has code 0.
 */
static __always_inline u32 walk_python(const struct memory_of *of,
				       const struct python_target *target,
				       struct python_scratch *scratch, struct python_frame *frames,
				       u32 max, u64 salt)
{
	struct python_walk walk = {
		.of = *of,
		.scratch = scratch,
		.target = target,
		.frames = frames,
	};
	u32 count;

	/* Linux 5.17. The tracer also runs on older kernels, without Python frames. */
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		return 0;
	if (!python_state(of, target, scratch))
		return 0;
	scratch->frame = state_word(scratch, target->state_frame);
	scratch->made = next_version(of, target, scratch);
	scratch->salt = salt ^ state_word(scratch, target->state_interpreter);
	scratch->last = 0;
	if (target->cframe_frame != PYTHON_NO_CFRAME && scratch->frame &&
	    read_pointer(of, scratch->frame + target->cframe_frame, &scratch->frame))
		return 0;
	scratch->max = max;
	scratch->broken = false;
	scratch->count = 0;
	scratch->frames_size = 0;
	scratch->walks++;
	/* Each frame may be followed by a shim. */
	bpf_loop(2 * PYTHON_FRAMES_MAX + 2, step_python, &walk, 0);
	count = scratch->count;
	if (count > PYTHON_FRAMES_MAX)
		return 0;
	if (scratch->broken || scratch->frame) {
		frames[count].code = 0;
		frames[count].instruction = 0;
		frames[count].checksum = 0;
		count++;
	}
	return count;
}

#endif
