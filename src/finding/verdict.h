/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who waits for whom: whether a process is limited by its GPU, or the GPU waits for the process. By what is proved of the
 * GPU's queue (gpuprobe/account.h), and by how long the process was held up by it. A queue holds about a thousand launches: a
 * process that makes many more without ever being held up is slower than its GPU.
 */
#ifndef FINDING_VERDICT_H
#define FINDING_VERDICT_H

#include <stdint.h>

#include "model/load.h"

enum verdict_kind {
	VERDICT_UNKNOWN = 0, /* the evidence decides nothing */
	VERDICT_GPU_BOUND,   /* the process waits for its GPU */
	VERDICT_HOST_BOUND,  /* the GPU waits for the process */
	VERDICT_NO_WORK,     /* the process has nothing to do, or does nothing: a server without requests, a stopped program */
	VERDICTS,
};

#define SHARE_UNKNOWN (-1.0)

struct verdict {
	enum verdict_kind kind;
	uint64_t from_ns, window_ns; /* the time that was judged; 0: it is not known to be steady, or not for long enough */
	uint64_t launches;	     /* in it */
	int device;		     /* the GPU with the least idle time; ACCOUNT_DEVICES - 1: its number is not known; -1: none has had work */
	double idle;		     /* of the window: proved to have been idle; SHARE_UNKNOWN: nothing can be proved */
	double held;		     /* of the window: the process was held up by the GPU */
	double busy;		     /* NVML's use, about; SHARE_UNKNOWN where it does not tell */
};

/* Judges the process's steady time (model/steady.h) as of `now_ns`. */
void verdict__judge(const struct process *process, uint64_t now_ns, struct verdict *verdict);

/* "host-bound", "GPU-bound", "no work", "not known": as JSON has them. */
const char *verdict__word(enum verdict_kind kind);

#endif
