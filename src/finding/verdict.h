/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who waits for whom: whether a process is limited by its GPU, or the GPU waits for the process. By what is proved of the
 * GPU's queue (gpuprobe/profile.h), and by how long the process was held up by it. A queue holds about a thousand launches: a
 * process that makes many more without ever being held up is slower than its GPU.
 *
 * Without a profile, as in the monitor, only waits and NVML are left: what they cannot decide is not known.
 */
#ifndef FINDING_VERDICT_H
#define FINDING_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "finding/finding.h"
#include "model/load.h"

enum verdict_kind {
	VERDICT_UNKNOWN = 0, /* the evidence decides nothing */
	VERDICT_GPU_BOUND,   /* the process waits for its GPU */
	VERDICT_HOST_BOUND,  /* the GPU waits for the process */
	VERDICT_NO_WORK,     /* the process has nothing to do, or does nothing: a server without requests, a stopped program */
	VERDICT_OTHERS,	     /* the process waits for another one: a rank that comes late, or who hands it its work */
	VERDICTS,
};

#define SHARE_UNKNOWN (-1.0)

/* What a thread does while the GPU does not hold it up, as far as calls show it. */
enum host_doing {
	DOING_OUTSIDE = 0, /* outside of CUDA calls */
	DOING_LAUNCH,
	DOING_MEMORY, /* allocations and frees */
	DOING_COPY,
	DOING_OTHER,
	HOST_DOINGS,
};

/* Another process; pid 0: there is none, or it is not known. The name is empty where the process is not watched, raw. */
struct verdict_other {
	int32_t pid;
	char comm[16];
};

struct verdict {
	enum verdict_kind kind;
	uint64_t from_ns, window_ns;  /* the time that was judged; 0: it is not known to be steady, or not for long enough */
	uint64_t launches;	      /* in it */
	int device;		      /* the GPU with the least idle time; ACCOUNT_DEVICES - 1: its number is not known; -1: none has had work */
	double unfed;		      /* of the window: the GPU had nothing to do of the process, proved; SHARE_UNKNOWN: nothing can be proved */
	double idle;		      /* the same of all that use it: the GPU was idle */
	struct verdict_other beside;  /* who uses it, too: of those watched, which launches most */
	struct verdict_other awaited; /* of VERDICT_OTHERS */
	bool requests;		      /* of VERDICT_NO_WORK: it is a server that waits for requests most of its time */
	bool collectives;	      /* it is awaited in collective operations; else it hands the process its work */
	double held;		      /* of the window: the process was held up by the GPU, its threads' times added up */
	double threads;		      /* that submit work, on average; 0: not known */
	double thread_held;	      /* of the time of one of them, on average */
	double stopped;		      /* of that time: it was stopped, by a signal or a debugger, and did nothing; SHARE_UNKNOWN: threads are not followed */
	double busy;		      /* NVML's use, about; SHARE_UNKNOWN where it does not tell */
	bool profile;		      /* there is one: else `held` has waits alone, and no idle time can be proved */
	/* With a profile: what the threads that submit work did, of their time; by what they were held up is in none */
	double doing[HOST_DOINGS];
};

/* Judges the steady time (model/steady.h) of a process of the model. */
void verdict__judge(const struct model *model, const struct process *process, struct verdict *verdict);

#define VERDICT_SPAN_NS 60000000000ull /* a minute */

/*
 * The same of the latest VERDICT_SPAN_NS, for who watches without an end; less than a second of it makes no verdict.
 * The findings have findings_options.latest.
 */
void verdict__judge_latest(const struct findings *state, const struct model *model, const struct process *process,
			   struct verdict *verdict);

/* "outside", "launches", "memory", "copies", "other": as metrics have them. */
const char *verdict__doing(enum host_doing doing);

/* "host-bound", "GPU-bound", "waiting for others", "no work", "not known": as JSON has them. */
const char *verdict__word(enum verdict_kind kind);

#endif
