/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Python frames, as BPF programs read them (bpf/stack/python.bpf.h) and userspace names them
 * (src/symbol/python_code.h).
 *
 * A frame is identified by the address of its code object and the position in the bytecode. Code
 * objects are freed and their memory is reused. A checksum over the constant parts of a code object
 * shows whether it is still the same one.
 */
#ifndef GPUPROBE_PYTHON_H
#define GPUPROBE_PYTHON_H

#include <linux/types.h>

#define PYTHON_FRAMES_MAX 127 /* as many as the kernel walks native frames */
#define PYTHON_FRAME_READ 128 /* a frame is read in one piece of at most this many bytes */
#define PYTHON_CODE_WORDS 17  /* words read of a code object, from ob_type on */
#define PYTHON_TABLE_WORDS 16 /* words read of its line table */
#define PYTHON_OB_TYPE 8      /* offset in every object of a build with a GIL */
#define PYTHON_TEXT_HASH 24   /* offset in a str */
#define PYTHON_BYTES_SIZE 16  /* offset in a bytes object */
#define PYTHON_BYTES_DATA 32
#define PYTHON_NO_WORD 0xff

/* How to recognize a frame at which a C call of the interpreter began. */
enum python_entries {
	PYTHON_ENTRY_EACH = 0, /* up to 3.10: every frame has its own C call */
	PYTHON_ENTRY_MARKED,   /* 3.11: by the byte at frame_owner */
	PYTHON_ENTRY_SHIM,     /* since 3.12: a shim frame, owned by the C stack, follows it */
};

/* Owner of shim frames. This value and higher ones are not Python frames. */
#define PYTHON_OWNER_C 3

/* What BPF needs to know about a process. Offsets are in bytes. */
struct python_target {
	/* address of autoTSSkey._key, a __u32: the pthread key of thread states */
	__u64 key_address;
	__u64 code_type; /* PyCode_Type, which every code object points to */
	/* _PyRuntime, which contains the interpreter's lock; 0 bytes: size unknown */
	__u64 runtime, runtime_bytes;
	__u16 specific;		      /* in struct pthread: pointers to blocks of 32 values */
	__u16 value_size, value_data; /* size of a value in a block, and its data's offset */
	/* in PyThreadState: the innermost frame, or the pointer to the struct that has it */
	__u16 state_frame;
	__u16 state_id; /* in PyThreadState: its pthread_self() */
	/* in the struct at state_frame; PYTHON_NO_CFRAME: there is no such struct */
	__u16 cframe_frame;
	__u16 frame_size; /* bytes of a frame that cover the offsets below */
	__u16 frame_back, frame_code, frame_instruction;
	__u16 frame_owner;
	/* in a code object: its bytecode, if frame_instruction is a pointer into it */
	__u16 code_bytes;
	__u8 code_words;    /* words in the checksum, up to PYTHON_CODE_WORDS */
	__u8 code_changing; /* the word excluded from the checksum, or PYTHON_NO_WORD */
	__u8 code_tag;	    /* tag bits of frame_code, which are not part of the address */
	__u8 entries;	    /* enum python_entries */
	__u8 lasti_unit;    /* bytes per unit of frame_instruction, an index; 0: it is a pointer */
	/*
	 * the word of a code object whose upper half is co_version: no two code objects of an
	 * interpreter have the same one, unless it is 0; 0: there is none
	 */
	__u8 code_version;
	__u8 pad[2];
	/*
	 * in PyThreadState: its interpreter; in that: the next co_version, which changes whenever a
	 * code object is made; 0: unknown
	 */
	__u32 state_interpreter, next_version;
};

#define PYTHON_NO_CFRAME 0xffff

/* A frame. Code 0: further frames could not be read or did not fit. */
struct python_frame {
	__u64 code;
	__u32 instruction; /* byte offset in the bytecode, and PYTHON_ENTRY */
	__u32 checksum;
};

#define PYTHON_ENTRY 0x80000000u	  /* a C call of the interpreter began with this frame */
#define PYTHON_NO_INSTRUCTION 0x0fffffffu /* none executed yet, or unknown */
#define PYTHON_INSTRUCTION_MASK 0x0fffffffu

/*
 * Distinguishes a code object from a later one at the same address: its own words with their
 * pointers, and the contents of two objects that it points to, since other strings and tables may
 * reuse those addresses too.
 */
struct python_identity {
	/* from ob_type on; the last two point to its name and its line table */
	__u64 code[PYTHON_CODE_WORDS];
	__u64 name_hash;		 /* the hash that Python stores with the name */
	__u64 table_size;		 /* in bytes */
	__u64 table[PYTHON_TABLE_WORDS]; /* the table's first words, zero-padded */
};

/*
 * Checksum of an identity. Words of `code` beyond the object, and the word that changes, are 0.
 * Branch-free, because the verifier would follow every path.
 */
static inline __u32 python_checksum(const struct python_identity *identity)
{
	__u64 sum = identity->name_hash ^ identity->table_size << 48;

	for (__u32 i = 0; i < PYTHON_CODE_WORDS; i++) {
		sum = (sum ^ identity->code[i]) * 0x9e3779b97f4a7c15ull;
		sum ^= sum >> 29;
	}
	for (__u32 i = 0; i < PYTHON_TABLE_WORDS; i++) {
		sum = (sum ^ identity->table[i]) * 0x9e3779b97f4a7c15ull;
		sum ^= sum >> 29;
	}
	return (__u32)(sum ^ sum >> 32);
}

#endif
