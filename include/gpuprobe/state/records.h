/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records of the ring buffer (notices to userspace, none per call), and the output of iterators. */
#ifndef GPUPROBE_STATE_RECORDS_H
#define GPUPROBE_STATE_RECORDS_H

#include "gpuprobe/state/process.h"

/* For LINKS_TRACEFS, which carries no cookie per site: (event << 12 | ip & 0xfff) -> row. */
struct site_key {
	__u32 event_and_ip;
};

/* Values of the map `watched`. */
enum watched_state {
	WATCHED = 1,
	/*
	 * it has mapped a CUDA library; stop it again once its loader has mapped the other
	 * libraries
	 */
	WATCHED_LOADING,
	/*
	 * it inherited its parent's breakpoints, which have no effect in it; stop it when its fork
	 * returns
	 */
	WATCHED_FORKED,
};

/* Ring buffer records: notices to userspace, none per call. */
enum record_type {
	RECORD_PROCESS_ENDED = 1, /* struct record */
	RECORD_KERNEL_NAME,	  /* struct record_name */
	RECORD_UNLOAD,		  /* struct record_unload */
	/*
	 * struct record_library: a process mapped a CUDA library for the first time; its loader may
	 * map more
	 */
	RECORD_LIBRARY,
	/*
	 * struct record_library: the loader of a WATCHED_LOADING process has mapped all that the
	 * program needs
	 */
	RECORD_LOADED,
	RECORD_EXEC, /* struct record_library: a process called exec */
	/* struct record_library: a child of the process that the links are confined to */
	RECORD_FORK,
	RECORD_PROCESS,	   /* struct record: a process has made its first call */
	RECORD_UNFINISHED, /* struct record_unfinished: a thread ended inside a call */
	/* struct record_idle: a device was idle; sent if config.idle_records is set */
	RECORD_IDLE,
	/* struct record: half of a thread's submission history is new, and no step is known */
	RECORD_STEPS,
	/*
	 * struct record_shortage: an allocation failed for lack of device memory, or the thread
	 * then got as much after all
	 */
	RECORD_SHORTAGE,
	RECORD_SHORTAGE_RELIEVED,
	/* struct record_shortage: a framework's allocator says that an allocation has failed */
	RECORD_SHORTAGE_FINAL,
};

struct record {
	__u32 type;
	__u32 slot;
};

enum name_source {
	NAME_FROM_HANDLE = 0, /* read through the word at handle + 8, which is undocumented */
	NAME_GIVEN,	      /* the program looked the kernel up by name: documented */
};

struct record_name {
	struct record header;
	__u64 handle;
	__u64 module; /* NAME_GIVEN: the module that the kernel was looked up in */
	__u32 generation;
	__u16 source; /* enum name_source */
	__u16 length; /* without the NUL */
	char name[];
};

struct record_unload {
	struct record header;
	__u64 module;
	__u32 generation; /* after the unload */
	__u32 pad;
};

/* A call that has not returned, as far as BPF knows. */
struct open_call_record {
	__u32 slot;
	__s32 tid;	       /* in gpuprobe's pid namespace */
	__u64 thread_start_ns; /* of the thread */
	__u64 start_ns;
	__u16 row;
	__u8 device;	/* or DEVICE_UNKNOWN */
	__u8 outermost; /* it is not nested in another watched call */
	__u32 pad;
	char comm[COMM_SIZE]; /* the thread's */
};

struct record_unfinished {
	struct record header;
	struct open_call_record call;
	__u64 ended_ns; /* when the thread ended */
};

/* A time in which the process had nothing queued on a device. CLOCK_BOOTTIME. */
struct record_idle {
	struct record header;
	__u64 begin_ns, end_ns;
	__u32 device; /* the device's number in the process; PROFILE_DEVICES - 1: unknown */
	__u32 pad;
};

/* After a failed allocation, a thread sends no other notice of failures for this long. */
#define SHORTAGE_REPEAT_NS 1000000000ull

/* Of one thread. CLOCK_BOOTTIME. */
struct record_shortage {
	struct record header;
	__u64 time_ns; /* when the call returned */
	__u64 bytes;   /* that it asked for */
	__u64 stack;   /* stack id; 0: not taken */
	/* RECORD_SHORTAGE_FINAL: what the allocator has handed out and has in segments */
	__u64 allocated, reserved;
	__s32 tid;   /* in gpuprobe's pid namespace */
	__u16 row;   /* not of RECORD_SHORTAGE_FINAL */
	__u8 device; /* or DEVICE_UNKNOWN */
	__u8 pad;
};

struct record_library {
	struct record header; /* slot unused */
	__s32 pid;	      /* in gpuprobe's pid namespace */
	__u16 stopped;	      /* the process was sent SIGSTOP and waits for SIGCONT */
	/* 1 << 0: its parent was already stopped; 1 << 1: the parent's parent was; and so on */
	__u16 stopped_above;
	__s32 shares; /* RECORD_FORK: the process whose memory it shares; 0: none */
	__u32 pad;
	__u64 time_ns;
};

#define MAPPED_NAME_SIZE 16 /* longer names are truncated */

/* One file mapping, as the task_vma iterator reports it. */
struct vma_identity {
	__u64 start;
	__u64 inode; /* address of the inode on which the kernel places probes */
	__u64 ino;
	__u64 magic; /* its file system's magic, see statfs(2) */
	__u32 dev;   /* device number of its file system, in the kernel's encoding */
	__u32 pad;
	/* its name in its directory, known even if its mount is gone */
	char name[MAPPED_NAME_SIZE];
};

/* Argument of inode_is_mapped. */
struct mapped_question {
	__u64 inode; /* address of the inode, see vma_identity */
};

#endif
