/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records of the ring buffer: notices to userspace, none per call; and what iterators write. */
#ifndef GPUPROBE_STATE_RECORDS_H
#define GPUPROBE_STATE_RECORDS_H

#include "gpuprobe/state/process.h"

/* Where LINKS_TRACEFS cannot carry a cookie per site: (event << 12 | ip & 0xfff) -> row. */
struct site_key {
	__u32 event_and_ip;
};

/* In the map `watched`. */
enum watched_state {
	WATCHED = 1,
	WATCHED_LOADING, /* and has mapped a CUDA library: is stopped again when its loader has mapped what the program needs */
	WATCHED_FORKED,	 /* and has its parent's breakpoints, which do nothing for it: is stopped as its fork returns */
};

/* Records of the ring buffer: notices to userspace, none per call. */
enum record_type {
	RECORD_PROCESS_ENDED = 1, /* struct record */
	RECORD_KERNEL_NAME,	  /* struct record_name */
	RECORD_UNLOAD,		  /* struct record_unload */
	RECORD_LIBRARY,		  /* struct record_library: a process has a CUDA library new to it, the loader may map more */
	RECORD_LOADED,		  /* struct record_library: one that was WATCHED_LOADING has mapped what it needs */
	RECORD_EXEC,		  /* struct record_library: a process has become another program */
	RECORD_FORK,		  /* struct record_library: the process is a child of the one in which all probes are */
	RECORD_PROCESS,		  /* struct record: a process has made its first call */
	RECORD_UNFINISHED,	  /* struct record_unfinished: a thread has ended inside a call */
	RECORD_IDLE,		  /* struct record_idle: a device had nothing to do; where config.idle_records is set */
	RECORD_STEPS,		  /* struct record: half of what is kept of a thread's submissions is new, and no step is known */
};

struct record {
	__u32 type;
	__u32 slot;
};

enum name_source {
	NAME_FROM_HANDLE = 0, /* read through the word at handle + 8: undocumented */
	NAME_GIVEN,	      /* asked for by name: documented */
};

struct record_name {
	struct record header;
	__u64 handle;
	__u64 module; /* NAME_GIVEN: what it was taken from */
	__u32 generation;
	__u16 source; /* enum name_source */
	__u16 length; /* without the NUL */
	char name[];
};

struct record_unload {
	struct record header;
	__u64 module;
	__u32 generation; /* after it */
	__u32 pad;
};

/* A call that has not returned, as far as is known. */
struct open_call_record {
	__u32 slot;
	__s32 tid;	       /* in gpuprobe's pid namespace */
	__u64 thread_start_ns; /* of the thread */
	__u64 start_ns;
	__u16 row;
	__u8 device;	/* or DEVICE_UNKNOWN */
	__u8 outermost; /* no other watched call made it */
	__u32 pad;
	char comm[COMM_SIZE]; /* the thread's */
};

struct record_unfinished {
	struct record header;
	struct open_call_record call;
	__u64 ended_ns; /* when its thread did */
};

/* A time in which nothing of the process was queued on a device. CLOCK_BOOTTIME. */
struct record_idle {
	struct record header;
	__u64 begin_ns, end_ns;
	__u32 device; /* its number in the process; ACCOUNT_DEVICES - 1: not known */
	__u32 pad;
};

struct record_library {
	struct record header; /* slot unused */
	__s32 pid;	      /* in gpuprobe's pid namespace */
	__u16 stopped;	      /* the process has been sent SIGSTOP and waits for SIGCONT */
	__u16 stopped_above;  /* 1 << 0: its parent was stopped already, 1 << 1: the parent's parent, and so on */
	__s32 shares;	      /* of a RECORD_FORK: the process whose memory it shares; 0: none */
	__u32 pad;
	__u64 time_ns;
};

#define MAPPED_NAME_SIZE 16 /* longer ones are cut */

/* What the task_vma iterator tells of one file mapping. */
struct vma_identity {
	__u64 start;
	__u64 inode; /* address of the inode the kernel probes */
	__u64 ino;
	__u64 magic; /* of its file system, statfs(2) */
	__u32 dev;   /* of its file system, as the kernel encodes it */
	__u32 pad;
	char name[MAPPED_NAME_SIZE]; /* in its directory, also where its mount is nobody's any more */
};

/* What inode_is_mapped is asked. */
struct mapped_question {
	__u64 inode; /* its address, see vma_identity */
};

#endif
