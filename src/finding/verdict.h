/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict: whether a process is limited by its GPU, or the GPU waits for the process.
 * The evidence is the proven state of the GPU's queue (gpuprobe/profile.h), and how long the GPU
 * delayed the process. A queue holds about a thousand launches: a process that makes many more
 * without ever being delayed is slower than its GPU.
 *
 * Without a profile, as in the monitor, there are only waits and NVML: what these do not decide is
 * unknown.
 */
#ifndef FINDING_VERDICT_H
#define FINDING_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "finding/finding.h"
#include "model/load.h"

enum verdict_kind {
	VERDICT_UNKNOWN = 0, /* the evidence is not sufficient */
	VERDICT_GPU_BOUND,   /* the process waits for its GPU */
	VERDICT_HOST_BOUND,  /* the GPU waits for the process */
	/* the process has no work or does nothing: a server without requests, a stopped program */
	VERDICT_NO_WORK,
	/* the process waits for another one: a late rank, or a process that hands it its work */
	VERDICT_OTHERS,
	VERDICTS,
};

#define SHARE_UNKNOWN (-1.0)
#define VERDICT_LEAST_BUSY 0.8 /* by NVML: the GPU has enough work */

/* What a thread does while the GPU does not delay it, as far as calls show. */
enum host_doing {
	DOING_OUTSIDE = 0, /* outside CUDA calls */
	DOING_LAUNCH,
	DOING_MEMORY, /* allocations and frees */
	DOING_COPY,
	DOING_OTHER,
	HOST_DOINGS,
};

/*
 * Another process; pid 0: none, or unknown. The name is raw, and empty if the process is not
 * watched.
 */
struct verdict_other {
	int32_t pid;
	char comm[16];
};

struct verdict {
	enum verdict_kind kind;
	/* the judged time; 0: not known to be steady, or not for long enough */
	uint64_t from_ns, window_ns;
	uint64_t launches; /* in that time */
	/*
	 * the GPU with the least idle time; PROFILE_DEVICES - 1: number unknown; -1: none has had
	 * work
	 */
	int device;
	/*
	 * share of the window in which the GPU provably had no work of this process; SHARE_UNKNOWN:
	 * nothing can be proven
	 */
	double unfed;
	double idle; /* the same for all processes that use it: the GPU was idle */
	/* another user of the GPU: the watched process with the most launches */
	struct verdict_other beside;
	struct verdict_other awaited; /* set for VERDICT_OTHERS */
	/* VERDICT_NO_WORK: it is a server that mostly waits for requests */
	bool requests;
	/* `awaited` is late to collective operations; otherwise it hands the process its work */
	bool collectives;
	/* time for which the GPU delayed the process's threads, summed, relative to the window */
	double held;
	double threads;	    /* average number of submitting threads; 0: unknown */
	double thread_held; /* average delayed share of one thread's time */
	/*
	 * share of that time in which it was stopped by a signal or a debugger and did nothing;
	 * SHARE_UNKNOWN: threads are not followed
	 */
	double stopped;
	double busy; /* NVML's approximate utilization; SHARE_UNKNOWN: not reported */
	/*
	 * With GPU times: the share of `exact_ns`, from the beginning of the window to its latest
	 * work, in which GPU number `exact_device` worked for the process, by its own clock; 0: not
	 * known
	 */
	double exact;
	uint64_t exact_ns;
	unsigned int exact_device;
	/* there is a profile; otherwise `held` only has waits, and no idle time can be proven */
	bool profile;
	/*
	 * With a profile: shares of the submitting threads' time by activity; time delayed by the
	 * GPU is excluded
	 */
	double doing[HOST_DOINGS];
};

/* Judges the steady time (model/steady.h) of a process of the model. */
void verdict__judge(const struct model *model, const struct process *process,
		    struct verdict *verdict);

#define VERDICT_SPAN_NS 60000000000ull /* one minute */

/*
 * The same for the latest VERDICT_SPAN_NS, for commands that watch indefinitely; less than a second
 * of data gives no verdict. Requires findings_options.latest.
 */
void verdict__judge_latest(const struct findings *state, const struct model *model,
			   const struct process *process, struct verdict *verdict);

/* "outside", "launches", "memory", "copies", "other": the words used in metrics. */
const char *verdict__doing(enum host_doing doing);

/*
 * "host-bound", "GPU-bound", "waiting for others", "no work", "not known": the words used in JSON.
 */
const char *verdict__word(enum verdict_kind kind);

#endif
