/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of a recording. All numbers are little-endian.
 *
 *	struct recording_file_head, struct recording_header
 *	chunks: struct recording_chunk, then its body
 *	one chunk of type CHUNK_INDEX and struct recording_file_end, if gpuprobe closed the file
 *
 * The body of a CHUNK_RECORDS is compressed by zlib. It has records, one after another:
 *
 *	varint	kind, enum recorded_kind
 *	varint	bytes
 *	zigzag	time since that of the record before, or since chunk.first_ns
 *	bytes
 *
 * A chunk is written at once. So a process that is killed leaves whole chunks, and at most one part
 * of a chunk. A reader finds the next chunk after damage by its magic number and checksum. It skips
 * chunks and kinds that it does not know. A change that an older gpuprobe would misread needs a new
 * RECORDING_FORMAT.
 *
 * A file with calls and readings has each reading in a chunk of its own, and the keyframes are
 * chunks with a whole reading. So a reader of either can begin there.
 */
#ifndef RECORD_FILE_H
#define RECORD_FILE_H

#include <stdint.h>

#define RECORDING_MAGIC "GPUPROBE"
#define RECORDING_FORMAT 3u	    /* the newest that is read */
#define RECORDING_FORMAT_OF_ONE 2u  /* 2: runs of unchanged structures, see record/tree.h */
#define RECORDING_FORMAT_OF_BOTH 3u /* 3: calls and readings, see RECORDED_CALLS_PART */
#define RECORDING_HEADER_MAX 65536u /* bytes of struct recording_header in a newer file */

#define CHUNK_MAGIC 0x4b4e4843u	  /* "CHNK" */
#define CHUNK_TARGET (256u << 10) /* the writer ends a chunk of so many bytes */
#define CHUNK_RAW_MAX (16u << 20) /* of a body before compression */
#define CHUNK_STORED_MAX (CHUNK_RAW_MAX + (64u << 10))
#define RECORDED_MAX (CHUNK_RAW_MAX - 64u) /* bytes of one record */
#define INDEX_ENTRIES_MAX 65536u	   /* of an index; then every other one is left out */

/* What records are. Numbers are never reused. */
enum recorded_kind {
	RECORDED_NOTHING = 0,
	/* 1 to 31: calls, see record/calls.h */
	RECORDED_PROCESS = 1,
	RECORDED_FUNCTION = 2,
	RECORDED_KERNEL = 3,
	RECORDED_STACK = 4,
	RECORDED_SHAPE = 5,
	RECORDED_NEW_CALL = 6,
	RECORDED_CALL = 7,
	RECORDED_LOSS = 8,
	RECORDED_CALLS_END = 9,
	RECORDED_THREAD = 10,
	RECORDED_CALLS_PART = 11,
	/* work of GPUs, see record/gpu_work.h */
	RECORDED_GPU_SHAPE = 16,
	RECORDED_GPU_WORK = 17,
	/* 32 to 63: readings of the model */
	RECORDED_MODEL = 32,
};
#define RECORDED_CALLS_LAST 31 /* the last number of a kind that is of calls */

enum recording_level {
	RECORDING_SUMMARY = 1, /* readings of the model */
	RECORDING_CALLS = 2,   /* every call; with RECORDING_READINGS readings as well */
};

enum recording_flag {
	RECORDING_ANONYMOUS = 1, /* without names of the machine, commands and paths */
	RECORDING_STACKS = 2,	 /* calls have stacks */
	RECORDING_NESTED = 4,	 /* with driver calls made inside runtime calls */
	RECORDING_GPU_WORK = 8,	 /* what GPUs did is among the calls */
	RECORDING_READINGS = 64, /* calls, and readings beside them */
};

/* Facts about the recording. New members come at the end; an older file has zeros there. */
struct recording_header {
	uint32_t level;		     /* enum recording_level */
	uint32_t flags;		     /* enum recording_flag */
	uint64_t begin_ns;	     /* CLOCK_BOOTTIME; times before it are possible */
	int64_t wall_offset_ns;	     /* CLOCK_REALTIME - CLOCK_BOOTTIME */
	int64_t monotonic_offset_ns; /* CLOCK_MONOTONIC - CLOCK_BOOTTIME */
	/* Texts end with a NUL, empty ones are unknown. They come from a file: escape them. */
	char program[32]; /* "0.1.0", the version of gpuprobe */
	char boot_id[40];
	char host[72];	    /* nodename */
	char kernel[136];   /* release */
	char options[1024]; /* the command line of gpuprobe */
};

/* The first bytes of a file. This never changes, so that any gpuprobe can name a newer file. */
struct recording_file_head {
	char magic[8];
	uint32_t format;
	uint32_t header_bytes;
	char program[32]; /* as in the header, which follows */
	uint32_t header_crc;
	uint32_t crc; /* of this structure up to here; as all checksums zlib's crc32 */
};

enum chunk_type {
	CHUNK_RECORDS = 1,
	CHUNK_INDEX = 2,
};

enum chunk_flag {
	CHUNK_KEYFRAME = 1, /* nothing from here on refers to an earlier record */
	CHUNK_STORED = 2,   /* the body is not compressed */
	CHUNK_CALLS = 4,    /* all records are of calls: a reader of readings may skip it */
};

struct recording_chunk {
	uint32_t magic;
	uint16_t type;	/* enum chunk_type */
	uint16_t flags; /* enum chunk_flag */
	uint32_t raw_bytes;
	uint32_t stored_bytes;	    /* of the body, which follows */
	uint64_t first_ns, last_ns; /* of the first record, and the latest time of a record */
	uint64_t number;	    /* counts the chunks of the file from 0 */
	uint32_t body_crc;	    /* of the stored bytes */
	uint32_t crc;		    /* of this structure up to here */
};

/* The body of CHUNK_INDEX: this, then `count` entries. Its first_ns and last_ns are the file's. */
struct recording_index {
	uint64_t chunks; /* of records */
	uint32_t count;
	uint32_t pad;
};

struct recording_index_entry {
	uint64_t offset, first_ns, number; /* of a chunk with CHUNK_KEYFRAME */
};

/* The last bytes of a closed file. */
struct recording_file_end {
	uint64_t index_offset;
	uint32_t magic; /* CHUNK_MAGIC */
	uint32_t crc;	/* of this structure up to here */
};

#endif
