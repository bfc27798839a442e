/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile of a run, which `stat` and `diagnose` ask for: where threads
 * spend their time, how long calls take, what is allocated and copied over and
 * over, when the GPU had nothing to do. Kept by BPF where config.profile is
 * set, summed up at each call, so that it is complete, not sampled; what is
 * sampled says so. Times are CLOCK_BOOTTIME nanoseconds.
 *
 * What only one thread writes is written without atomic operations: struct
 * thread_profile is its thread's alone.
 */
#ifndef GPUPROBE_PROFILE_H
#define GPUPROBE_PROFILE_H

#include "gpuprobe/state.h"

/*
 * Histograms of times: below 2^FIRST_OCTAVE ns in 16 equal steps, then 16 to
 * each octave, so that a bucket's middle is at most 3.2 % off. The last one
 * has all that is longer than 64 s.
 */
#define TIME_STEPS 16
#define TIME_FIRST_OCTAVE 7
#define TIME_OCTAVES 29
#define TIME_BUCKETS (TIME_STEPS + TIME_OCTAVES * TIME_STEPS)

/* What an outermost call spends its time on, by its operation. */
enum time_class {
	TIME_LAUNCH = 0, /* kernels, graphs, host functions */
	TIME_MEMORY,	 /* allocate and free, memory of all kinds */
	TIME_COPY,	 /* copies and sets */
	TIME_WAIT,	 /* waits; queries are TIME_OTHER */
	TIME_OTHER,
	TIME_CLASSES,
};

static inline enum time_class time_class_of(__u8 operation)
{
	switch (operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_HOST_FUNCTION:
	case OP_LAUNCH_LIST:
		return TIME_LAUNCH;
	case OP_ALLOC:
	case OP_FREE:
	case OP_VIRTUAL:
	case OP_POOL:
		return TIME_MEMORY;
	case OP_COPY:
	case OP_SET:
		return TIME_COPY;
	case OP_WAIT:
		return TIME_WAIT;
	default:
		return TIME_OTHER;
	}
}

struct time_totals {
	__u64 calls;
	__u64 ns;
};

/* What sets CUDA up, once as a rule: where the time of a start goes. Wherever it is called, but not inside another of these. */
enum setup_class {
	SETUP_INIT = 0, /* cuInit */
	SETUP_CONTEXT,	/* contexts are made, retained, made current, ended */
	SETUP_MODULE,	/* modules and libraries are loaded, kernels looked up in them */
	SETUP_GRAPH,	/* captures, graphs built and instantiated */
	SETUP_CLASSES,
};

static inline enum setup_class setup_class_of(__u8 operation, __u8 kind)
{
	switch (operation) {
	case OP_ASK:
		return kind == ASK_START ? SETUP_INIT : SETUP_CLASSES;
	case OP_CONTEXT:
		return SETUP_CONTEXT;
	case OP_GET_KERNEL:
		return SETUP_MODULE;
	case OP_CAPTURE:
	case OP_GRAPH:
		return SETUP_GRAPH;
	case OP_CREATE:
		if (kind == OBJECT_CONTEXT)
			return SETUP_CONTEXT;
		if (kind == OBJECT_MODULE || kind == OBJECT_LIBRARY)
			return SETUP_MODULE;
		return kind == OBJECT_GRAPH || kind == OBJECT_GRAPH_EXEC ? SETUP_GRAPH : SETUP_CLASSES;
	default:
		return SETUP_CLASSES;
	}
}

/* Copies from the host to devices, that succeeded and were not captured. */
struct upload_sums {
	__u64 calls, bytes, ns;
	__u64 pageable_bytes; /* of memory that is known not to be pinned */
};

/* Where a thread's time inside CUDA calls has gone so far. */
struct start_sums {
	__u64 inside[TIME_CLASSES];	  /* outermost calls */
	__u64 setup[SETUP_CLASSES];	  /* of these, or inside them */
	__u64 setup_inside[TIME_CLASSES]; /* all of `setup`, by the outermost call that it is in */
	__u64 loads;			  /* modules and libraries */
	struct upload_sums uploads;
};

/* Of a process and a row of the API: every call that was seen to return, failed ones too; nested ones of the same act not. */
struct duration_key {
	__u32 slot;
	__u16 row;
	__u16 pad;
};

struct duration_record {
	__u64 calls; /* all of `buckets`; BPF leaves it 0 */
	__u64 ns;
	__u64 max_ns;
	__u64 unfinished_ns; /* beside `ns`: inside calls that had not returned when their thread ended */
	__u64 buckets[TIME_BUCKETS];
};

/* What makes a thread that feeds the GPU wait for it, though no wait was asked for. */
enum implicit_wait {
	IMPLICIT_COPY = 0, /* a synchronous copy */
	IMPLICIT_SET,
	IMPLICIT_FREE,	       /* of device or pinned memory, not in stream order */
	IMPLICIT_LOAD,	       /* a module or library, by a call, maybe one inside a kernel's first launch */
	IMPLICIT_FIRST_LAUNCH, /* a slow one in which no load was seen: the driver may have loaded without a call */
	IMPLICIT_WAITS,
};

#define IMPLICIT_MIN_NS 10000  /* a call that took less has not blocked */
#define CHAINED_GAP_NS 50000   /* launches with at most this between them are back to back */
#define IDLE_GAP_NS 100000000  /* the GPU's queue is empty for longer: it is idle */
#define ACCOUNT_ENDED 512      /* that have ended and wait to be read; those beyond are summed up at once */
#define ACCOUNT_DURATIONS 4096 /* functions of processes */

/* A thread that makes watched calls. ended_ns is set when it exits; userspace gives its place free then. */
struct thread_profile {
	__u32 slot;
	__s32 tid;	 /* in gpuprobe's pid namespace */
	__u64 start_ns;	 /* of the thread */
	__u64 first_ns;	 /* its first watched call's entry */
	__u64 latest_ns; /* its latest watched call's return */
	__u64 ended_ns;	 /* 0: it lives */
	char comm[16];
	struct time_totals time[TIME_CLASSES]; /* outermost calls, failed ones too */

	/* As struct start_sums has them */
	__u64 setup[SETUP_CLASSES], setup_inside[TIME_CLASSES], loads;
	struct upload_sums uploads;

	/* Launches, of kernels and of graphs, captured ones not */
	__u64 launches;
	__u64 launched_ns;	    /* the latest's return */
	__u64 gap_count, gap_ns;    /* from the return of one to the entry of the next, whatever is between */
	struct time_totals chained; /* launches back to back with the one before, no other outermost call between */
	__u64 chained_gap_ns;	    /* the gaps before these */
	__u64 others;		    /* outermost calls since the latest launch */

	/* Waits (OP_WAIT) that succeeded, by the launches of this thread since the one before */
	__u64 launches_since_wait;
	struct time_totals single_waits; /* exactly one launch */
	struct time_totals bare_waits;	 /* none */
	struct time_totals batch_waits;	 /* more */
	struct time_totals blind_waits;	 /* unknown: launches were not watched all the time since */
	__u64 waited_ns;		 /* the latest's end */

	/* Implicit waits in the middle of launches: more launches followed. Those that none has followed yet are pending. */
	struct time_totals implicit[IMPLICIT_WAITS];
	struct time_totals pending[IMPLICIT_WAITS];
	__u64 pending_calls; /* of all causes */

	/* Times of more than IDLE_GAP_NS with the device's queue known to be empty, which a launch of this thread ended */
	__u64 idle_gaps, idle_ns, idle_max_ns;
	__u64 idle_inside_ns; /* of these: inside other CUDA calls of this thread */
	__u64 idle_stack;     /* id of the launch that ended the longest; 0: not taken */
	__u64 inside_ns;      /* all of `time`, when the queue became empty, or before this thread's first call since */
	__u64 inside_since;   /* device_queue.empty_ns of that time */

	/* The legacy default stream */
	__u64 legacy_launches;	/* of `launches`: onto it */
	__u64 legacy_behind;	/* of these: while another thread of the process waited for it */
	__u64 legacy_crossings; /* launches onto it after one onto another stream that it waits for, or the reverse, no wait between */
	/* waits that cover it */
	struct time_totals legacy_waits;
	__u64 last_stream; /* of the latest launch: bpf/profile/stream.bpf.h, its device in the upper 8 bits */
	__u64 last_epoch;  /* device_queue.launched_epoch of that */

	__u64 submitting_ns; /* the entry of the call that may submit work, in which the thread is; 0: it is in none */
	__u64 submits;	     /* enum submitter_state */
	__u64 unlisted;	     /* the stream, as in last_stream, of work that has yet to come to the list of its device; 0: none */

	/* The latest failed call that the program has not asked about; code 0: none */
	__s32 error_code;
	__u32 error_row;
	__u64 error_ns;
	__u64 error_launches; /* launches since, failed ones and captured ones too */
	__u64 error_others;   /* outermost calls since, of any kind; those that only ask not */
	__u64 error_stack;

	__u64 gaps[TIME_BUCKETS]; /* of `gap_count` */
};

/* Allocations of one size by one function: how often they come and go. */
struct size_key {
	__u64 size;
	__u16 slot;
	__u16 row; /* of the allocation */
	__u8 kind; /* enum memory_kind */
	__u8 device;
	__u8 pad[2];
};

struct size_record {
	__u64 allocations, allocation_ns;
	__u64 frees, free_ns;
	__u64 live, peak;	   /* at a time; with context ends not known, `live` is then too high */
	__u64 first_ns, latest_ns; /* allocations */
	__u64 first_took_ns;	   /* the first allocation: the runtime may make its context inside it */
};

#define COPY_SIZES 48 /* the n-th has copies of 2^n to 2^(n+1) - 1 bytes, the first those of 0 as well, the last all larger */

enum copy_host {
	COPY_HOST_UNKNOWN = 0, /* or there is none */
	COPY_HOST_PINNED,
	COPY_HOST_PAGEABLE,
};

/* Executed copies and sets that succeeded, by kind and mode. */
struct copy_size_key {
	__u16 slot;
	__u8 kind; /* enum copy_kind */
	__u8 async;
	__u8 host; /* enum copy_host */
	__u8 device;
	__u8 pad[2];
};

struct copy_size_record {
	__u64 calls[COPY_SIZES];
	__u64 bytes[COPY_SIZES];
	__u64 ns[COPY_SIZES]; /* inside the calls */
};

/*
 * One range copied to another. It is copied again where nothing has used or
 * changed the one side of it on the device since: no launch, no set, no copy of another
 * direction, no free. The map forgets the least recently copied ranges; how much was copied again is in
 * struct process_profile.
 */
struct repeat_key {
	__u64 from, to, bytes;
	__u16 slot;
	__u8 kind; /* COPY_H2D or COPY_D2H */
	__u8 pad[5];
};

struct repeat_record {
	__u64 version; /* process_profile's device_uses (H2D) or device_changes (D2H) at the latest copy */
	__u64 copies;
	__u64 repeats, repeat_ns; /* of these: again for nothing, and the time inside them */
	__u32 row;
	__u32 pad;
};

#define MAPPED_LEAST_BYTES (1u << 20) /* smaller copies are not looked at */
#define MAPPED_NAME 64

/* Copies to devices straight from a mapped file, that succeeded; shared memory is none. */
struct mapped_copy_key {
	__u64 inode;
	__u32 device; /* of the file system, as the kernel has it */
	__u32 slot;
};

struct mapped_copy_record {
	__u64 calls, bytes;
	__u64 ns;		/* inside the calls */
	__u64 stack;		/* id of where the latest was made; 0: not taken */
	char name[MAPPED_NAME]; /* of the file, without its directory; cut off. The process's choice */
};

/* Errors that the program did not ask about, but made launches after. */
struct ignored_key {
	__u32 slot;
	__s32 code;
	__u16 row;
	__u16 pad[3];
};

struct ignored_record {
	__u64 calls;	/* that failed so */
	__u64 launches; /* after them, before anything was asked or failed again */
	__u64 first_ns;
	__u64 stack; /* id of the latest */
};

#define ACCOUNT_DEVICES 9 /* the last has the calls whose device is not known, and devices of higher numbers */
#define QUEUE_STREAMS 16  /* streams of a device that are told apart while they have work; a power of two */
#define SUBMITTERS 32	  /* threads of a process whose submissions are told apart */

enum submitter_state {
	SUBMITTER_NOT = 0,
	SUBMITTER_WAITS, /* to come to the list */
	SUBMITTER_LISTED,
};

struct queue_stream {
	__u64 stream, scope; /* as in stream_key */
};

/*
 * What is known to be queued on a device, by its number in the process. Work is
 * launches and what else is put on a stream and not waited for in the call: asynchronous copies, sets.
 *
 * The device is idle, as far as this process goes, while no stream has work that no wait has covered. An idle time begins at
 * the return of the call that proves it, and ends at the entry of the first call that may submit work.
 */
struct device_queue {
	__u32 lock;				    /* of the streams and `idle_since_ns`; as a stream's */
	__u32 stream_count;			    /* of `streams` */
	struct queue_stream streams[QUEUE_STREAMS]; /* with work that no wait had covered when that was looked at last */
	__u64 unlisted;				    /* threads whose work on a stream has yet to come to the list */
	__u64 loose_epoch;			    /* of the latest work that is none of these streams'; 0: none. Only a wait for the whole device covers it */
	__u64 sure_ns;				    /* the entry of the latest wait for the whole device */
	__u64 done_ns;				    /* when work was last found to be done: nobody knows whether it was idle before */
	__u64 idle_since_ns;			    /* proved idle since then; 0: it is not known to be */
	__u64 idle_ns, idle_times;		    /* of idle times that have ended */
	__u64 launched_epoch;			    /* process_record.epoch at the latest work, plus 1; 0: none yet */
	__u64 stream;				    /* the only one with work since it was last empty; see bpf/profile/stream.bpf.h; 0: none */
	__u64 mixed;				    /* not the only one */
	__u64 context;				    /* the only one with work so far; 0: not known */
	__u64 shared;				    /* not the only one: that one of them is done says nothing about the device */
	__u64 empty_ns;				    /* since when no launch has come, and it was empty then; 0: it is not known to be */
	__u64 empty_epoch;			    /* of the wait that told so */
	__u64 empty_tid;			    /* who waited */
	__u64 busy_ns;				    /* when the first copy came since then that no wait has covered; 0: none */
	__u64 used;				    /* not only copies from and to the host have come since then, but no launch */
	__u64 copied_ns;			    /* time of copies since then: it was not empty */
	__u64 legacy_waiting;			    /* threads inside a wait that covers the legacy default stream */
};

#define CONTENTION_NS 1000000 /* calls that last so long are looked at: did another thread's call hold them up? */
#define LONG_CALLS 16	      /* of a process, the latest; a power of two */
#define CONTENTIONS 8	      /* of a process; a power of two */

/* A call that has lasted CONTENTION_NS and has returned: one that may hold a lock of the driver, or a launch or copy. */
struct long_call {
	__u64 start_ns, end_ns; /* 0: none */
	__u64 stack;		/* id; 0: not taken */
	__u32 place;		/* its thread's */
	__s32 tid;
	__u16 row;
	__u8 holds;    /* a module load, an allocation, a free, a wait for the device; else a launch or copy, and: */
	__u8 pair;     /* the number of the struct contention that it counts in, plus 1; 0: it has met none */
	__u8 together; /* it ended with the other call of the pair */
	__u8 pad[3];
	__u64 counted_ns; /* in the pair */
	__u64 holder_ns;  /* the start of the other call */
};

/* Launches or copies of one place that lasted while a call of another place was in progress in another thread. */
struct contention {
	__u32 used;
	__u16 row, holder_row;
	__s32 tid, holder_tid;	   /* the latest threads */
	__u64 stack, holder_stack; /* ids; 0: not taken */
	struct time_totals held;   /* calls that ended when the other did, and how long both were in progress */
	__u64 max_ns;
	struct time_totals beside; /* calls that ended at another time: something else made them last */
};

#define MISSING_SITES 8 /* of a process */

/* Where results were used, or work was dropped, without a wait: one function at one place. */
struct missing_site {
	__u32 used; /* 0: free; 1: another thread is about to fill it in */
	__u32 row;
	__u64 stack; /* id; 0: not taken */
	__u64 calls;
	__u64 bytes;  /* of frees: what was being copied */
	__u64 number; /* of the latest, among all such calls of the process */
};

#define MISSING_SITE_READY 2

/* By slot, beside struct process_record. */
struct process_profile {
	struct device_queue queues[ACCOUNT_DEVICES];
	__u64 worked; /* device memory was used or changed since these were raised last; 2: they are being raised */
	__u64 device_uses, device_changes;
	struct time_totals repeats[2]; /* of copies for nothing: H2D, D2H */
	__u64 repeat_bytes[2];
	__u64 queued;  /* work, other than copies from and to the host, is on a device, not known to be done */
	__u64 managed; /* managed memory was allocated: the program may use and change it without a call */
	/* Results that were used, perhaps, without a wait that covers them */
	__u64 unrecorded_waits; /* waits for events that were made but never recorded */
	__u64 unrecorded_queries;
	__u64 destroyed_busy; /* streams destroyed with launches or copies that no wait had covered */
	__u64 freed_busy;     /* host memory freed while an asynchronous copy to it was in flight */
	__u64 freed_busy_bytes;
	__u64 missing_calls;				  /* of all four, those that were taken back later as well */
	struct missing_site missing_sites[MISSING_SITES]; /* of most of these, the first places */
	__u64 missing_stack;				  /* id of the latest of these four; 0: not taken */
	__u64 missing_row;
	__u64 events_elsewhere; /* graphs record events of their own: who has recorded what is not seen any more */
	/* the process ended with these copies to pinned memory, which no wait had covered */
	__u64 exit_copies, exit_bytes;
	struct time_totals asks; /* calls that ask for an error; their time is not taken */
	/* Places of the threads that have submitted work, plus 1 */
	__u32 submitter_lock, submitter_count;
	__u64 unlisted_submitters; /* that have yet to come to the list */
	__u32 submitters[SUBMITTERS];
	__u64 strange_tid;  /* the only thread that has submitted work to a context that is not known; ~0: there are several; 0: none has */
	__u32 unproven;	    /* the returns of some submissions are not seen: the queues prove nothing */
	__u32 one_device;   /* userspace knows that the process uses no other: contexts that are not known are of one */
	__u64 launched_ns;  /* the return of the first launch; 0: there was none */
	__s32 launched_tid; /* whose that was, as thread_profile.tid */
	__u32 pad;
	struct start_sums launched; /* what that thread had done then */
	/* Threads that held one another up, bpf/profile/contention.bpf.h */
	__u32 long_lock;
	__u32 long_call_count;
	struct long_call long_calls[LONG_CALLS];
	struct contention contentions[CONTENTIONS];
	__u64 contentions_left; /* calls of pairs that had no room, or that were not compared: another thread had the list for too long */
	/* Threads that ended when many others had: only summed up */
	__u64 unlisted_threads;
	struct time_totals unlisted_time[TIME_CLASSES];
	__u64 unlisted_wall_ns;
};

/* The bucket of a time. */
static inline __u32 time_bucket(__u64 ns)
{
	__u32 octave = TIME_FIRST_OCTAVE;

	if (ns < 1u << TIME_FIRST_OCTAVE)
		return (__u32)(ns >> (TIME_FIRST_OCTAVE - 4));
	if (ns >> (TIME_FIRST_OCTAVE + TIME_OCTAVES))
		return TIME_BUCKETS - 1;
	for (__u32 step = 16; step; step >>= 1)
		if (ns >> (octave + step))
			octave += step;
	return TIME_STEPS + (octave - TIME_FIRST_OCTAVE) * TIME_STEPS + ((__u32)(ns >> (octave - 4)) & (TIME_STEPS - 1));
}

/* The least time that is in a bucket; of TIME_BUCKETS the end of the last. */
static inline __u64 time_bucket_start(__u32 bucket)
{
	__u32 octave, step;

	if (bucket < TIME_STEPS)
		return (__u64)bucket << (TIME_FIRST_OCTAVE - 4);
	octave = TIME_FIRST_OCTAVE + (bucket - TIME_STEPS) / TIME_STEPS;
	step = (bucket - TIME_STEPS) % TIME_STEPS;
	return (1ull << octave) + ((__u64)step << (octave - 4));
}

#endif
