/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Python frames, as BPF programs read them (bpf/stack/python.bpf.h) and userspace names
 * them (src/symbol/python_code.h).
 *
 * A frame is told by its code object's address and where in its bytecode it
 * is. Code objects are freed and others come to lie where they were: a
 * checksum over what never changes in one tells that it is still the same.
 */
#ifndef GPUPROBE_PYTHON_H
#define GPUPROBE_PYTHON_H

#include <linux/types.h>

#define PYTHON_FRAMES_MAX 127 /* the kernel walks no more native ones, either */
#define PYTHON_FRAME_READ 128 /* a frame is read whole, up to so many bytes */
#define PYTHON_CODE_WORDS 17  /* of a code object, from its ob_type on */
#define PYTHON_TABLE_WORDS 16 /* of its table of lines */
#define PYTHON_OB_TYPE 8      /* of every object of a build with a GIL */
#define PYTHON_TEXT_HASH 24   /* in a str */
#define PYTHON_BYTES_SIZE 16  /* in a bytes object */
#define PYTHON_BYTES_DATA 32
#define PYTHON_NO_WORD 0xff

/* How the frames are marked that a C call of the interpreter began with. */
enum python_entries {
	PYTHON_ENTRY_EACH = 0, /* up to 3.10: each frame has a C call of its own */
	PYTHON_ENTRY_MARKED,   /* 3.11: by the byte at frame_owner */
	PYTHON_ENTRY_SHIM,     /* since 3.12: by a frame behind it, whose owner is the C stack */
};

/* The owner of the shims, and of what else is no frame of Python's: this and above. */
#define PYTHON_OWNER_C 3

/* What BPF needs of a process. Offsets are in bytes. */
struct python_target {
	__u64 key_address;	      /* of autoTSSkey._key, a __u32: the pthread key of the thread states */
	__u64 code_type;	      /* PyCode_Type: what every code object points to */
	__u64 runtime, runtime_bytes; /* _PyRuntime, in which the interpreter's lock is; 0 bytes: not known how large */
	__u16 specific;		      /* in struct pthread: the pointers to blocks of 32 values */
	__u16 value_size, value_data; /* of a value in a block */
	__u16 state_frame;	      /* in PyThreadState: the innermost frame, or where its pointer is kept */
	__u16 state_id;		      /* in PyThreadState: its pthread_self() */
	__u16 cframe_frame;	      /* in what state_frame points to; PYTHON_NO_CFRAME: nothing between */
	__u16 frame_size;	      /* how many bytes of a frame the offsets below lie in */
	__u16 frame_back, frame_code, frame_instruction;
	__u16 frame_owner;
	__u16 code_bytes;   /* in a code object: its bytecode, where frame_instruction is a pointer into it */
	__u8 code_words;    /* that the checksum is of: up to PYTHON_CODE_WORDS */
	__u8 code_changing; /* which of them is none of it, or PYTHON_NO_WORD */
	__u8 code_tag;	    /* bits of frame_code that are not the address's */
	__u8 entries;	    /* enum python_entries */
	__u8 lasti_unit;    /* bytes that one of frame_instruction is, an index; 0: it is a pointer */
	__u8 pad[3];
};

#define PYTHON_NO_CFRAME 0xffff

/* A frame; with code 0: further ones could not be read, or there was no room for them. */
struct python_frame {
	__u64 code;
	__u32 instruction; /* where in the bytecode, in bytes, and PYTHON_ENTRY */
	__u32 checksum;
};

#define PYTHON_ENTRY 0x80000000u	  /* the C call of the interpreter began with this frame */
#define PYTHON_NO_INSTRUCTION 0x0fffffffu /* none has begun yet, or it is not known */
#define PYTHON_INSTRUCTION_MASK 0x0fffffffu

/*
 * What tells a code object from others that come to lie where it was: itself
 * with its pointers, and what two of those point to, for other texts and
 * tables come to lie where its own were, too.
 */
struct python_identity {
	__u64 code[PYTHON_CODE_WORDS];	 /* from its ob_type on; the last two are its name and its table of lines */
	__u64 name_hash;		 /* that Python keeps with the name */
	__u64 table_size;		 /* in bytes */
	__u64 table[PYTHON_TABLE_WORDS]; /* what it begins with, and zeros */
};

/*
 * The checksum of it. The words of `code` that are not the object's, and the one that changes, are 0.
 * Without branches: the verifier would go every way.
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
