/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything gpuprobe knows at one moment: plain data, filled from the BPF maps (collect/) and read
 * by the forms of output (output/). Counters are totals since gpuprobe first saw the process; they
 * never decrease.
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
	/* objects that hold memory, beside another section; part of SECTION_ALL anyway */
	SECTION_OBJECTS = 1 << 3,
};

struct profile;
struct host_process;
struct host_side;
struct process_steps;
struct at_failure;
struct tensors;
struct nccl_jobs;
struct nccl_note;
struct oom;
struct workload;
struct xids;
struct gpu_times;

/*
 * Live allocations are all allocations minus those in never_live, replaced and with_context, and
 * minus the frees.
 */
struct memory_totals {
	uint64_t allocations; /* successful calls */
	uint64_t allocation_failures;
	uint64_t allocation_ns; /* time inside successful calls */
	uint64_t frees;		/* successful calls, whatever they freed */
	uint64_t free_failures;
	uint64_t unknown_frees; /* part of `frees`: of addresses never seen allocated */
	/*
	 * part of `allocations`: of zero bytes, which have no address, or without room for a record
	 */
	uint64_t never_live;
	/* part of `allocations`: their free was missed, as a reuse of the address shows */
	uint64_t replaced;
	uint64_t with_context; /* ended with their context, not by a call */
	uint64_t with_context_bytes;
	uint64_t live_bytes;
	uint64_t live_count;
	/* source of live_bytes: bytes allocated minus bytes freed; only for collect/ */
	__int128 balance;
};

/* Memory that ended with its context, of one kind on one device. */
struct context_ends {
	uint8_t kind, device;
	uint64_t count;
	__int128 bytes;
};

/* A memory pool. */
struct pool_totals {
	uint64_t handle; /* 0: unknown */
	uint8_t device;	 /* its number in the process, or DEVICE_UNKNOWN */
	/* bytes of live allocations, as rounded by the driver once it has reported them */
	uint64_t used;
	uint64_t reserved;
	uint64_t threshold; /* release threshold: bytes that waits leave reserved */
	bool estimated;	    /* `reserved` is estimated, not reported by the driver */
	bool destroyed;	    /* destroyed, except for its live allocations */
};

struct allocation {
	uint64_t address;	   /* or handle */
	uint64_t size;		   /* bytes; 0 in the list of frees */
	uint64_t start_ns;	   /* CLOCK_BOOTTIME of the call's entry */
	uint8_t kind;		   /* enum memory_kind */
	uint8_t device;		   /* its number in the process, or DEVICE_UNKNOWN */
	uint64_t stack_id;	   /* 0: not taken */
	const struct stack *stack; /* NULL: unknown */
	uint64_t stream;	   /* of a tensor: the allocator's; else 0 */
};

struct kernel {
	uint64_t handle;   /* of its latest entry; the value that the program passed */
	char *name;	   /* full demangled name; NULL while unknown */
	char *short_name;  /* bare function name; NULL while unknown */
	char *label;	   /* unique in the process, at most 60 columns; NULL while unknown */
	uint64_t launches; /* executed launches, failed ones included */
	uint64_t captured; /* captured into graphs */
	uint64_t missed;   /* estimated part of `launches` and `captured` */
	struct shape_record shape; /* from sampled launches; no samples if none was seen */
	uint64_t serial;	   /* order of first sight within the process, from 0 */
	/* stands for all nameless kernels beyond a thousand: it has no handle */
	bool is_rest;
};

struct copy_totals {
	uint64_t calls; /* successful */
	uint64_t bytes; /* of successful calls */
	uint64_t ns;	/* inside successful calls; for asynchronous ones the time to enqueue */
	/* Part of these, if the host side is known to be pinned or pageable. */
	uint64_t pinned_calls, pinned_bytes;
	uint64_t pageable_calls, pageable_bytes;
	/* In addition: captured into graphs, not executed. */
	uint64_t captured_calls, captured_bytes;
	/* In addition: calls whose return was not followed. */
	uint64_t unfollowed_calls, unfollowed_bytes;
};

/* Asynchronous copies covered by waits, which give a lower bound of their speed. */
struct covered_totals {
	uint64_t calls, bytes;
	uint64_t ns; /* from the issue of the oldest copy of each segment to the end of its wait */
};

/* Objects of a kind. `with_context` and `live` only include objects whose creation was seen. */
struct object_totals {
	uint64_t created;	    /* successful calls, including loads of modules and libraries */
	uint64_t destroyed;	    /* successful calls */
	uint64_t unknown_destroyed; /* part of `destroyed`: of handles whose creation was missed */
	uint64_t with_context;	    /* ended with their context */
	uint64_t live;
	uint64_t ns;	    /* inside the calls that created them */
	uint64_t in_launch; /* created inside launches, which slowed those down */
	uint64_t in_launch_ns;
};

/* An error after which, according to CUDA's documentation, a process must end. */
struct sticky_error {
	int code;	 /* 0: none */
	uint64_t ns;	 /* CLOCK_BOOTTIME, of the first failure */
	uint64_t same;	 /* later calls that failed with the same code */
	uint64_t others; /* later calls that did not */
};

/* Time that threads spent blocked, or querying whether they would block. */
struct wait_totals {
	uint64_t calls; /* successful */
	uint64_t ns;	/* inside them, including `beside_ns` */
	/* part of `ns`: inside calls that failed, have not returned yet, or never did */
	uint64_t beside_ns;
	uint64_t open;	     /* calls in progress */
	uint64_t unfollowed; /* in addition: calls whose return was not followed */
};

/*
 * A call in progress that is not nested in another watched call, or one that its thread ended in.
 */
struct open_call {
	uint16_t row;	/* in api_functions */
	uint8_t device; /* its number in the process, or DEVICE_UNKNOWN */
	bool seen;	/* seen by the reading in progress; only for collect/ */
	bool based;	/* others_before is set; only for collect/ */
	bool earlier;	/* it began before gpuprobe started, which start_ns is set to */
	int32_t tid;
	char comm[16];
	uint64_t thread_start_ns;
	uint64_t start_ns; /* CLOCK_BOOTTIME of its entry */
	uint64_t ended_ns; /* when the thread ended inside it; 0: still in progress */
	/* from the CUDA function outwards; NULL: unknown, always so unless `earlier` */
	const struct stack *stack;
	/*
	 * calls of the process up to the first reading made during this call, and calls since then
	 */
	uint64_t others_before;
	uint64_t others;
};

#define OPEN_CALLS_LISTED 64 /* per process */
#define OPEN_CALLS_ENDED 16  /* of these, threads that ended inside a call */

struct query_totals {
	uint64_t calls;	    /* that returned an answer */
	uint64_t not_ready; /* part of `calls`: work not finished */
};

/*
 * Calls whose return was not followed: with --no-return-probes, or because their thread had
 * switched stacks inside a call. Their success and duration are unknown. Copies and waits among
 * them are also in the counters of copies and waits.
 */
struct unfollowed_totals {
	uint64_t calls; /* all except launches, which are counted at entry anyway */
	uint64_t allocations, allocated_bytes;
	uint64_t frees; /* frees of recorded memory are assumed to succeed */
};

struct copy_inflight {
	uint64_t calls, bytes;
	uint64_t oldest_ns; /* age of the oldest; 0: there is none */
};

/* Executed launches of graphs of one size. */
struct graph_run {
	uint64_t kernels; /* in each launch */
	bool unknown;	  /* the number is unknown */
	uint64_t launches;
};

struct failure {
	const char *function; /* "cudaMalloc" */
	const char *error;    /* "cudaErrorMemoryAllocation"; NULL: the table has none */
	int code;
	enum layer layer;
	uint64_t count;
	uint64_t first_ns, last_ns; /* CLOCK_BOOTTIME */
	bool sampled;		    /* one launch in `launch_sample` was checked */
	/*
	 * stands for all without their own entry: function, error, code and layer have no meaning
	 */
	bool is_rest;
};

/* A process's activity on one device. */
struct device_totals {
	uint8_t device; /* its number in the process, or DEVICE_UNKNOWN */
	uint64_t launches;
	uint64_t allocations, live_bytes, live_count; /* memory of the device */
	uint64_t allocated_bytes;		      /* by these allocations so far */
	__int128 balance;			      /* as in memory_totals */
	uint64_t copies, copy_bytes;
	uint64_t wait_ns;
	struct wait_totals waits[WAIT_SCOPES], copy_waits, free_waits; /* as in struct process */
	uint64_t objects[OBJECT_KINDS];				       /* live */
	/* live ones existed in an earlier reading */
	bool had_objects[OBJECT_KINDS];
};

/*
 * Calls of a family whose probes may be detached part of the time (`--max-overhead`). Totals of
 * such calls are the sum of both fields. Memory, objects, failures by code, histograms, gaps and
 * call sites include only the counted ones.
 */
struct family_calls {
	uint64_t counted;
	uint64_t missed; /* estimated */
	/* more may have been missed, because the probes were detached at some time in its life */
	bool sampled;
};

/* Counters of one function, separated as in the BPF maps: see struct tally_key. */
struct function_totals {
	uint16_t row; /* in api_functions */
	uint16_t flags;
	uint8_t kind, device;
	uint64_t calls, failures, bytes, ns;
	uint64_t other_ns;	/* inside calls that failed or that their thread ended in */
	uint64_t open, open_ns; /* calls in progress, and the time in them so far */
};

/* A kernel of a recorded step. */
struct known_kernel {
	uint64_t handle;
	const char *label; /* NULL: it has no name */
};

#define SERIES_ENDED_NS 120000000000ull /* long enough for a scraper to get the last values */

struct process {
	uint64_t serial; /* no other process of this run has it */
	uint32_t slot;	 /* number of the process in the BPF maps, until it has ended */
	int32_t pid;	 /* in gpuprobe's pid namespace */
	char comm[16];	 /* of the leader */
	/* start of its command line, raw, with blanks between words; empty: unknown */
	char command[128];
	uint64_t start_ns; /* CLOCK_BOOTTIME */
	bool since_attach; /* early calls were missed */
	bool ended;
	uint64_t ended_ns; /* CLOCK_BOOTTIME of its end; its series remain for SERIES_ENDED_NS */
	bool reported_end; /* a report has shown its end */
	bool paged_end;	   /* a metrics page has shown its end */
	bool crowded_out;  /* it is removed to make room; only for collect/ */
	bool left_out;	   /* by the filter: outputs never see it; only for collect/ */
	/* its size in memory, once it has ended and nothing of it is in the maps */
	size_t kept_bytes;
	/*
	 * it has called; otherwise it is here because of a call in progress from before gpuprobe
	 * started
	 */
	bool called;
	/* the requested processes that it belongs to are marked as having called */
	bool attributed;

	/* the driver library that was seen calling another one, and that one; 0: none */
	uint8_t shim_number, driver_number;
	char *shim, *driver; /* paths of the two, raw; NULL: unknown */

	bool identified;       /* the next four fields are set */
	int32_t parent;	       /* at its first call; 0: outside gpuprobe's pid namespace */
	uint32_t uid;	       /* the real user */
	int32_t namespace_pid; /* in its own pid namespace */
	char user[33];	       /* name, or the number if it has no name */
	bool cgroup_known;     /* container and pod have been looked up */
	char container[65];    /* id; empty: in none */
	char pod[37];	       /* uid; empty: in none */
	/* by the names that people use, target/workload.h; NULL: nothing is known; malloc */
	struct workload *workload;
	/* what its threads did outside of calls; NULL: unknown; not owned by the model */
	const struct host_process *host;
	struct process_gpu *gpus; /* those with CUDA numbers first, ordered by number */
	size_t gpu_count;

	struct memory_totals memory[MEMORY_KINDS];
	uint64_t captured_allocations, captured_frees; /* captured into graphs */
	/* handles and addresses that BPF knows, but that are not memory */
	uint64_t recorded_as_nothing;
	uint64_t double_frees;	     /* of memory already freed, whether or not the call failed */
	uint64_t live_at_exit_bytes; /* set at its end; memory on devices */
	uint64_t live_at_exit_count;
	/* Largest first, cut to what reports show: live_listed of live_count. */
	struct allocation *live;
	size_t live_listed, live_capacity;
	/* live memory that the filter excludes from `live` and live_sites */
	uint64_t left_out_bytes, left_out_count;
	/*
	 * Freed since the last report, latest first. Each address is listed once, and not if it is
	 * live again.
	 */
	struct allocation *freed;
	size_t freed_listed;
	uint64_t freed_unlisted;   /* frees since the last report that are not in `freed` */
	struct pool_totals *pools; /* by device */
	size_t pool_count;

	struct kernel *kernels; /* by launches, most first */
	size_t kernel_count;
	uint64_t launches; /* of all kernels */
	uint64_t captured_launches;
	uint64_t graph_launches; /* failed ones included, captured ones excluded */
	uint64_t captured_graph_launches;
	struct graph_run *graph_runs; /* most launches first */
	size_t graph_run_count, graph_run_capacity;
	uint64_t graph_kernels; /* kernels run by graph launches of known size */
	uint64_t graph_launches_of_unknown_size;
	/* successful calls */
	uint64_t host_functions, captured_host_functions;
	/* the first launch of each kernel, and the time in it; requires launch returns */
	struct wait_totals first_launches;

	struct copy_totals copies[COPY_KINDS][2]; /* [kind][0 sync, 1 async] */
	struct copy_inflight inflight[COPY_KINDS];
	struct covered_totals covered[COPY_KINDS];

	struct object_totals objects[OBJECT_KINDS];

	struct wait_totals waits[WAIT_SCOPES];
	struct query_totals queries[WAIT_SCOPES];
	struct wait_totals copy_waits; /* synchronous copies and sets */
	struct wait_totals free_waits; /* frees that are not stream-ordered */

	struct unfollowed_totals unfollowed;

	struct device_totals *devices; /* by number, the unknown device last */
	size_t device_count;

	struct function_totals *functions;
	size_t function_count, function_capacity;

	struct failure *failures; /* most first, the shared entry last, see model/failures.h */
	size_t failure_count;
	struct sticky_error sticky;
	/* allocations of device memory that failed for good, see cli/session/shortages.h */
	uint64_t out_of_memory;

	/* by kind, then most first: by amount, launches and failures by calls */
	struct call_site *sites;
	size_t site_count;
	/* behind these in `sites`: calls that created objects, see object_sites */
	size_t object_call_count;
	struct live_site *live_sites; /* largest first */
	size_t live_site_count;
	/* the same of pinned host memory (cudaMallocHost) */
	struct live_site *pinned_sites;
	size_t pinned_site_count;
	struct object_site *object_sites; /* most live first, see model/object_sites.h */
	size_t object_site_count;

	struct family_calls family_calls[RATE_FAMILIES]; /* all 0 if no probes can be detached */

	/* longest first; open_listed entries, including those of ended threads */
	struct open_call *open;
	size_t open_listed;
	uint64_t open_count; /* in progress, listed or not */

	struct profile *profile; /* NULL: no profile is kept, see model/profile.h */
	/* NULL: steps are not looked for, or no thread submits work; see model/steps.h */
	struct process_steps *steps;
	/* what a framework hands out of memory from CUDA, see model/tensors.h; NULL: none */
	struct tensors *tensors;
	/* what it held when an allocation failed of late, see model/at_failure.h; NULL: none did */
	struct at_failure *at_failure;
	/*
	 * in a recorded model, which has no kernel_table: the kernels that steps launch, by handle
	 */
	struct known_kernel *known_kernels;
	size_t known_kernel_count;

	/* Sources of the lists above; only for model/ and collect/. */
	struct cuda_environment *environment; /* NULL: unknown; malloc */
	struct device_uuid *uuids;	      /* those that calls have revealed */
	size_t uuid_count;
	/* ended with their context, and no longer in the maps */
	uint64_t objects_cleared[OBJECT_KINDS];
	struct failure other_failures;
	/* calls without a counter by function */
	uint64_t other_calls, other_call_failures, other_call_ns;
	uint64_t lost_notices;	/* notices beyond the process's share of the ring */
	uint64_t *failure_keys; /* keys that have an entry, in order */
	size_t failure_key_count;
	struct kernel_table *kernel_table;
	struct site_table *site_table;	 /* NULL: no stacks are taken */
	struct site_table *pinned_table; /* the same; has nothing but live memory */
	struct object_table *object_table;
	struct context_ends *context_ends;
	size_t context_end_count;
	uint32_t deaths_seen;  /* contexts that ended so far */
	uint32_t deaths_swept; /* part of these: those whose memory entries were deleted */
	/* addresses of older memory must be indexed, and have been */
	bool fills_ranges, filled_ranges;
	uint32_t freed_seen;	 /* frees so far, modulo 2^32 */
	uint32_t freed_reported; /* part of these: those that reports have shown */
};

/* The overhead budget that probes keep to, and how. */
struct sampling {
	/* largest allowed slowdown of a thread, 0.05: 5 %; 0: no limit, all probes stay attached */
	double max_overhead;
	bool by_default; /* the default; the user did not request it */
	double overhead; /* estimated slowdown of the worst-hit thread */
	/* share of time that the family's probes are attached now; 1: always */
	double share[RATE_FAMILIES];
	bool sampled[RATE_FAMILIES]; /* the share was below 1 at some time */
};

struct model {
	struct timespec wall;	    /* CLOCK_REALTIME of the snapshot */
	uint64_t now_ns;	    /* CLOCK_BOOTTIME of the snapshot */
	unsigned int sections;	    /* enum section, the selected ones */
	unsigned int launch_sample; /* one launch in this many is checked; 1: each; 0: none */
	/* grid and block are read for one launch in this many; 1: each */
	unsigned int shape_sample;
	bool final; /* the last report of this run */
	/* the reading was incomplete: totals and lists may lack something */
	bool broken_off;
	bool no_returns;	 /* --no-return-probes: see struct unfollowed_totals */
	bool stacks;		 /* stacks are taken, so there may be call sites */
	uint64_t stacks_kept;	 /* distinct stacks */
	uint64_t stacks_evicted; /* so far, for lack of room */
	uint64_t stacks_unwound; /* stack copies unwound so far */
	uint64_t min_wait_ns;	 /* shorter waits do not count at call sites */
	/* The first launch of a kernel at a site has its stack taken, then one in this many */
	unsigned int stack_sample;

	struct process *processes; /* in order of first sight */
	size_t process_count;

	struct target_processes targets; /* not owned by the model */

	struct gpu *gpus; /* the machine's, from NVML; while there are CUDA processes */
	size_t gpu_count;
	uint64_t gpus_ns; /* when NVML was queried for them, CLOCK_BOOTTIME; 0: never */

	struct sampling sampling;

	const struct host_side *host; /* NULL: threads are not followed; not owned by the model */

	uint64_t lost[LOSS_COUNT];
	uint64_t probes_attached[LAYER_COUNT];
	uint64_t sites_missing; /* functions of the table that a library lacks */
	size_t libraries;	/* library files with probes */
	/*
	 * by row of api_functions: the kernel must single-step the call's probe; NULL: none; not
	 * owned by the model
	 */
	const bool *slow;
	uint64_t live_at_exit_bytes; /* sum over all ended processes */
	const struct oom *ooms;	     /* reports so far; not owned by the model */
	size_t oom_count;
	/* what is wrong with NCCL's ranks; not owned by the model, and valid until its update */
	const struct nccl_note *nccl;
	size_t nccl_count;
	/*
	 * communicators of NCCL with their ranks, nccl/jobs.h; NULL: its calls are not traced, or
	 * nobody uses it; not owned by the model
	 */
	const struct nccl_jobs *nccl_jobs;
	uint64_t nccl_lost; /* calls that have not reached these */
	/* GPU errors that the driver reported, model/xids.h; NULL: not watched; not owned */
	const struct xids *xids;
	/* times of GPUs' own clocks, model/gpu_times.h; NULL: not asked for; not owned */
	const struct gpu_times *gpu_times;
};

/* Whether the process's calls of the family include estimates. */
static inline bool process__is_estimated(const struct process *process, enum rate_family family)
{
	return process->family_calls[family].sampled || process->family_calls[family].missed;
}

/* Whether it had not ended by that time. */
static inline bool process__is_alive_after(const struct process *process, uint64_t ns)
{
	return !process->ended_ns || process->ended_ns > ns;
}

/*
 * The process with that pid that had not ended by `alive_ns`, the first of several; NULL: none in
 * the model.
 */
const struct process *model__process_of(const struct model *model, int32_t pid, uint64_t alive_ns);

/* Approximate size in memory of the process and everything it owns. */
size_t process__bytes(const struct process *process);

/*
 * Memory of the process on all its GPUs according to NVML; GPU_UNKNOWN_BYTES if NVML reports none.
 */
uint64_t process__nvml_bytes(const struct process *process);

/* Loads of modules and libraries that were seen inside launches. */
static inline struct wait_totals process__loads_in_launches(const struct process *process)
{
	const struct object_totals *modules = &process->objects[OBJECT_MODULE];
	const struct object_totals *libraries = &process->objects[OBJECT_LIBRARY];

	return (struct wait_totals){
		.calls = modules->in_launch + libraries->in_launch,
		.ns = modules->in_launch_ns + libraries->in_launch_ns,
	};
}

/* Releases what the process owns, but not the struct itself. */
void process__clear(struct process *process);

/* All its counted calls, except those without a counter by function. */
uint64_t process__calls(const struct process *process);

/* Releases all that the model owns and leaves it empty. */
void model__clear(struct model *model);

#endif
