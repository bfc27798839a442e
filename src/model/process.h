/* SPDX-License-Identifier: BSD-2-Clause */
/* What gpuprobe knows of one process: plain data, see model.h. */
#ifndef MODEL_PROCESS_H
#define MODEL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/function.h"
#include "gpuprobe/rate.h"
#include "gpuprobe/state.h"
#include "device/gpu.h"
#include "model/site.h"
#include "model/totals.h"

struct profile;
struct host_process;
struct process_steps;
struct at_failure;
struct tensors;
struct workload;

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

/* An error after which, according to CUDA's documentation, a process must end. */
struct sticky_error {
	int code;	 /* 0: none */
	uint64_t ns;	 /* CLOCK_BOOTTIME, of the first failure */
	uint64_t same;	 /* later calls that failed with the same code */
	uint64_t others; /* later calls that did not */
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

/* All its counted calls, except those without a counter by function. */
uint64_t process__calls(const struct process *process);

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

/* Approximate size in memory of the process and everything it owns. */
size_t process__bytes(const struct process *process);

/* Releases what the process owns, but not the struct itself. */
void process__clear(struct process *process);

#endif
