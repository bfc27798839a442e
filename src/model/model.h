/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What gpuprobe knows at one moment: plain data, filled from the BPF maps
 * (collect/) and read by the forms of output (output/). Counters are totals
 * since gpuprobe first saw the process; they never go back.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "gpuprobe/function.h"
#include "gpuprobe/losses.h"
#include "gpuprobe/rate.h"
#include "gpuprobe/state.h"
#include "model/silent_targets.h"
#include "device/gpu.h"
#include "model/site.h"

enum section {
	SECTION_MEMORY = 1 << 0,
	SECTION_LAUNCH = 1 << 1,
	SECTION_COPY = 1 << 2,
	SECTION_ALL = SECTION_MEMORY | SECTION_LAUNCH | SECTION_COPY,
};

struct profile;
struct host_process;
struct host_side;
struct process_steps;

/* Live are the allocations less those that were never_live or replaced, went with their context, or have been freed. */
struct memory_totals {
	uint64_t allocations; /* successful calls */
	uint64_t allocation_failures;
	uint64_t allocation_ns; /* time inside successful calls */
	uint64_t frees;		/* successful calls, whatever they freed */
	uint64_t free_failures;
	uint64_t unknown_frees; /* of these frees: of addresses never seen allocated */
	/* of these allocations: of no bytes, which have no address, or without room on record */
	uint64_t never_live;
	uint64_t replaced;     /* of these allocations: freed where it was not seen, as their address came again */
	uint64_t with_context; /* ended with their context, not by a call of their own */
	uint64_t with_context_bytes;
	uint64_t live_bytes;
	uint64_t live_count;
	__int128 balance; /* what live_bytes is made from: bytes that came less those that went; for collect/ only */
};

/* Memory that ended with its context, of one kind on one device. */
struct context_ends {
	uint8_t kind, device;
	uint64_t count;
	__int128 bytes;
};

/* A memory pool. */
struct pool_totals {
	uint64_t handle; /* 0: not known */
	uint8_t device;	 /* its number in the process, or DEVICE_UNKNOWN */
	uint64_t used;	 /* bytes of live allocations; as the driver rounds them, once it has told */
	uint64_t reserved;
	uint64_t threshold; /* bytes that waits leave reserved */
	bool estimated;	    /* `reserved` is reckoned, not told by the driver */
	bool destroyed;	    /* but for its live allocations */
};

struct allocation {
	uint64_t address;	   /* or handle */
	uint64_t size;		   /* bytes; 0 in the list of freed ones */
	uint64_t start_ns;	   /* CLOCK_BOOTTIME of the call's entry */
	uint8_t kind;		   /* enum memory_kind */
	uint8_t device;		   /* its number in the process, or DEVICE_UNKNOWN */
	uint64_t stack_id;	   /* 0: none was taken */
	const struct stack *stack; /* NULL: not known */
};

struct kernel {
	uint64_t handle;	   /* of its latest entry; what the program passed */
	char *name;		   /* full demangled name; NULL while unknown */
	char *short_name;	   /* bare function name; NULL while unknown */
	uint64_t launches;	   /* executed; failed ones included */
	uint64_t captured;	   /* put into graphs */
	uint64_t missed;	   /* of these launches and captured ones, what is estimated */
	struct shape_record shape; /* of sampled launches; without samples where none was seen */
	uint64_t serial;	   /* order of first sight within the process, from 0 */
	bool is_rest;		   /* those without names beyond a thousand: it has no handle */
};

struct copy_totals {
	uint64_t calls; /* successful */
	uint64_t bytes; /* of successful calls */
	uint64_t ns;	/* inside successful calls; of asynchronous ones: to enqueue */
	/* Of these, what had a host side that is pinned or not, where that is known. */
	uint64_t pinned_calls, pinned_bytes;
	uint64_t pageable_calls, pageable_bytes;
	/* Beside them: put into graphs, not executed. */
	uint64_t captured_calls, captured_bytes;
	/* Beside them: made, but their return was not followed. */
	uint64_t unfollowed_calls, unfollowed_bytes;
};

/* Asynchronous copies that waits have covered: how fast they were at least. */
struct covered_totals {
	uint64_t calls, bytes;
	uint64_t ns; /* from the issue of the oldest of each stretch to the end of its wait */
};

/* Objects of a kind. Those that went with their context or are live were all seen made. */
struct object_totals {
	uint64_t created;	    /* successful calls, loads of modules and libraries among them */
	uint64_t destroyed;	    /* successful calls */
	uint64_t unknown_destroyed; /* of these: of handles never seen made */
	uint64_t with_context;	    /* gone with their context */
	uint64_t live;
	uint64_t ns;	    /* inside the calls that made them */
	uint64_t in_launch; /* made inside launches, which they made slow */
	uint64_t in_launch_ns;
};

/* An error after which, by CUDA's documentation, a process can only end. */
struct sticky_error {
	int code;	 /* 0: none was met */
	uint64_t ns;	 /* CLOCK_BOOTTIME, of the first failure */
	uint64_t same;	 /* later calls that failed with it */
	uint64_t others; /* later calls that did not */
};

/* Time that threads spent blocked, or asked whether they would be. */
struct wait_totals {
	uint64_t calls;	     /* successful */
	uint64_t ns;	     /* inside them, and `beside_ns` */
	uint64_t beside_ns;  /* of it: inside calls that failed, have not returned yet, or never did */
	uint64_t open;	     /* calls in progress */
	uint64_t unfollowed; /* beside them: calls whose return was not followed */
};

/* A call in progress that no other watched one made; or a thread ended inside it. */
struct open_call {
	uint16_t row;	/* in api_functions */
	uint8_t device; /* its number in the process, or DEVICE_UNKNOWN */
	bool seen;	/* by the reading in progress; for collect/ only */
	bool based;	/* others_before is known; for collect/ only */
	bool earlier;	/* it began before gpuprobe came, which is its start_ns */
	int32_t tid;
	char comm[16];
	uint64_t thread_start_ns;
	uint64_t start_ns;	   /* CLOCK_BOOTTIME of its entry */
	uint64_t ended_ns;	   /* when the thread ended inside it; 0: it is in progress */
	const struct stack *stack; /* from the CUDA function on; NULL: not known, as of those that are not `earlier` */
	uint64_t others_before;	   /* calls of the process by the first reading that was made all during it, and since */
	uint64_t others;
};

#define OPEN_CALLS_LISTED 64 /* of a process */
#define OPEN_CALLS_ENDED 16  /* of these, threads that ended inside one */

struct query_totals {
	uint64_t calls;	    /* that got an answer */
	uint64_t not_ready; /* of these: "not yet" */
};

/*
 * Calls whose return was not followed: --no-return-probes, or their thread had switched stacks inside a call. Whether they
 * succeeded and how long they took is not known. Copies and waits among them stand with the others' as well.
 */
struct unfollowed_totals {
	uint64_t calls; /* all but launches, which are counted at entry anyway */
	uint64_t allocations, allocated_bytes;
	uint64_t frees; /* those of memory on record are taken to have succeeded */
};

struct copy_inflight {
	uint64_t calls, bytes;
	uint64_t oldest_ns; /* age of the oldest; 0 when there is none */
};

/* Executed launches of graphs of one size. */
struct graph_run {
	uint64_t kernels; /* in each */
	bool unknown;	  /* how many there are is not known */
	uint64_t launches;
};

struct failure {
	const char *function; /* "cudaMalloc" */
	const char *error;    /* "cudaErrorMemoryAllocation", or NULL when the table has none */
	int code;
	enum layer layer;
	uint64_t count;
	uint64_t first_ns, last_ns; /* CLOCK_BOOTTIME */
	bool sampled;		    /* one launch in `launch_sample` was checked */
	bool is_rest;		    /* all that have no entry of their own: function, error, code and layer tell nothing */
};

/* What a process did on one device. */
struct device_totals {
	uint8_t device; /* its number in the process, or DEVICE_UNKNOWN */
	uint64_t launches;
	uint64_t allocations, live_bytes, live_count; /* memory of the device */
	__int128 balance;			      /* as of memory_totals */
	uint64_t copies, copy_bytes;
	uint64_t wait_ns;
	struct wait_totals waits[WAIT_SCOPES], copy_waits, free_waits; /* as of the process */
	uint64_t objects[OBJECT_KINDS];				       /* live */
	bool had_objects[OBJECT_KINDS];				       /* live in an earlier reading */
};

/*
 * Calls of a family whose probes may be out for a part of the time (`--max-overhead`). What totals say of it is the sum
 * of both; memory, objects, failures by their code, histograms, gaps and call sites hold what was counted alone.
 */
struct family_calls {
	uint64_t counted;
	uint64_t missed; /* estimated */
	bool sampled;	 /* there may be more, since the probes were out during its life */
};

/* What was counted of one function, told apart as in the BPF maps: see struct tally_key. */
struct function_totals {
	uint16_t row; /* in api_functions */
	uint16_t flags;
	uint8_t kind, device;
	uint64_t calls, failures, bytes, ns;
	uint64_t other_ns;	/* inside calls that failed, or whose thread ended inside them */
	uint64_t open, open_ns; /* calls in progress, and the time in them so far */
};

#define SERIES_ENDED_NS 120000000000ull /* so that a scraper gets the last values */

struct process {
	uint32_t slot;	   /* number of the process in the BPF maps */
	int32_t pid;	   /* in gpuprobe's pid namespace */
	char comm[16];	   /* of the leader */
	char command[128]; /* the beginning of its command line, raw, with blanks between words; empty: not known */
	uint64_t start_ns; /* CLOCK_BOOTTIME */
	bool since_attach; /* calls before a certain moment were not seen */
	bool ended;
	uint64_t ended_ns; /* CLOCK_BOOTTIME, when ended; its series stay for SERIES_ENDED_NS */
	bool reported_end; /* a report has shown it as ended */
	bool paged_end;	   /* a metrics page has */
	bool crowded_out;  /* it leaves, for want of room; for collect/ only */
	size_t kept_bytes; /* what it takes in memory, once it has ended and nothing of it is in the maps */
	bool called;	   /* else it is here for a call in progress from before gpuprobe came */
	bool attributed;   /* those asked for that it belongs to are known to have called */

	uint8_t shim_number, driver_number; /* the driver library that was seen to call another, and that; 0: none was */
	char *shim, *driver;		    /* where these are, raw; NULL: not known */

	bool identified;		 /* the next four are known */
	int32_t parent;			 /* at its first call; 0: not in gpuprobe's pid namespace */
	uint32_t uid;			 /* the real user */
	int32_t namespace_pid;		 /* in its own pid namespace */
	char user[33];			 /* name or, without one, number */
	bool cgroup_known;		 /* container and pod were looked for */
	char container[65];		 /* id; empty: in none */
	char pod[37];			 /* uid; empty: in none */
	const struct host_process *host; /* what its threads did besides calls; NULL: not known; not the model's own */
	struct process_gpu *gpus;	 /* first those with CUDA's numbers, by these */
	size_t gpu_count;

	struct memory_totals memory[MEMORY_KINDS];
	uint64_t captured_allocations, captured_frees; /* put into graphs */
	uint64_t recorded_as_nothing;		       /* handles and addresses that BPF knows, but not as memory */
	uint64_t double_frees;			       /* of what had been freed before, failed or not */
	uint64_t live_at_exit_bytes;		       /* of memory on devices; once ended */
	uint64_t live_at_exit_count;
	/* Largest first, cut to what reports show; live_listed of live_count. */
	struct allocation *live;
	size_t live_listed, live_capacity;
	uint64_t left_out_bytes, left_out_count; /* live, and by the filter neither in `live` nor in live_sites */
	/* Freed since the last report, latest first, each address once, none that is live again. */
	struct allocation *freed;
	size_t freed_listed;
	uint64_t freed_unlisted;   /* frees since the last report that are not in `freed` */
	struct pool_totals *pools; /* by device */
	size_t pool_count;

	struct kernel *kernels; /* by launches, most first */
	size_t kernel_count;
	uint64_t launches; /* of all kernels */
	uint64_t captured_launches;
	uint64_t graph_launches; /* failed ones included, captured ones not */
	uint64_t captured_graph_launches;
	struct graph_run *graph_runs; /* most launches first */
	size_t graph_run_count, graph_run_capacity;
	uint64_t graph_kernels; /* executed by graph launches of known size */
	uint64_t graph_launches_of_unknown_size;
	/* calls that succeeded */
	uint64_t host_functions, captured_host_functions;
	struct wait_totals first_launches; /* one of each kernel, and the time in it; needs returns of launches */

	struct copy_totals copies[COPY_KINDS][2]; /* [kind][0 sync, 1 async] */
	struct copy_inflight inflight[COPY_KINDS];
	struct covered_totals covered[COPY_KINDS];

	struct object_totals objects[OBJECT_KINDS];

	struct wait_totals waits[WAIT_SCOPES];
	struct query_totals queries[WAIT_SCOPES];
	struct wait_totals copy_waits; /* synchronous copies and sets */
	struct wait_totals free_waits; /* frees, but those in stream order */

	struct unfollowed_totals unfollowed;

	struct device_totals *devices; /* by number, the unknown one last */
	size_t device_count;

	struct function_totals *functions;
	size_t function_count, function_capacity;

	struct failure *failures; /* most first, then what has no entry of its own, see model/failures.h */
	size_t failure_count;
	struct sticky_error sticky;

	struct call_site *sites; /* by kind; most first: by amount, of launches and failures by calls */
	size_t site_count;
	struct live_site *live_sites; /* largest first */
	size_t live_site_count;

	struct family_calls family_calls[RATE_FAMILIES]; /* 0 where no probes may be out */

	struct open_call *open; /* longest first; open_listed in all, those of ended threads among them */
	size_t open_listed;
	uint64_t open_count; /* in progress, listed or not */

	struct profile *profile;     /* NULL where none is kept, see model/profile.h */
	struct process_steps *steps; /* NULL where none are looked for, or no thread submits anything; see model/steps.h */

	/* What the lists above are made from; for model/ and collect/ only. */
	struct cuda_environment *environment; /* NULL when not known; malloc */
	struct device_uuid *uuids;	      /* that calls have told */
	size_t uuid_count;
	uint64_t objects_cleared[OBJECT_KINDS]; /* gone with their context, and no longer in the maps */
	struct failure other_failures;
	uint64_t other_calls, other_call_failures, other_call_ns; /* that had no counter by function */
	uint64_t lost_notices;					  /* beyond the process's share of the ring */
	uint64_t *failure_keys;					  /* of those with entries, in order */
	size_t failure_key_count;
	struct kernel_table *kernel_table;
	struct site_table *site_table; /* NULL where no stacks are taken */
	struct context_ends *context_ends;
	size_t context_end_count;
	uint32_t deaths_seen;		  /* contexts that ended so far */
	uint32_t deaths_swept;		  /* of these, those whose memory was cleared away */
	bool fills_ranges, filled_ranges; /* older memory's addresses must be made known, and are */
	uint32_t freed_seen;		  /* frees so far, modulo 2^32 */
	uint32_t freed_reported;	  /* of these, what reports have told of */
};

/* The budget that probes keep to, and how. */
struct sampling {
	/* by how much of its time a thread may be slower, 0.05: 5 %; 0: by any, all probes are in */
	double max_overhead;
	bool by_default;	     /* nobody has asked for it */
	double overhead;	     /* by how much the one that pays most is reckoned to be */
	double share[RATE_FAMILIES]; /* of the time that the family's probes are in now; 1: all of it */
	bool sampled[RATE_FAMILIES]; /* they ever were not */
};

struct model {
	struct timespec wall;	    /* CLOCK_REALTIME of the snapshot */
	uint64_t now_ns;	    /* CLOCK_BOOTTIME of the snapshot */
	unsigned int sections;	    /* enum section, those chosen */
	unsigned int launch_sample; /* one launch in so many is checked; 1: each; 0: none */
	unsigned int shape_sample;  /* one launch in so many tells grid and block; 1: each */
	bool final;		    /* the last report of this run */
	bool broken_off;	    /* the reading could not be done to its end: totals and lists may lack something */
	bool no_returns;	    /* --no-return-probes: see struct unfollowed_totals */
	bool stacks;		    /* stacks are taken: there may be call sites */
	uint64_t stacks_kept;	    /* distinct ones */
	uint64_t stacks_evicted;    /* so far, for want of room */
	uint64_t stacks_unwound;    /* copies so far */
	uint64_t min_wait_ns;	    /* shorter waits are in no call site */
	/* the first launch of a kernel at a site has its stack taken, then one in so many */
	unsigned int stack_sample;

	struct process *processes; /* in order of first sight */
	size_t process_count;

	struct target_processes asked; /* not the model's own */

	struct gpu *gpus; /* of the machine, by NVML; while there are CUDA processes */
	size_t gpu_count;

	struct sampling sampling;

	const struct host_side *host; /* NULL: threads were not to be followed; not the model's own */

	uint64_t lost[LOSS_COUNT];
	uint64_t probes_attached[LAYER_COUNT];
	uint64_t sites_missing;	     /* functions of the table that a library does not have */
	size_t libraries;	     /* files with probes */
	const bool *slow;	     /* by row of api_functions: the kernel must single-step a call's probe; NULL: none; not the model's own */
	uint64_t live_at_exit_bytes; /* of all processes that ended */
};

/* Whether what the process did of the family is partly estimated. */
static inline bool process__is_estimated(const struct process *process, enum rate_family family)
{
	return process->family_calls[family].sampled || process->family_calls[family].missed;
}

/* Whether it had not ended by that time. */
static inline bool process__is_alive_after(const struct process *process, uint64_t ns)
{
	return !process->ended_ns || process->ended_ns > ns;
}

/* The process of that pid that had not ended by `alive_ns`, the first of several; NULL: it is not in the model. */
const struct process *model__process_of(const struct model *model, int32_t pid, uint64_t alive_ns);

/* What the process and all that it owns take in memory, about. */
size_t process__bytes(const struct process *process);

/* Memory that the process has on all its GPUs by NVML; GPU_UNKNOWN_BYTES where it tells of none. */
uint64_t process__nvml_bytes(const struct process *process);

/* Loads of modules and libraries whose calls were seen inside launches. */
static inline struct wait_totals process__loads_in_launches(const struct process *process)
{
	const struct object_totals *modules = &process->objects[OBJECT_MODULE];
	const struct object_totals *libraries = &process->objects[OBJECT_LIBRARY];

	return (struct wait_totals){
		.calls = modules->in_launch + libraries->in_launch,
		.ns = modules->in_launch_ns + libraries->in_launch_ns,
	};
}

/* Releases what the process owns, not the process itself. */
void process__clear(struct process *process);

/* All calls of it that were counted, but those of which there is no counter by function. */
uint64_t process__calls(const struct process *process);

/* Releases all that the model owns and leaves it empty. */
void model__clear(struct model *model);

#endif
