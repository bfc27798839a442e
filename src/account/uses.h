/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process had of each GPU from one reading to the next: how long it held it, and bounds of
 * the time with work. The GPU had no work of the process while it is proved idle: at most the rest
 * has work. While a thread waits for the GPU, it has work, unless another process has its turn.
 */
#ifndef ACCOUNT_USES_H
#define ACCOUNT_USES_H

#include "account/groups.h"

/* What the counters of a process said about one of its devices. */
struct device_counts {
	uint8_t device; /* CUDA's number, or DEVICE_UNKNOWN */
	uint64_t idle_ns;
	uint64_t waits, wait_ns;
};

/* A process between two readings. */
struct accounted {
	struct accounted_key {
		uint32_t source;
		int32_t pid;
		uint64_t start_ns;
	} key;
	struct group *group; /* NULL: none yet */
	struct account_memory memory;
	struct device_counts *devices; /* at the reading before */
	size_t device_count;
	uint64_t calls;
	bool has_begun;	       /* a reading was taken in */
	uint64_t until_ns;     /* that reading */
	uint64_t last_call_ns; /* CLOCK_BOOTTIME; 0: none was seen */
	unsigned int unnamed_readings;
	bool is_partial, said_partial;

	/* of the present reading */
	uint64_t reading; /* its number */
	bool is_due;
	bool ended; /* and all of it was taken in */
	struct account_span span;
	struct gpu_use *uses;
	size_t use_count;
	UT_hash_handle hh;
};

/* How many processes had work on each GPU of a machine between two readings. */
struct gpu_sharing {
	size_t gpu_count;
	uint32_t *users;  /* by GPU */
	uint32_t unknown; /* on a GPU that is not known: any */
};

int gpu_sharing__begin(struct gpu_sharing *sharing, const struct model *model);
void gpu_sharing__clear(struct gpu_sharing *sharing);

/*
 * Sets the span and the uses of the process at this reading, and counts it as a user of these GPUs.
 * Returns 0 or -ENOMEM.
 */
int accounted__look(struct accounted *accounted, const struct process *process, uint64_t now_ns,
		    uint64_t began_ns, struct gpu_sharing *sharing);

/* A wait for a GPU that several processes use proves nothing: it may be another one's turn. */
void gpu_sharing__apply(const struct gpu_sharing *sharing, struct accounted *accounted);

/* The reading is taken in. */
void accounted__remember(struct accounted *accounted, const struct process *process);

void accounted__free(struct accounted *accounted);

#endif
