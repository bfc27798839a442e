/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile of a run, which `stat` and `diagnose` request: where threads spend their time, how
 * long calls take, what is allocated and copied repeatedly, when the GPU was idle. BPF keeps it if
 * config.profile is set. It is updated at each call, so it is complete; sampled values are marked
 * as such. Times are CLOCK_BOOTTIME nanoseconds.
 *
 * Fields with a single writer are updated without atomic operations: only its own thread writes a
 * struct thread_profile.
 */
#ifndef GPUPROBE_PROFILE_H
#define GPUPROBE_PROFILE_H

#include "gpuprobe/state.h"

/*
 * Time histograms: 16 equal buckets below 2^FIRST_OCTAVE ns, then 16 per octave, so that a bucket's
 * middle is at most 3.2 % off. The last bucket also takes all times above 64 s.
 */
#define TIME_STEPS 16
#define TIME_FIRST_OCTAVE 7
#define TIME_OCTAVES 29
#define TIME_BUCKETS (TIME_STEPS + TIME_OCTAVES * TIME_STEPS)

/* What an outermost call spends its time on, by operation. */
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
	case OP_LAUNCH_LIST: return TIME_LAUNCH;
	case OP_ALLOC:
	case OP_FREE:
	case OP_VIRTUAL:
	case OP_POOL: return TIME_MEMORY;
	case OP_COPY:
	case OP_SET: return TIME_COPY;
	case OP_WAIT: return TIME_WAIT;
	default: return TIME_OTHER;
	}
}

struct time_totals {
	__u64 calls;
	__u64 ns;
};

/*
 * Calls that set CUDA up, mostly once: they show where startup time goes. They count at any depth,
 * but not inside another setup call.
 */
enum setup_class {
	SETUP_INIT = 0, /* cuInit */
	SETUP_CONTEXT,	/* contexts: create, retain, make current, end */
	SETUP_MODULE,	/* loading modules and libraries, looking up kernels in them */
	SETUP_GRAPH,	/* capturing, building and instantiating graphs */
	SETUP_CLASSES,
};

static inline enum setup_class setup_class_of(__u8 operation, __u8 kind)
{
	switch (operation) {
	case OP_ASK: return kind == ASK_START ? SETUP_INIT : SETUP_CLASSES;
	case OP_CONTEXT: return SETUP_CONTEXT;
	case OP_GET_KERNEL: return SETUP_MODULE;
	case OP_CAPTURE:
	case OP_GRAPH: return SETUP_GRAPH;
	case OP_CREATE:
		if (kind == OBJECT_CONTEXT)
			return SETUP_CONTEXT;
		if (kind == OBJECT_MODULE || kind == OBJECT_LIBRARY)
			return SETUP_MODULE;
		return kind == OBJECT_GRAPH || kind == OBJECT_GRAPH_EXEC ? SETUP_GRAPH :
									   SETUP_CLASSES;
	default: return SETUP_CLASSES;
	}
}

/* Successful host-to-device copies that were executed, not captured. */
struct upload_sums {
	__u64 calls, bytes, ns;
	__u64 pageable_bytes; /* bytes from memory known to be pageable */
};

/* A thread's time inside CUDA calls so far. */
struct start_sums {
	__u64 inside[TIME_CLASSES];	  /* outermost calls */
	__u64 setup[SETUP_CLASSES];	  /* setup calls: outermost or nested in `inside` */
	__u64 setup_inside[TIME_CLASSES]; /* all of `setup`, by the outermost call around it */
	__u64 loads;			  /* module and library loads */
	struct upload_sums uploads;
};

/*
 * Durations per process and API row: every call that was seen to return, failed ones included;
 * nested calls of the same act excluded.
 */
struct duration_key {
	__u32 slot;
	__u16 row;
	__u16 pad;
};

struct duration_record {
	__u64 calls; /* sum of `buckets`, which userspace computes; 0 in BPF */
	__u64 ns;
	__u64 max_ns;
	/* not in `ns`: time inside calls that were open when their thread ended */
	__u64 unfinished_ns;
	__u64 buckets[TIME_BUCKETS];
};

/* Calls that make a submitting thread wait for the GPU although it did not request a wait. */
enum implicit_wait {
	IMPLICIT_COPY = 0, /* a synchronous copy */
	IMPLICIT_SET,
	IMPLICIT_FREE, /* of device or pinned memory, not stream-ordered */
	IMPLICIT_LOAD, /* loads a module or library, maybe nested in a kernel's first launch */
	/* a slow first launch without a visible load: the driver may have loaded without a call */
	IMPLICIT_FIRST_LAUNCH,
	IMPLICIT_WAITS,
};

#define IMPLICIT_MIN_NS 10000 /* shorter calls did not block */
#define CHAINED_GAP_NS 50000  /* launches with at most this gap are back to back */
#define IDLE_GAP_NS 100000000 /* the GPU is idle if its queue is empty for longer */
/* ended threads that wait to be read; any beyond are only added to the process's sums */
#define PROFILE_ENDED 512
#define PROFILE_DURATIONS 4096 /* (process, function) histograms */

/*
 * A thread that makes watched calls. BPF sets ended_ns when it exits; userspace then frees its
 * counter slot.
 */
struct thread_profile {
	__u32 slot;
	__s32 tid;	 /* in gpuprobe's pid namespace */
	__u64 start_ns;	 /* of the thread */
	__u64 first_ns;	 /* entry of its first watched call */
	__u64 latest_ns; /* return of its latest watched call */
	__u64 ended_ns;	 /* 0: alive */
	char comm[16];
	struct time_totals time[TIME_CLASSES]; /* outermost calls, failed ones included */

	/* As in struct start_sums */
	__u64 setup[SETUP_CLASSES], setup_inside[TIME_CLASSES], loads;
	struct upload_sums uploads;

	/* Launches of kernels and graphs that were not captured */
	__u64 launches;
	__u64 launched_ns; /* return of the latest launch */
	/* from the return of one launch to the entry of the next, whatever lies between */
	__u64 gap_count, gap_ns;
	/* launches back to back with the previous one, with no outermost call in between */
	struct time_totals chained;
	__u64 chained_gap_ns; /* sum of the gaps before those */
	__u64 others;	      /* outermost calls since the latest launch */

	/*
	 * Successful waits (OP_WAIT), by the number of this thread's launches since the previous
	 * wait
	 */
	__u64 launches_since_wait;
	struct time_totals single_waits; /* exactly one launch */
	struct time_totals bare_waits;	 /* none */
	struct time_totals batch_waits;	 /* more */
	struct time_totals blind_waits;	 /* unknown: launches were not watched throughout */
	__u64 waited_ns;		 /* end of the latest wait */

	/*
	 * Implicit waits between launches: at least one more launch followed. `pending` holds those
	 * that no launch has followed yet.
	 */
	struct time_totals implicit[IMPLICIT_WAITS];
	struct time_totals pending[IMPLICIT_WAITS];
	__u64 pending_calls; /* for all causes */

	/*
	 * Times of more than IDLE_GAP_NS with the device's queue known to be empty, ended by a
	 * launch of this thread
	 */
	__u64 idle_gaps, idle_ns, idle_max_ns;
	__u64 idle_inside_ns; /* part of `idle_ns` inside other CUDA calls of this thread */
	__u64 idle_stack;     /* stack id of the launch that ended the longest one; 0: not taken */
	/*
	 * sum of `time` when the queue became empty, or before this thread's first call since then
	 */
	__u64 inside_ns;
	__u64 inside_since; /* device_queue.empty_ns that `inside_ns` belongs to */

	/* The legacy default stream */
	__u64 legacy_launches; /* part of `launches` on this stream */
	/* part of these made while another thread of the process waited for the stream */
	__u64 legacy_behind;
	/*
	 * switches, without a wait in between, from a launch on another stream that this stream
	 * waits for to one on this stream, or the reverse
	 */
	__u64 legacy_crossings;
	/* Waits that cover it */
	struct time_totals legacy_waits;
	/*
	 * stream of the latest launch, see bpf/profile/stream.bpf.h; its device in the upper 8 bits
	 */
	__u64 last_stream;
	__u64 last_epoch; /* device_queue.launched_epoch at the latest launch */

	__u64 submitting_ns; /* entry of the possibly submitting call the thread is in; 0: none */
	__u64 submits;	     /* enum submitter_state */
	/* stream, as in last_stream, whose work is not in its device's list yet; 0: none */
	__u64 unlisted;

	/* The latest failed call whose error the program has not queried; code 0: none */
	__s32 error_code;
	__u32 error_row;
	__u64 error_ns;
	__u64 error_launches; /* launches since then, including failed and captured ones */
	__u64 error_others;   /* outermost calls since then, without queries */
	__u64 error_stack;

	__u64 gaps[TIME_BUCKETS]; /* histogram of `gap_ns` */
};

/* Allocations of one size by one function, to see how often they come and go. */
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
	/* concurrently; `live` is too high if context ends were missed */
	__u64 live, peak;
	__u64 first_ns, latest_ns; /* entry of the first and latest allocation */
	/* duration of the first allocation, in which the runtime may create its context */
	__u64 first_took_ns;
};

/*
 * entry n has copies of 2^n to 2^(n+1) - 1 bytes; entry 0 includes 0 bytes, the last all larger
 * ones
 */
#define COPY_SIZES 48

enum copy_host {
	COPY_HOST_UNKNOWN = 0, /* or there is no host side */
	COPY_HOST_PINNED,
	COPY_HOST_PAGEABLE,
};

/* Successful executed copies and sets, by kind and mode. */
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
	__u64 ns[COPY_SIZES]; /* time inside the calls */
};

/*
 * One range copied to another. A copy is a repeat if nothing has used or changed its device side
 * since the previous one: no launch, no set, no copy in the other direction, no free. The map
 * evicts the least recently copied ranges; struct process_profile has the total of repeats.
 */
struct repeat_key {
	__u64 from, to, bytes;
	__u16 slot;
	__u8 kind; /* COPY_H2D or COPY_D2H */
	__u8 pad[5];
};

struct repeat_record {
	/* process_profile.device_uses (H2D) or device_changes (D2H) at the latest copy */
	__u64 version;
	__u64 copies;
	__u64 repeats, repeat_ns; /* copies that changed nothing, and the time inside them */
	__u32 row;
	__u32 pad;
};

#define MAPPED_LEAST_BYTES (1u << 20) /* smaller copies are not examined */
#define MAPPED_NAME 64

/* Successful copies to devices directly from a mapped file; shared memory does not count. */
struct mapped_copy_key {
	__u64 inode;
	__u32 device; /* device number of the file system, in the kernel's encoding */
	__u32 slot;
};

struct mapped_copy_record {
	__u64 calls, bytes;
	__u64 ns;    /* time inside the calls */
	__u64 stack; /* stack id of the latest copy; 0: not taken */
	/* file name without directory, truncated. Chosen by the watched process */
	char name[MAPPED_NAME];
};

/* Errors that the program did not query before it launched again. */
struct ignored_key {
	__u32 slot;
	__s32 code;
	__u16 row;
	__u16 pad[3];
};

struct ignored_record {
	__u64 calls;	/* calls that failed with this code */
	__u64 launches; /* launches after the failure, before the next query or failure */
	__u64 first_ns;
	__u64 stack; /* stack id of the latest */
};

#define PROFILE_DEVICES 9 /* the last one takes unknown devices and higher numbers */
#define QUEUE_STREAMS 16  /* streams with work per device that are kept apart; a power of two */
#define SUBMITTERS 32	  /* submitting threads of a process that are kept apart */

enum submitter_state {
	SUBMITTER_NOT = 0,
	SUBMITTER_WAITS, /* waits to enter the list */
	SUBMITTER_LISTED,
};

struct queue_stream {
	__u64 stream, scope; /* as in stream_key */
};

/*
 * What is known to be queued on a device, by its number in the process. Work means launches and any
 * stream operation that the call does not wait for: asynchronous copies, sets.
 *
 * For this process, the device is idle while no stream has work that no wait has covered. An idle
 * time begins at the return of the call that proves it and ends at the entry of the first call that
 * may submit work.
 */
struct device_queue {
	/* protects the streams and `idle_since_ns`; works like stream_record.lock */
	__u32 lock;
	__u32 stream_count; /* entries of `streams` in use */
	/* streams with uncovered work at the last check */
	struct queue_stream streams[QUEUE_STREAMS];
	__u64 unlisted; /* threads whose work on a stream is not in the list yet */
	/*
	 * epoch of the latest work outside these streams; 0: none. Only a wait for the whole device
	 * covers it
	 */
	__u64 loose_epoch;
	__u64 sure_ns; /* entry of the latest wait for the whole device */
	/* when work was last found finished: whether the device was idle before is unknown */
	__u64 done_ns;
	__u64 idle_since_ns;	   /* start of the proven idle time; 0: not known to be idle */
	__u64 idle_ns, idle_times; /* finished idle times */
	/* process_record.epoch at the latest work, plus 1; 0: no work yet */
	__u64 launched_epoch;
	/*
	 * the only stream with work since the queue was last empty, see bpf/profile/stream.bpf.h;
	 * 0: none
	 */
	__u64 stream;
	__u64 mixed;   /* more than one stream had work */
	__u64 context; /* the only context with work so far; 0: unknown */
	/* more than one context had work: the end of one's work proves nothing about the device */
	__u64 shared;
	/* the queue was empty then and no launch has come since; 0: not known to be empty */
	__u64 empty_ns;
	__u64 empty_epoch; /* epoch of the wait that proved it */
	__u64 empty_tid;   /* the thread that waited */
	__u64 busy_ns;	   /* time of the first uncovered copy since `empty_ns`; 0: none */
	/* work other than host copies was queued since `empty_ns`, but no launch */
	__u64 used;
	__u64 copied_ns;      /* time of copies since `empty_ns`, which is not idle time */
	__u64 legacy_waiting; /* threads inside a wait that covers the legacy default stream */
};

/* calls of at least this duration are checked: did another thread's call delay them? */
#define CONTENTION_NS 1000000
#define LONG_CALLS 16 /* latest ones per process; a power of two */
#define CONTENTIONS 8 /* per process; a power of two */

/*
 * A call that lasted CONTENTION_NS and has returned: either one that may hold a driver lock, or a
 * launch or copy.
 */
struct long_call {
	__u64 start_ns, end_ns; /* 0: none */
	__u64 stack;		/* stack id; 0: not taken */
	__u32 counter_slot;	/* as in struct thread */
	__s32 tid;
	__u16 row;
	/*
	 * 1: a module load, an allocation, a free or a device wait; 0: a launch or copy, and the
	 * next two apply:
	 */
	__u8 holds;
	/* index of the struct contention it counts in, plus 1; 0: it overlapped none */
	__u8 pair;
	__u8 together; /* it ended together with the other call of the pair */
	__u8 pad[3];
	__u64 counted_ns; /* time counted in the pair */
	__u64 holder_ns;  /* start of the other call */
};

/*
 * Launches or copies of one call site that took long while another thread was in a call of another
 * site.
 */
struct contention {
	__u32 used;
	__u16 row, holder_row;
	__s32 tid, holder_tid;	   /* the latest pair of threads */
	__u64 stack, holder_stack; /* ids; 0: not taken */
	/* calls that ended together with the holder, and the time both were in progress */
	struct time_totals held;
	__u64 max_ns;
	/* calls that ended at another time: something else delayed them */
	struct time_totals beside;
};

#define MISSING_SITES 8 /* per process */

/* A function at one call site that used results or dropped work without a wait. */
struct missing_site {
	__u32 used; /* 0: free; 1: a thread is filling it in */
	__u32 row;
	__u64 stack; /* stack id; 0: not taken */
	__u64 calls;
	__u64 bytes;  /* frees: bytes that were being copied */
	__u64 number; /* number of the latest call among all such calls of the process */
};

#define MISSING_SITE_READY 2

/* Indexed by slot, like struct process_record. */
struct process_profile {
	struct device_queue queues[PROFILE_DEVICES];
	/*
	 * device memory was used or changed since the two counters were last raised; 2: a thread is
	 * raising them
	 */
	__u64 worked;
	__u64 device_uses, device_changes;
	struct time_totals repeats[2]; /* redundant copies: H2D, D2H */
	__u64 repeat_bytes[2];
	/* work other than host copies is queued on a device and not known to be done */
	__u64 queued;
	/* it allocated managed memory, which the program can use and change without a call */
	__u64 managed;
	/* Results that were possibly used without a wait that covers them */
	__u64 unrecorded_waits; /* waits for events that were never recorded */
	__u64 unrecorded_queries;
	/* streams destroyed while launches or copies on them were uncovered */
	__u64 destroyed_busy;
	__u64 freed_busy; /* host memory freed while an asynchronous copy to it was in flight */
	__u64 freed_busy_bytes;
	__u64 missing_calls; /* all four kinds, including calls that were retracted later */
	/* the first call sites, which cover most of these */
	struct missing_site missing_sites[MISSING_SITES];
	__u64 missing_stack; /* stack id of the latest call of the four kinds; 0: not taken */
	__u64 missing_row;
	/* graphs record events themselves: the recording stream is unknown from then on */
	__u64 events_elsewhere;
	/* Copies to pinned memory that were uncovered when the process ended */
	__u64 exit_copies, exit_bytes;
	struct time_totals asks; /* error queries; their time is not measured */
	/* Counter slots of threads that have submitted work, plus 1 */
	__u32 submitter_lock, submitter_count;
	__u64 unlisted_submitters; /* submitting threads that are not in the list yet */
	__u32 submitters[SUBMITTERS];
	/* the only thread that submitted to an unknown context; ~0: several did; 0: none */
	__u64 strange_tid;
	/* the returns of some submissions are not probed: the queues prove nothing */
	__u32 unproven;
	/* userspace knows that the process uses a single device: unknown contexts belong to it */
	__u32 one_device;
	__u64 launched_ns;  /* return of the first launch; 0: none yet */
	__s32 launched_tid; /* the thread that made it, as in thread_profile.tid */
	__u32 pad;
	struct start_sums launched; /* that thread's sums at that time */
	/* Threads that delayed one another, see bpf/profile/contention.bpf.h */
	__u32 long_lock;
	__u32 long_call_count;
	struct long_call long_calls[LONG_CALLS];
	struct contention contentions[CONTENTIONS];
	/*
	 * pairs of calls without a free entry, or not compared because another thread held the list
	 * for too long
	 */
	__u64 contentions_left;
	/* Threads that ended while the list of ended threads was full: sums only */
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
	return TIME_STEPS + (octave - TIME_FIRST_OCTAVE) * TIME_STEPS +
	       ((__u32)(ns >> (octave - 4)) & (TIME_STEPS - 1));
}

/* The shortest time in a bucket; for TIME_BUCKETS the end of the last bucket. */
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
