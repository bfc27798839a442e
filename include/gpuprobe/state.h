/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state that BPF programs keep and userspace reads: keys and values of
 * the maps, the records of the ring buffer, and the configuration that
 * userspace sets before load. Times are CLOCK_BOOTTIME nanoseconds.
 */
#ifndef GPUPROBE_STATE_H
#define GPUPROBE_STATE_H

#include "gpuprobe/function.h"
#include "gpuprobe/losses.h"
#include "gpuprobe/stack.h"

#define COMM_SIZE 16
#define NAME_SIZE 4098	    /* a kernel name of 4,096 bytes, its NUL, and one more by which a longer one shows */
#define NAME_SHORT_SIZE 256 /* what most names fit in */
#define FREED_KEPT 32	    /* latest frees that a process remembers, see process_record */
#define CALL_DEPTH 8	    /* watched calls nested in one thread */
#define CONTEXT_DEPTH 8	    /* contexts pushed in one thread */
#define DURATIONS_KNOWN 32  /* functions whose histogram a thread finds without a look-up */
#define NO_PLACE (~0u)
#define PAGEABLE_KNOWN 8 /* addresses of pageable memory that a thread remembers; a power of two */
#define SEGMENTS 8	 /* stretches between waits that a stream tells apart */

enum link_kind {
	LINKS_SESSION = 0, /* uprobe_multi, entry and return in one program run twice */
	LINKS_MULTI,	   /* uprobe_multi, an entry and a return program */
	LINKS_TRACEFS,	   /* one tracefs event for many sites */
};

#define HOLD_ALL 0xffffffffu /* no user has this number */

/* A probe site's cookie is its row of functions[], with these bits. */
#define SITE_ROW 0xffff
#define SITE_UNFOLLOWED 0x10000 /* the calls there are counted at entry alone */
#define SITE_CONFINED 0x20000	/* of a link that is in one process only, see bpf/confined.h */
#define SITE_DRIVER_SHIFT 24	/* the upper 8: which of the driver libraries it is in, see bpf/shim.h; 0: in none */

#define OTHER_DEVICES 16     /* whose launches are told apart where kernels have no counters; one more is for all others */
#define KERNEL_OTHER (~0ull) /* no kernel's handle: all those of a process that have no counter */
#define FAILURES_KEPT 512    /* a process's failures by function and code: programs have a few */
#define TALLIES_KEPT 8192    /* a process's counters of calls: programs have some hundred */
#define LIVE_STEP 1024	     /* so many allocations at a time a process takes of the room for all, see bpf/share.h */

struct config {
	__u32 links;	     /* enum link_kind */
	__u32 launch_sample; /* check one launch in so many; a power of two; 1: each */
	__u32 pidns_inum;    /* gpuprobe's pid namespace */
	__u8 only_watched;   /* only processes in the map `watched` and their children */
	__u8 hold;	     /* stop watched processes where libraries may be new */
	__u8 track_inflight; /* keep account of unfinished asynchronous copies */
	__u8 launch_returns; /* the returns of launches are probed */
	__u8 sees_memory;    /* all that allocates is probed: memory not on record is the program's own */
	__u8 stack_mode;     /* enum stack_mode */
	__u8 stack_sites;    /* of which calls, 1 << enum site_kind */
	__u8 account;	     /* the account of a run is kept, see gpuprobe/account.h */
	__u32 stack_bytes;   /* of a stack that are copied, with STACK_DWARF and STACK_AUTO */
	__u32 stack_sample;  /* see struct launch_site_key; a power of two */
	__u8 rates;	     /* threads' calls are counted, see gpuprobe/rate.h */
	__u32 hold_user;     /* who is held: of this real or saved user, whom gpuprobe may let go on, or HOLD_ALL */
	__u64 stack_seed;    /* of ids, random: no process can make those of another */
	__u64 min_wait_ns;   /* of a SITE_WAIT */
	__u32 max_kernels;   /* entries of `launches` */
	__u32 max_allocations;
};

/* A process is a slot in the array `processes`, from first sight until userspace has read its end. */
enum process_state {
	PROCESS_FREE = 0,
	PROCESS_LIVE,
	PROCESS_ENDED, /* exited, or replaced by exec */
};

struct process_record {
	__u32 state;	     /* enum process_state */
	__s32 pid;	     /* in gpuprobe's pid namespace */
	__u32 tgid;	     /* in the initial one */
	__s32 parent;	     /* in gpuprobe's; 0: not in it. As at first sight */
	__u32 uid;	     /* the real user, in the initial user namespace */
	__s32 namespace_pid; /* in the process's own pid namespace */
	__u32 threads;	     /* that have called and have not left: the end can be read when none has */
	__u32 users;	     /* processes with its memory that have called and have not ended: CLONE_VM without CLONE_THREAD */
	__s32 sharer;	     /* the latest of these that is not `pid`, in gpuprobe's pid namespace; 0: there was none */
	__u32 generation;    /* module and library unloads so far: part of every kernel's key */
	__u64 start_ns;
	__u64 seen_ns;
	__u64 ended_ns;
	__u64 epoch;	   /* waits and event records begun so far */
	__u64 waits;	   /* waits ended so far */
	__u64 host_levels; /* see struct range_key: levels at which host memory was recorded */
	__u64 device_levels;
	__u64 host_ranges; /* how often host memory was recorded */
	__u32 freed_next;  /* frees so far; the latest are in freed[] */
	__u32 captures;	   /* in progress: launches look their stream up only then */
	__u32 late;	   /* set by userspace: calls before some moment were not seen */
	__u32 node_doubts; /* see struct graph_record */
	__u32 unified;	   /* copies were seen whose addresses must tell their direction */
	__s32 sticky_code; /* the first failure that CUDA says no call recovers from; 0: none */
	__u64 sticky_ns;
	__u64 sticky_failures;	 /* later calls that failed with that code too */
	__u64 after_sticky;	 /* later calls that did not; of launches only those looked at */
	char comm[COMM_SIZE];	 /* of the leader, at first sight; then at the end */
	__u64 freed[FREED_KEPT]; /* addresses of device memory, for the report */
	__u64 aside[FREED_KEPT]; /* of the rest: address or handle, enum space in the upper 8 bits */
	__u32 aside_next;	 /* as freed_next */
	__u8 driver;		 /* the driver library that it called first, as SITE_DRIVER_SHIFT has it; 0: none yet */
	__u8 calls_drivers;	 /* it has called more than one */
	__u8 shim, behind_shim;	 /* the first of these was seen to call the second; 0: none was */
	__u32 notice_bytes;	 /* of its notices in the ring that have not been taken in */
	/* Its entries in maps that all processes share, see bpf/share.h */
	__u32 kernel_keys, failure_keys, tally_keys;
	__u32 live_keys, live_granted;
	__u32 lost_notices; /* beyond its share of the ring */
	/* What had no entries: with these all sums are exact. */
	__u64 other_launches[OTHER_DEVICES + 1][2]; /* by device, the last of any other; [1] captured */
	__u64 other_failures;
	__u64 other_calls, other_call_failures, other_call_ns;
	__u32 orders;	   /* ORDERS_* */
	__u32 order_count; /* its struct stream_orders */
	__u32 deaths;	   /* contexts that ended so far, with what lived in them */
};

/* What `process_of` holds by tgid. */
struct process_binding {
	__u32 slot;
};

/* A call that enters where two links are, and that the first of them has counted, see bpf/confined.h. */
struct taken_call {
	__u64 sp; /* at entry; 0: none */
	__u32 row;
	__u32 pad;
};

/* A call whose return is not followed, see bpf/switch.h. */
struct unfollowed_call {
	__u64 sp;     /* at entry */
	__u64 caller; /* its return address, which stands there until it returns */
	__u16 row;
	__u8 operation;
	__u8 driver; /* the library that it is in, as SITE_DRIVER_SHIFT has it */
	__u8 pad[4];
};

/* A thread's unfollowed calls that no other one makes: so many coroutines at a time are told apart. */
#define UNFOLLOWED_CALLS 4 /* a power of two */

struct unfollowed_calls {
	struct unfollowed_call calls[UNFOLLOWED_CALLS]; /* .sp 0: none */
	__u32 next;
	__u32 pad;
};

/* A watched call in progress in a thread, from its entry to its return. */
struct call {
	__u64 sp; /* at entry; the frame is gone once the stack pointer is above it */
	__u64 start_ns;
	__u64 end_ns;	   /* once it has returned; less the time for which gpuprobe held the process in it */
	__u64 arg[4];	   /* by operation, see the family files */
	__u64 function;	   /* its address */
	__u64 caller;	   /* the return address; with copies of stacks alone */
	__u64 stack;	   /* id of where it was made, at its return; 0: not taken */
	__u64 freed_stack; /* of an OP_FREE: the id in the record that it took */
	__u64 from, to;	   /* with an account, of a copy of one range between host and device; else `from` is 0 */
	__u64 version;	   /* of such a copy: see struct repeat_record */
	__u16 row;
	__u8 operation;
	__u8 kind;
	__u8 flag;   /* by operation */
	__u8 device; /* on which it acts, or DEVICE_UNKNOWN */
	union {
		__u16 extra; /* by operation */
		__u8 named;  /* the device whose context the call makes or ends, or DEVICE_UNKNOWN */
	};
	__u8 site;	 /* enum site_kind, what it counts as where it was made; SITE_KINDS: as nothing */
	__u8 marked;	 /* OBJECT_* of what is made; with an account, by operation: see bpf/account_work.h */
	__u8 unfollowed; /* its return is not seen: counted at its entry */
	__u8 driver;	 /* the library that it is in, as SITE_DRIVER_SHIFT has it */
	__u32 place;	 /* its thread's */
	__u64 noted;	 /* as `marked` */
};

/* An address of memory that is the program's own, not pinned, as long as the version is that: see bpf/sides.h. */
struct pageable_address {
	__u64 address;
	__u64 version;
};

/* Work of the stream of epochs below `epoch` is done: what that proves of other streams is yet to be looked at. */
struct stream_proof {
	__u64 stream, scope; /* as in stream_key */
	__u64 epoch;
};

#define STREAM_PROOFS 16 /* a power of two */

enum thread_state {
	THREAD_NEW = 0,
	THREAD_WATCHED,
	THREAD_IGNORED,
};

struct thread {
	__u32 state; /* enum thread_state */
	__u32 slot;
	__u64 seen_ns; /* of the process that had the slot when the thread joined it */
	__u32 depth;   /* calls in use */
	__u32 context_depth;
	__u64 context[CONTEXT_DEPTH]; /* the last in use is current; 0 is unknown */
	__u8 device[CONTEXT_DEPTH];   /* of these; the process's own numbers, or DEVICE_UNKNOWN */
	/* number of its struct thread_counts and struct thread_account plus 1; 0: none yet; NO_PLACE: all were taken */
	__u32 place;
	__u32 rate;			  /* as `place`, of its struct thread_rate */
	__u32 durations[DURATIONS_KNOWN]; /* by row: the row << 16, and the number of its struct duration_record plus 1 */
	struct pageable_address pageable[PAGEABLE_KNOWN];
	struct unfollowed_calls unfollowed;
	struct taken_call taken;
	struct call calls[CALL_DEPTH]; /* followed, all on one stack */
	/* While the end of a wait is looked at, bpf/order.h */
	__u32 proof_count;
	__u32 pad;
	struct stream_proof proofs[STREAM_PROOFS];
};

/* A device by the number that its process knows it by, as the API has it. */
#define DEVICE_UNKNOWN 0xff

/* Calls of one function by one process on one device, told apart by kind. */
#define TALLY_UNTRACKED 0x01 /* allocations that are not in `allocations` (no address, no room) */
#define TALLY_REPLACED 0x02  /* allocations whose free was not seen: their address came again */
#define TALLY_SAMPLED 0x04   /* launches whose return was looked at */
#define TALLY_NOT_READY 0x08 /* queries that were answered "not yet" */
#define TALLY_CAPTURED 0x10  /* went into a graph, was not executed */
#define TALLY_PINNED 0x20    /* copies whose host side is pinned */
#define TALLY_PAGEABLE 0x40  /* copies whose host side is not */
/*
 * Asynchronous copies that a wait has covered, of no one function: ns is from
 * the issue of the oldest of a stretch to the wait's end. A stretch counts once.
 */
#define TALLY_COVERED 0x80
#define TALLY_FIRST 0x100	 /* the first launch of each kernel, which may load its module */
#define TALLY_IN_LAUNCH 0x200	 /* loads that a launch caused */
#define TALLY_WITH_CONTEXT 0x400 /* ended with their context, not by a call of their own */
#define TALLY_OBJECT 0x800	 /* of the calls that change contexts: those that made or ended one */
#define TALLY_REFERENCE 0x1000	 /* one more or less holds memory that lives on */
#define TALLY_DOUBLE 0x2000	 /* frees of what had been freed before */
#define TALLY_ENDED 0x4000	 /* what a call ended, counted apart from the call itself */
#define TALLY_UNFOLLOWED 0x8000	 /* counted at entry, by their arguments: neither result nor duration is known */

#define ROW_NONE 0xffff /* tallies of no one function: see their flags */

struct tally_key {
	__u16 slot;
	__u16 row;
	__u16 flags; /* TALLY_* */
	__u8 kind;
	__u8 device; /* or DEVICE_UNKNOWN */
};

struct tally {
	__u64 calls; /* successful */
	__u64 failures;
	__u64 bytes;	/* of successful calls, modulo 2^64 */
	__u64 ns;	/* inside successful calls */
	__u64 other_ns; /* inside calls that failed, or had not returned when their thread ended */
	__u64 carries;	/* how often `bytes` began at 0 again */
};

/*
 * Addresses and handles are told apart by space: a handle of physical memory
 * may be a small number, a reserved range begins where memory is mapped.
 */
enum space {
	SPACE_ADDRESS = 0, /* memory that programs address, and imports */
	SPACE_REGISTERED,
	SPACE_ARRAY,
	SPACE_PHYSICAL,
	SPACE_RESERVED,
	SPACE_MAPPED,
	SPACE_ENDING, /* physical memory whose last mapping, by its address, is being undone */
};

struct allocation_key {
	__u64 address; /* or handle */
	__u16 slot;
	__u8 space; /* enum space */
	__u8 pad[5];
};

struct allocation_record {
	__u64 size;
	__u64 start_ns;
	union {
		__u64 context; /* in which it lives, and with which it goes; 0: in none, or not known */
		__u64 pool;    /* of MEMORY_POOL, see struct pool_key */
		__u64 handle;  /* of MEMORY_MAPPED: the physical memory's */
	};
	__u16 row;
	__u8 kind; /* enum memory_kind */
	__u8 device;
	__u32 references; /* of physical memory: handles and mappings; of imports: how often opened */
	__u64 stack;	  /* id of where it was made; 0: not taken */
};

/*
 * Where an address lies. An allocation of 2^level to 2^(level+1) - 1 bytes is
 * found by its level and the number of the block of 2^level bytes in which it
 * begins. Live allocations do not overlap, so only one of that level begins in
 * a block, and one that holds an address begins in the address's block or in
 * one of the two before. What is found is checked against `allocations`.
 */
struct range_key {
	__u64 block;
	__u16 slot;
	__u8 level;
	__u8 pad[5];
};

struct range_record {
	__u64 address; /* where it begins: the allocation's key */
	__u64 size;
	__u8 space;
	__u8 kind; /* enum memory_kind */
	__u8 device;
	__u8 pad[5];
};

struct kernel_key {
	__u64 handle;
	__u32 slot;
	__u32 generation;
};

struct launch_key {
	struct kernel_key kernel;
	__u8 device;
	__u8 captured; /* put into a graph, not executed */
	__u8 pad[6];
};

#define DIMENSIONS 3

struct launch_shape {
	__u32 grid[DIMENSIONS], block[DIMENSIONS];
	__u64 shared_bytes; /* dynamic shared memory */
};

/* What sampled launches of a kernel looked like. */
struct shape_record {
	__u32 lock; /* taken by compare and swap; a sample that finds it taken is left out */
	__u32 samples;
	__u64 stream; /* of the latest */
	__u64 latest_ns;
	struct launch_shape latest;
	__u64 blocks_min, blocks_max;	/* in the grid */
	__u64 threads_min, threads_max; /* in a block */
	__u64 shared_min, shared_max;
	/* With an account, of those that followed another launch of their thread: the time from its return to their entry */
	__u64 gaps, gap_ns, gap_min, gap_max;
};

struct graph_key {
	__u64 handle; /* of a graph, an executable graph or a node */
	__u32 slot;
	__u32 pad;
};

/*
 * A graph whose kernel nodes are known; one without a record is of unknown
 * size. A graph is open where it has nodes that were not seen added one by one
 * (captured, cloned, of a child graph). When a node goes that was not seen
 * added, that may be of any open graph: process_record.node_doubts is raised,
 * and the size of the open graphs from before is not known any more.
 */
struct graph_record {
	__u64 kernels;	/* one execution runs */
	__u64 start_ns; /* tells it from an earlier one of the same handle */
	__u64 capture;	/* in which it is made; 0: none */
	__u32 doubts;	/* process_record.node_doubts when it became known */
	__u8 unknown;
	__u8 open;
	__u8 embedded; /* in `node`, of another graph: what changes it changes that */
	__u8 leaving;  /* is being destroyed */
	__u64 node;
};

/* A node that was seen added. It goes with its graph. */
struct graph_node_record {
	__u64 graph;
	__u64 graph_start_ns;
	__u64 kernels;
	__u64 unknown;
};

/* An executable graph of known size. */
struct graph_exec_record {
	__u64 kernels; /* one launch runs */
	__u64 start_ns;
	__u64 leaving; /* is being destroyed */
};

/* A node that an executable graph leaves out; the value is graph_exec_record.start_ns. */
struct disabled_node_key {
	__u64 exec;
	__u64 node;
	__u32 slot;
	__u32 pad;
};

/* Executed graph launches by size. */
struct graph_run_key {
	__u64 kernels;
	__u32 slot;
	__u32 unknown; /* the size is not known */
};

struct failure_key {
	__u32 slot;
	__s32 code;
	__u16 row;
	__u16 sampled;
	__u32 pad;
};

struct failure_record {
	__u64 count;
	__u64 first_ns;
	__u64 last_ns;
};

/*
 * Asynchronous copies of a stream that no wait has covered yet.
 *
 * Each wait and each event record raises its process's epoch when it begins.
 * Copies are summed in segments by the epoch of their issue; a wait that began
 * with epoch E proves, when it ends, that everything of an earlier epoch is
 * done. So a stream needs no record per copy, whatever is in flight. When all
 * segments are in use, the latest takes on the new epoch: its copies are then
 * held to be in flight rather too long than too short.
 */
struct stream_key {
	__u64 stream; /* STREAM_LEGACY and STREAM_PER_THREAD stand for the special ones */
	__u64 scope;  /* of a special stream: its context, or its thread */
	__u32 slot;
	__u32 pad;
};

/*
 * A capture in progress. Which streams take part is said by the map `capturing`
 * (struct stream_key to the capture's number), of which entries of captures
 * that have ended mean nothing.
 */
struct capture_key {
	__u64 id;
	__u32 slot;
	__u32 pad;
};

struct capture_record {
	__u64 kernels; /* nodes so far */
	__u64 start_ns;
	__u64 context;		  /* with which it ends */
	__u64 into;		  /* the graph that it extends; 0: a new one */
	struct stream_key origin; /* the stream that began it; 0 where that was not seen */
	__u64 unknown;		  /* not all of its launches were seen */
};

#define STREAM_LEGACY 1
#define STREAM_PER_THREAD 2
/* In keys of struct stream_orders and in proofs alone */
#define STREAM_CONTEXT 3      /* all streams of the context `scope` */
#define STREAM_BLOCKING 4     /* those that the legacy default stream of the context waits for */
#define STREAM_LEGACY_ALONE 5 /* the legacy default stream without these */

struct stream_segment {
	__u64 epoch; /* 0: never used */
	__u64 after; /* other streams' work of epochs below this was issued before the latest of its copies */
	__u32 calls[COPY_KINDS];
	__u32 pad;
	__u64 oldest_ns[COPY_KINDS];
	__u64 bytes[COPY_KINDS];
};

struct stream_record {
	__u32 lock;	  /* taken by compare and swap: BPF spin locks are not for tracing programs */
	__u32 head;	  /* the segment in use is segments[head % SEGMENTS] */
	__u64 covered;	  /* segments of an epoch below this are done */
	__u64 covered_ns; /* the end of the wait that told so; written before it */
	__u64 context;
	__u8 device;
	__u8 blocking; /* the legacy default stream waits for it, and it for that; 0 also where its making was not seen */
	__u8 pad[6];
	/* With an account: epochs of the latest work, plus 1, and of the latest event record or host function */
	__u64 worked, recorded;
	struct stream_segment segments[SEGMENTS];
};

struct event_key {
	__u64 event;
	__u32 slot;
	__u32 pad;
};

struct event_record {
	struct stream_key stream;
	__u64 epoch;
	__u64 start_ns; /* of the call that recorded it */
};

/*
 * What a stream was told to wait for, by an event of another one: as soon as its own work of epochs up to `epoch` is
 * done, so is the other stream's of epochs below `before`. The wait keeps that, whatever becomes of the event. What
 * a blocking stream waits for the legacy default stream of the context waits for as well, STREAM_BLOCKING, and a wait
 * for the context for what is of another one, STREAM_CONTEXT. An order that has been followed is free; when all are in use, the latest for
 * the same stream takes on the new one, which is then held to be done rather too late than too early.
 */
#define STREAM_ORDERS 32
#define PROCESS_ORDERS 1024 /* struct stream_orders that a process has at most */

struct stream_order {
	__u64 stream, scope; /* the other stream, as in stream_key */
	__u64 before;
	__u64 epoch; /* 0: free */
};

struct stream_orders {
	__u32 lock; /* as a stream's */
	__u32 pad;
	struct stream_order orders[STREAM_ORDERS];
};

/* process_record.orders: what a wait for a stream may prove of others. Where it is 0 nothing of that is looked at. */
#define ORDERS_EVENTS 1	   /* some stream waits for another's event */
#define ORDERS_LEGACY 2	   /* the legacy default stream has had copies, or an order */
#define ORDERS_BLOCKING 4  /* a blocking stream has had copies */
#define ORDERS_ELSEWHERE 8 /* some event is OBJECT_ELSEWHERE */

struct context_key {
	__u64 context;
	__u32 slot;
	__u32 pad;
};

struct context_record {
	__u64 covered; /* see stream_record */
	__u64 covered_ns;
	__u64 died_ns;				     /* when it last went, with all that lived in it; its handle may have come back since */
	__u64 died_epoch;			     /* copies of an earlier epoch went with it, done or not */
	__u64 blocking_covered, blocking_covered_ns; /* as `covered`, of its blocking streams alone */
	/*
	 * With an account: epochs before which work is done as well, though no wait was for it. All of it, since a free
	 * blocked, or an event follows it; what blocking streams were given, since the legacy default stream comes
	 * after that; what the latter was given, since they come after that.
	 */
	__u64 all_epoch, blocking_epoch, legacy_epoch;
	__u8 device;
	__u8 dying; /* the call that ends it has not returned: died_ns may be taken back */
	__u8 pad[2];
	__u32 attached; /* references beside that of its maker */
};

/* A device as its process numbers it. */
struct device_key {
	__u16 slot;
	__u8 device;
	__u8 pad;
};

#define UUID_SIZE 16

struct device_record {
	__u64 primary; /* the primary context; 0: not known */
	__u64 pool;    /* that it allocates from now, see struct pool_key */
	__u32 retains; /* references to it that were seen taken, less those given back */
	__u8 has_uuid;
	__u8 pad[3];
	__u8 uuid[UUID_SIZE];
};

/*
 * The driver reserves for a pool in steps of 32 MiB (measured on driver 580,
 * H200: docs/gpu-results.md). What `bytes` take is that, rounded up.
 */
#define POOL_STEP (32ull << 20)
#define POOL_STEPS(bytes) ((bytes) > ~0ull - POOL_STEP ? (bytes) : ((bytes) + POOL_STEP - 1) / POOL_STEP * POOL_STEP)

/*
 * A memory pool. A program that allocates from its device's pool need not know
 * the handle, so a device's first pool has handle 0 here; once its handle is
 * told, that is an alias.
 */
struct pool_key {
	__u64 handle;
	__u16 slot;
	__u8 device; /* of handle 0; else 0 */
	__u8 pad[5];
};

struct pool_record {
	__u64 handle; /* as the program knows it; 0: not known */
	__u64 used;   /* by allocations that were seen */
	__s64 beyond; /* what the program was told to be used, less `used` then */
	__u64 reserved;
	__u64 threshold; /* down to which a wait lets it fall */
	__u64 waits;	 /* the process's, when last looked at */
	__u8 device;
	__u8 alias;	/* stands for handle 0 of `device`; nothing else here counts */
	__u8 destroyed; /* lives until its last allocation is freed */
	__u8 estimated; /* `reserved` has changed since the program was told */
	__s32 carries;	/* by so many times 2^64 is more used than `used` says */
};

/* What the driver holds to be in use, as far as the program was told: ~0 where it is more, 0 where it would be less. */
static inline __u64 pool_record__used(const struct pool_record *pool)
{
	__u64 used = pool->used, beyond = (__u64)pool->beyond;

	if (pool->carries)
		return pool->carries > 0 ? ~0ull : 0;
	if (pool->beyond >= 0)
		return used > ~0ull - beyond ? ~0ull : used + beyond;
	return used > -beyond ? used + beyond : 0;
}

/* What `beyond` is when the program is told that so much is used. */
static inline __s64 pool_record__beyond(const struct pool_record *pool, __u64 told)
{
	__u64 more = told > pool->used ? told - pool->used : pool->used - told, most = ~0ull >> 1;

	if (more > most)
		more = most;
	return told > pool->used ? (__s64)more : -(__s64)more;
}

/* Streams, events, modules and libraries that live. */
struct object_key {
	__u64 handle;
	__u16 slot;
	__u8 kind; /* enum object_kind */
	__u8 pad[5];
};

#define OBJECT_NON_BLOCKING 0x01 /* a stream that does not wait for the legacy default stream */
#define OBJECT_ELSEWHERE 0x02	 /* an event that other processes, or graphs, may record */
#define OBJECT_RECORDED 0x04	 /* with an account: an event that has been recorded */

struct object_record {
	__u64 context;
	__u64 start_ns;
	__u16 row;
	__u8 device;
	__u8 flags; /* OBJECT_* */
	__u32 pad;
	/* With an account: of an event that has never been recorded */
	__u32 waits;
	__u32 queries;
};

/* With an account: copies to an allocation of pinned memory, the latest of which was on that stream. */
struct target_key {
	__u64 address; /* the allocation's */
	__u32 slot;
	__u32 pad;
};

struct target_record {
	struct stream_key stream;
	__u64 epoch;	    /* as stream_record.worked */
	__u64 calls, bytes; /* since all were covered last */
};

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

struct record_library {
	struct record header; /* slot unused */
	__s32 pid;	      /* in gpuprobe's pid namespace */
	__u16 stopped;	      /* the process has been sent SIGSTOP and waits for SIGCONT */
	__u16 parent_stopped; /* its parent was stopped already, by someone else */
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
