/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NVTX ranges, from the library in the watched program (inject/nvtx.c) by BPF (bpf/nvtx.bpf.c) to
 * userspace. The library is in the program's hands: nothing of this can be trusted.
 */
#ifndef GPUPROBE_NVTX_H
#define GPUPROBE_NVTX_H

#include <linux/types.h>

#include "gpuprobe/profile.h"

#define NVTX_NAME_SIZE 128    /* of a range's name with its domain; a longer one is cut */
#define NVTX_PAYLOAD_SIZE 128 /* of a payload's text; a longer one is cut */
#define NVTX_DEPTH 32	      /* ranges in each other of a thread; a power of two */
#define NVTX_NAMES 1024	      /* of a process; the others are one range, with the number 0 */
#define NVTX_ALL_NAMES 16384  /* of all processes: up to 2 MiB of text */
#define NVTX_PROCESSES 1024
#define NVTX_OPEN 4096 /* ranges with ids that are open, of all processes */

/* For GPU times: what ranges a call is in. */
#define NVTX_STARTED 8 /* ranges with ids of a thread that count */
#define NVTX_PATH_NAMES (NVTX_DEPTH + NVTX_STARTED)
#define NVTX_PATHS 2048	     /* of a process */
#define NVTX_ALL_PATHS 16384 /* of all processes: 6 MiB */
#define NVTX_PATH_UNKNOWN 1  /* beyond these limits */

/* The number of a name: FNV-1a, never 0. */
static inline __u64 nvtx_name_number(const char *text)
{
	__u64 number = 0xcbf29ce484222325;

	for (; *text; text++)
		number = (number ^ (unsigned char)*text) * 0x100000001b3;
	return number ? number : 1;
}

/* The functions of the library that have probes; the cookies of these. */
enum nvtx_function {
	NVTX_PUSH = 1,
	NVTX_POP,
	NVTX_START,
	NVTX_END,
	NVTX_NAME,
	NVTX_MARK,
	NVTX_FUNCTIONS,
};

struct nvtx_process {
	__s32 pid; /* in gpuprobe's pid namespace */
	__u32 pad;
	__u64 start_ns; /* CLOCK_BOOTTIME */
};

/* The range of a process with this name. */
struct nvtx_key {
	struct nvtx_process process;
	__u64 name; /* its number */
};

/* What happened in a range: sums over its times, of the thread that it was in. */
struct nvtx_record {
	__u64 count;
	__u64 ns, max_ns;
	__u64 launches; /* of kernels and graphs, not captured */
	struct time_totals time[TIME_CLASSES];
	__u64 unmeasured; /* times that launches and calls are not known of */
	__u64 uncalled;	  /* times of which it is not known what calls they had: no GPU time */
};

/* The ranges that a thread is in. Its number is a hash of the names; 0: the thread is in none. */
struct nvtx_path_key {
	struct nvtx_process process;
	__u64 path;
};

struct nvtx_path {
	__u64 used;		      /* bits of the places in `names` that count */
	__u64 names[NVTX_PATH_NAMES]; /* their numbers, which may repeat */
};

/* A record of the ring. */
struct nvtx_name {
	struct nvtx_key key;
	char text[NVTX_NAME_SIZE];
};

/* What BPF could not keep, by its place in the map `nvtx_lost`. */
enum nvtx_loss {
	NVTX_LOST_RANGES, /* times of ranges */
	NVTX_LOST_NAMES,
	NVTX_LOSSES,
};

#endif
