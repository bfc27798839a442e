/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of devices over time: whether it grows, by NVML or by what a
 * process allocates there, and who had it when it was used up most.
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

/* What a process took of a device in the latest window, by what it has live there. */
struct device_growth {
	bool known;	    /* it was followed for long enough */
	bool grows;	    /* more and more: it goes on, or came by and by while the process launched kernels */
	uint64_t bytes;	    /* so much more */
	uint64_t span_ns;   /* within this time */
	uint64_t first_ns;  /* since when it was followed; 0: not yet */
	uint64_t needed_ns; /* for so long it has to be */
};

/*
 * Of a device by its number in the process. What is taken before kernels are
 * launched, or in a few steps, is the process's start, and no growth. Of a
 * process that has ended as it was then.
 */
void device_history__judge_process(const struct device_history *history, const struct process *process,
				   uint8_t device, struct device_growth *growth);

/* The same of all that is used of a GPU, by NVML; whoever has it. */
void device_history__judge_gpu(const struct device_history *history, const struct gpu *gpu,
			       struct device_growth *growth);

/* The machine's GPU that a process knows as this device; NULL when not known. */
const struct gpu *device_history__gpu(const struct model *model, const struct process *process, uint8_t device);

/* Who has the memory of a GPU. */
struct memory_holding {
	char label[GPU_LABEL_SIZE]; /* of the GPU */
	uint64_t total, used;	    /* bytes, by all; known */
	uint64_t own;		    /* by the process it is asked for; GPU_UNKNOWN_BYTES */
	int32_t largest_pid;	    /* another watched process, that has most; 0: none */
	char largest_comm[16];
	uint64_t largest;
	uint64_t others; /* neither of these two */
};

/* As of now, `process` being NULL or the one it is asked for. False where total or used are not known. */
bool memory_holding__of(const struct model *model, const struct gpu *gpu, const struct process *process,
			struct memory_holding *holding);

/*
 * The same at the sample in which this GPU, or any of the process's (NULL), was
 * used up most while the process was there. False: in none.
 */
bool device_history__fullest(const struct device_history *history, const struct process *process,
			     const struct gpu *gpu, struct memory_holding *holding);

#endif
