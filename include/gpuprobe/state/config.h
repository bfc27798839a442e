/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The configuration that userspace sets before it loads the programs, and the bits of a probe
 * site's cookie.
 */
#ifndef GPUPROBE_STATE_CONFIG_H
#define GPUPROBE_STATE_CONFIG_H

#include <linux/types.h>

enum link_kind {
	LINKS_SESSION = 0, /* uprobe_multi; one program runs at entry and at return */
	LINKS_MULTI,	   /* uprobe_multi; separate entry and return programs */
	LINKS_TRACEFS,	   /* one tracefs event for many sites */
};

#define HOLD_ALL 0xffffffffu /* no user has this uid */

/* A probe site's cookie is its row of functions[], with these bits. */
#define SITE_ROW 0xffff
#define SITE_UNFOLLOWED 0x10000 /* calls at this site are counted at entry only */
/* its link covers one process only, see bpf/process/confined.bpf.h */
#define SITE_CONFINED 0x20000
/*
 * upper 8 bits: number of the driver library that holds the site, see bpf/call/shim.bpf.h; 0: none
 */
#define SITE_DRIVER_SHIFT 24

#define LIBRARY_NAMES 16

struct config {
	__u32 links;	     /* enum link_kind */
	__u32 launch_sample; /* sample one launch in this many; a power of two; 1: every launch */
	__u32 pidns_inum;    /* inode of gpuprobe's pid namespace */
	__u8 only_watched;   /* only processes in the map `watched` and their children */
	__u8 hold;	     /* stop watched processes when they may have mapped new libraries */
	__u8 track_inflight; /* track unfinished asynchronous copies */
	__u8 launch_returns; /* launch returns are probed */
	/* all allocating functions are probed: memory without a record is the program's own */
	__u8 sees_memory;
	__u8 stack_mode;   /* enum stack_mode */
	__u8 stack_sites;  /* which calls get a stack, 1 << enum site_kind */
	__u8 profile;	   /* keep the profile of a run, see gpuprobe/profile.h */
	__u32 stack_bytes; /* bytes of stack to copy with STACK_DWARF and STACK_AUTO */
	/* stack sampling rate of launches, see struct launch_site_key; a power of two */
	__u32 stack_sample;
	__u8 rates;	    /* count calls per thread, see gpuprobe/rate.h */
	__u8 idle_records;  /* send RECORD_IDLE for each idle time of a device */
	__u8 steps;	    /* look for repeated submissions, see gpuprobe/steps.h */
	__u8 copies_native; /* do not copy stacks that have Python frames */
	/*
	 * hold only processes of this real or saved uid, which gpuprobe may resume; HOLD_ALL: any
	 */
	__u32 hold_user;
	__u64 stack_seed;  /* random seed of stack ids, so that no process can forge another's */
	__u64 min_wait_ns; /* shortest wait that counts as SITE_WAIT */
	__u32 max_kernels; /* entries of the map `launches` */
	__u32 max_objects; /* entries of the map `objects` */
	__u32 max_allocations;
	__u32 max_tensors; /* entries of the map `tensors`; 0: tensors are not watched */
	/* a tensor's stack has Python frames alone, if its process has a Python interpreter */
	__u8 tensor_python;
	__u8 tensor_events; /* each allocation and free of a tensor is reported */
	__u8 gpu_times;	    /* each call that submits work is reported, see gpuprobe/gpu_times.h */
	__u8 pad[2];
	__u32 tensor_share; /* of a thread's time for stacks of tensors, in 65536ths; 0: all */
	__u32 pad2;
	/* steps are NVTX ranges whose name has this number (gpuprobe/nvtx.h); 0: repetitions */
	__u64 step_range;
	/*
	 * with `hold`: the first eight characters of names of further libraries with functions or
	 * points to probe, zero-padded; 0: no more
	 */
	__u64 library_names[LIBRARY_NAMES];
};

#endif
