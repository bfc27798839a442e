/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What userspace sets before the programs are loaded, and the bits of a probe site's cookie. */
#ifndef GPUPROBE_STATE_CONFIG_H
#define GPUPROBE_STATE_CONFIG_H

#include <linux/types.h>

enum link_kind {
	LINKS_SESSION = 0, /* uprobe_multi, entry and return in one program run twice */
	LINKS_MULTI,	   /* uprobe_multi, an entry and a return program */
	LINKS_TRACEFS,	   /* one tracefs event for many sites */
};

#define HOLD_ALL 0xffffffffu /* no user has this number */

/* A probe site's cookie is its row of functions[], with these bits. */
#define SITE_ROW 0xffff
#define SITE_UNFOLLOWED 0x10000 /* the calls there are counted at entry alone */
#define SITE_CONFINED 0x20000	/* of a link that is in one process only, see bpf/process/confined.bpf.h */
#define SITE_DRIVER_SHIFT 24	/* the upper 8: which of the driver libraries it is in, see bpf/call/shim.bpf.h; 0: in none */

struct config {
	__u32 links;	     /* enum link_kind */
	__u32 launch_sample; /* check one launch in so many; a power of two; 1: each */
	__u32 pidns_inum;    /* gpuprobe's pid namespace */
	__u8 only_watched;   /* only processes in the map `watched` and their children */
	__u8 hold;	     /* stop watched processes where libraries may be new */
	__u8 track_inflight; /* keep profile of unfinished asynchronous copies */
	__u8 launch_returns; /* the returns of launches are probed */
	__u8 sees_memory;    /* all that allocates is probed: memory not on record is the program's own */
	__u8 stack_mode;     /* enum stack_mode */
	__u8 stack_sites;    /* of which calls, 1 << enum site_kind */
	__u8 profile;	     /* the profile of a run is kept, see gpuprobe/profile.h */
	__u32 stack_bytes;   /* of a stack that are copied, with STACK_DWARF and STACK_AUTO */
	__u32 stack_sample;  /* see struct launch_site_key; a power of two */
	__u8 rates;	     /* threads' calls are counted, see gpuprobe/rate.h */
	__u8 idle_records;   /* the ring gets each idle time of a device, RECORD_IDLE */
	__u8 steps;	     /* what threads submit over and over is looked for, see gpuprobe/steps.h */
	__u8 copies_native;  /* stacks with Python frames are not copied */
	__u32 hold_user;     /* who is held: of this real or saved user, whom gpuprobe may let go on, or HOLD_ALL */
	__u64 stack_seed;    /* of ids, random: no process can make those of another */
	__u64 min_wait_ns;   /* of a SITE_WAIT */
	__u32 max_kernels;   /* entries of `launches` */
	__u32 max_allocations;
};

#endif
