/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocation that failed for good, and the likely cause: what was asked for, how full the GPU
 * was, and who held it. Plain data; refers to stacks of the model's latest reading.
 */
#ifndef MODEL_OOM_H
#define MODEL_OOM_H

#include "gpuprobe/state.h"
#include "model/gpu_label.h"
#include "model/model.h"
#include "model/site_history.h"

#define OOM_SITES 3	 /* call sites in a report */
#define OOM_NEIGHBOURS 4 /* other processes in a report */
#define OOM_LINE 160

enum oom_cause {
	OOM_UNKNOWN = 0,
	OOM_LARGE_REQUEST,  /* one request asks for much at once */
	OOM_LEAK,	    /* one call site took more and more */
	OOM_FRAGMENTATION,  /* enough is unused in segments, but in pieces */
	OOM_NEIGHBOUR,	    /* another process holds most of the GPU */
	OOM_MANY_PROCESSES, /* many processes hold a little each */
	OOM_LIMIT,	    /* a limit in the framework: no call failed, the GPU has enough */
	OOM_OWN_MEMORY,	    /* the process itself holds it, and nothing grew */
	OOM_CAUSES,
};

/* Another process on the GPU. */
struct oom_neighbour {
	int32_t pid;
	char comm[16];
	char user[33];	    /* empty: unknown */
	char container[65]; /* empty: in none, or unknown */
	uint64_t bytes;
};

struct oom {
	int32_t pid, tid;
	char comm[16];
	uint64_t start_ns;	   /* of the process */
	uint64_t time_ns;	   /* CLOCK_BOOTTIME */
	uint64_t bytes;		   /* asked for */
	uint16_t row;		   /* the function, in api_functions; not with `of_framework` */
	bool of_framework;	   /* a framework's allocator said so */
	bool cuda_failed;	   /* with `of_framework`: a call of CUDA had failed before */
	uint64_t allocated;	   /* with `of_framework`: that it has handed out */
	uint64_t reserved;	   /* and has in segments */
	const struct stack *stack; /* NULL: unknown */
	char line[OOM_LINE];	   /* the user's line in it; empty: unknown */
	char gpu[GPU_LABEL_SIZE];  /* empty: unknown */
	uint64_t total, used;	   /* of the GPU; GPU_UNKNOWN_BYTES */
	uint64_t own;		   /* of the process, by NVML; GPU_UNKNOWN_BYTES */
	uint64_t tracked;	   /* of the process, by its calls */
	bool ended;		   /* the process ended before this was found */

	struct live_site sites[OOM_SITES]; /* largest first */
	size_t site_count;		   /* in `sites` */
	size_t more_sites;		   /* and beyond */
	bool of_tensors;		   /* the sites are of tensors */
	bool sites_estimated;		   /* these are sampled */
	uint64_t unused, largest_hole;	   /* in segments, with tensors */
	bool as_of_failure;	  /* what it held is of the failure, not of a moment later */
	uint64_t late_frees_lost; /* frees since the failure that the sites may lack */

	struct site_increase increase; /* its site may be one that is not in `sites` */
	bool increase_kept;	       /* its site has freed hardly any of its tensors */
	struct oom_neighbour neighbours[OOM_NEIGHBOURS]; /* largest first */
	size_t neighbour_count;				 /* all, also those not in `neighbours` */
	uint64_t others;				 /* bytes of them, by NVML */
	enum oom_cause cause;
};

/*
 * Fills in all except stack, tid, bytes, row, cuda_failed and what a framework says; judges the
 * cause.
 */
void oom__describe(struct oom *oom, const struct model *model, const struct process *process,
		   uint8_t device, const struct site_history *history);

/* The likely cause by the other members. */
enum oom_cause oom__judge(const struct oom *oom);

/* "large-request": for programs. */
const char *oom__cause_id(enum oom_cause cause);

/* "one large request": for a sentence. */
const char *oom__cause_name(enum oom_cause cause);

/* The latest of the model's reports about the process; NULL: none. */
const struct oom *oom__latest(const struct model *model, const struct process *process);

#endif
