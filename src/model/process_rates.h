/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each process of a model did between the latest two readings, for views that show rates. The
 * owner takes a sample after each reading that it shows. A process is known by its pid and start;
 * what is kept about one that is gone from the model is released, so the model's own limit bounds
 * this too.
 */
#ifndef MODEL_PROCESS_RATES_H
#define MODEL_PROCESS_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

#define MEMORY_SLOPE_NS 60000000000ull /* the slope of memory is taken over at most this time */

struct process_rates;

/* In the latest interval; per second where nothing else is said. */
struct process_rate {
	uint64_t interval_ns;	   /* 0: there is no earlier reading, so nothing is known */
	double launches;	   /* of kernels and graphs, without captured ones */
	double copies;		   /* calls that copy or set memory */
	double to_device, to_host; /* bytes of copies */
	/*
	 * Time that the process's threads spent in waits, synchronous copies and frees, relative to
	 * the interval: 2.0 if two threads waited all the time.
	 */
	double waiting;
	double memory_change; /* bytes of live device memory in the interval */
	/* bytes a second of live device memory, over MEMORY_SLOPE_NS or since it was first seen */
	double memory_slope;
	bool has_slope; /* there were two samples of its memory */
};

/* NULL without memory. */
struct process_rates *process_rates__new(void);
void process_rates__free(struct process_rates *rates); /* NULL ok */

/* Calls are counted from now on, CLOCK_BOOTTIME: the first interval begins. Optional. */
void process_rates__begin(struct process_rates *rates, uint64_t now_ns);

/*
 * Takes the model's latest reading as the end of an interval. A reading that was broken off, or
 * that is as old as the previous one, is skipped. A process that the previous sample did not have
 * has made all its calls since then. 0, or -ENOMEM: some processes have no rates then.
 */
int process_rates__sample(struct process_rates *rates, const struct model *model);

/* All 0 if the process is unknown. */
void process_rates__of(const struct process_rates *rates, const struct process *process,
		       struct process_rate *rate);

/* Live bytes of the process on devices: 0 once it has ended. */
uint64_t process__live_device_bytes(const struct process *process);

/*
 * Its live device memory. If it ran before gpuprobe came, that is what NVML reports; without NVML
 * it is what was allocated since, and *at_least is set. An ended process has what was live then.
 */
uint64_t process__held_bytes(const struct process *process, bool *at_least);

#endif
