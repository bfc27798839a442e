/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GPU times of processes (--gpu-times): by kernel, by kind of copy, and how long each GPU worked.
 * All of it comes from a library in the watched program, which may say anything: what is kept is
 * bounded for a process and for all.
 */
#ifndef MODEL_GPU_TIMES_H
#define MODEL_GPU_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "gpuprobe/gpu_times.h"
#include "model/busy_time.h"
#include "model/gpu_callers.h"
#include "model/gpu_paths.h"
#include "model/sites.h"

#define GPU_TIMES_PROCESSES 1024
#define GPU_TIMES_KERNELS 4096	    /* of a process */
#define GPU_TIMES_ALL_KERNELS 16384 /* of all processes: up to 16 MiB of names */
#define GPU_TIMES_DEVICES 16	    /* of a process */
#define GPU_TIMES_ALL_DEVICES 512   /* of all processes, each twice: up to 32 MiB */
#define GPU_TIMES_JOINED 32	    /* processes whose work is joined with calls: up to 86 MiB */

/* A kernel of a process, by its name. */
struct gpu_kernel_time {
	uint64_t number; /* that its name has in the process */
	char *name;	 /* mangled, raw; NULL: it was lost */
	struct gpu_time_sum sum;
	struct gpu_delay delay;
	UT_hash_handle hh;
};

struct gpu_times_key {
	int64_t pid;
	uint64_t start_ns; /* CLOCK_BOOTTIME */
};

#define GPU_PROFILE_NOTE_SIZE 512

/* A trace of the program's own profiler (--kineto) that the times come from. */
struct gpu_own_profile {
	uint64_t asked_ns;		  /* how long it was to record; 0: there is none */
	bool complete;			  /* all of it has been read */
	uint64_t bytes;			  /* of its file */
	uint64_t overhead_ns;		  /* in which CUPTI held up threads, by its own account */
	char note[GPU_PROFILE_NOTE_SIZE]; /* why it lacks something, or is missing; "": nothing */
};

struct gpu_process_times {
	struct gpu_times_key key;
	struct gpu_kernel_time *kernels; /* a table */
	size_t kernel_count;
	struct gpu_time_sum other_kernels; /* those for which there was no room */
	struct gpu_time_sum all_kernels;
	struct gpu_time_sum graph_kernels; /* of these, those in graphs */
	struct gpu_time_sum copies[GPU_COPY_KINDS];
	struct gpu_time_sum sets, graphs;
	struct busy_time busy[GPU_TIMES_DEVICES]; /* by device */
	struct busy_time without_copies[GPU_TIMES_DEVICES];
	struct gpu_join *join;	    /* NULL: nothing yet, or no room */
	struct gpu_callers callers; /* of the work whose call is known */
	struct gpu_paths paths;	    /* the same, with --nvtx */
	uint16_t burst;		    /* the latest; 0: none */
	uint64_t bursts;	    /* so far */
	uint64_t unknown_devices;   /* pieces of work on GPUs for which there was no room */
	uint64_t dropped;	    /* records that CUPTI lost */
	uint64_t refused;	    /* pieces of work of no known kind */
	bool heard;		    /* something came from the library, and not calls alone */
	bool failed;		    /* the library could not start */
	int64_t code;		    /* CUPTI's result; 0: none */
	char reason[GPU_TIMES_REASON_SIZE];
	struct gpu_own_profile own;
	UT_hash_handle hh;
};

struct gpu_times {
	/* they come from the profilers of the programs, and are not joined with calls */
	bool own_profilers;
	double share; /* of the time that is recorded, in bursts; 0: all of it */
	bool by_path; /* work is summed up by NVTX ranges, too */
	struct gpu_process_times *processes; /* a table */
	size_t process_count, kernel_count, device_count, join_count, site_count;
	site_stack_fn find_stack; /* of a call, by its id; NULL: no stacks are taken */
	void *find_arg;
	uint64_t lost_work;  /* pieces of work that no process has, for lack of room */
	uint64_t lost_names; /* the same for names and failures */
	uint64_t unread_work, unread_names; /* what BPF could not hand over */
	bool due;			    /* gpu_times__join is to be called */
};

/* Leaves share, own_profilers, by_path, find_stack and find_arg as they are. */
void gpu_times__clear(struct gpu_times *times);

/* Adds a record of BPF's ring, `size` bytes of any content. */
void gpu_times__take(struct gpu_times *times, const void *record, size_t size);

/* Adds a call that submitted work. */
void gpu_times__take_call(struct gpu_times *times, const struct gpu_call *call);

/*
 * The trace of the profiler of this process, to be filled in; NULL: there is no room. With
 * own_profilers only.
 */
struct gpu_own_profile *gpu_times__own_profile(struct gpu_times *times, pid_t pid,
					       uint64_t start_ns);

/*
 * Joins work and calls so far. It is to be called before the times are read, and when
 * gpu_times__take or gpu_times__take_call has set `due`. The calls of the work should have been
 * added.
 */
void gpu_times__join(struct gpu_times *times);

/* How long a GPU worked for a process, by the GPU's own clock. */
struct gpu_busy {
	unsigned int device;
	uint64_t ns, window_ns; /* the latter ends with the latest work that is known */
	/* of the former, that in which copies alone ran; exact for the time from the first work */
	uint64_t only_copies_ns;
	const struct gpu_gaps *gaps; /* of all time */
};

/*
 * The process's busiest GPU since `since_ns` (CLOCK_BOOTTIME; 0: its first work). False if nothing
 * exact can be said: there is no work, or some is missing.
 */
bool gpu_times__busiest(const struct gpu_times *times, const struct gpu_process_times *process,
			uint64_t since_ns, struct gpu_busy *busy);

/* Time of all work, which may overlap. */
uint64_t gpu_process_times__all_ns(const struct gpu_process_times *process);

/* The stack with this id; NULL: it is not known. */
const struct stack *gpu_times__stack(const struct gpu_times *times, uint64_t id);

/* The call site with most of a kernel's time, or of all work's for NULL; NULL: not known. */
const struct stack *gpu_times__main_stack(const struct gpu_times *times,
					  const struct gpu_process_times *process,
					  const struct gpu_kernel_time *kernel);

/* The pieces of work with a time: their number, and of those whose call is not known. */
uint64_t gpu_process_times__work(const struct gpu_process_times *process, uint64_t *uncalled);

/* The process's times; NULL if nothing came from it. */
const struct gpu_process_times *gpu_times__find(const struct gpu_times *times, pid_t pid,
						uint64_t start_ns);

/*
 * The process's kernels that ran, the longest in all first: an array of *count that the caller
 * frees; NULL without memory, and *count is 0.
 */
const struct gpu_kernel_time **gpu_times__sort(const struct gpu_process_times *process,
					       size_t *count);

#endif
