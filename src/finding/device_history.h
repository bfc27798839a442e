/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory use of devices over time: whether it grows, according to NVML or to a process's
 * allocations, and which processes held it at the peak.
 */
#ifndef FINDING_DEVICE_HISTORY_H
#define FINDING_DEVICE_HISTORY_H

#include <stdint.h>

#include "model/growth.h"
#include "model/gpu_label.h"
#include "model/model.h"

struct device_history;

/* NULL without memory. */
struct device_history *device_history__new(uint64_t window_ns);
void device_history__free(struct device_history *history);

/* 0 or -ENOMEM. */
int device_history__sample(struct device_history *history, const struct model *model);

/* What a process took of a device in the latest window, from its live memory there. */
struct device_growth {
	bool known; /* it was followed for long enough */
	/* it keeps growing, or grew gradually while the process launched kernels */
	bool grows;
	uint64_t bytes;	    /* the increase */
	uint64_t span_ns;   /* within this time */
	uint64_t first_ns;  /* when following began; 0: not yet */
	uint64_t needed_ns; /* how long it must be followed */
};

/*
 * For a device, by its number in the process. Memory taken before kernels are launched, or in a few
 * large steps, is startup, not growth. For an ended process, the state at its end.
 */
void device_history__judge_process(const struct device_history *history,
				   const struct process *process, uint8_t device,
				   struct device_growth *growth);

/* The same for the total use of a GPU according to NVML, by any process. */
void device_history__judge_gpu(const struct device_history *history, const struct gpu *gpu,
			       struct device_growth *growth);

/* The machine's GPU behind a process's device number; NULL if unknown. */
const struct gpu *device_history__gpu(const struct model *model, const struct process *process,
				      uint8_t device);

/* The memory of a GPU by holder. */
struct memory_holding {
	char label[GPU_LABEL_SIZE]; /* of the GPU */
	uint64_t total, used;	    /* bytes, used by all processes together; both known */
	/* used by the process in question; GPU_UNKNOWN_BYTES: unknown */
	uint64_t own;
	/* the watched process with the most, other than the one in question; 0: none */
	int32_t largest_pid;
	char largest_comm[16];
	uint64_t largest;
	uint64_t others; /* all except these two */
};

/*
 * The current state; `process` is the one in question, or NULL. False if total or used are unknown.
 */
bool memory_holding__of(const struct model *model, const struct gpu *gpu,
			const struct process *process, struct memory_holding *holding);

/*
 * The same at the sample at which this GPU, or any GPU of the process (NULL), was fullest while the
 * process existed. False: there is no such sample.
 */
bool device_history__fullest(const struct device_history *history, const struct process *process,
			     const struct gpu *gpu, struct memory_holding *holding);

#endif
