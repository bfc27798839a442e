/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the faults workload. For each finding of gpuprobe there is a program that
 * has the fault and, with --fixed, its repaired twin: the same work without the fault. All are
 * otherwise healthy: a step is some launches onto a stream of its own and one wait for them.
 *
 * The simulation decides how long calls take (CUDA_SIM_LATENCY, CUDA_SIM_ASYNC), and its truth file
 * has what they took. The workload measures what the file cannot have, such as which of several
 * copies were unnecessary.
 */
#ifndef WORKLOADS_FAULTS_H
#define WORKLOADS_FAULTS_H

#include "../gpu.h"

#define FAULT_KERNELS 12
#define STEP_LAUNCHES 8

struct run {
	bool fixed;
	double end;		/* in terms of now() */
	double seconds;
	uint64_t processes;	/* for device-imbalance */
	const char *part;	/* for missing-sync; NULL: all */
	struct kernels kernels;
	cudaStream_t stream;	/* non-blocking */

	/* The workload's own truth. */
	uint64_t cost_ns;
	uint64_t calls;
	uint64_t bytes;
	uint64_t begun_ns;
};

struct fault {
	const char *id;
	void (*run)(struct run *run);
	const char *about;
	bool opens;		/* calls run__open itself, later or in other processes */
	const char *environment; /* that makes it findable; NULL: CUDA_SIM_ASYNC=2ms is enough */
	const char *options;	 /* for gpuprobe diagnose; NULL: none */
	const char *arguments;	 /* of its own, besides the id; NULL: none */
};

/* One list per file; a list ends with a fault without id. */
extern const struct fault memory_faults[];
extern const struct fault pressure_faults[];
extern const struct fault launch_faults[];
extern const struct fault wait_faults[];
extern const struct fault copy_faults[];
extern const struct fault error_faults[];
extern const struct fault stream_faults[];
extern const struct fault device_faults[];
extern const struct fault lock_faults[];

/* Sets up device, kernels and stream; starts the run's time. */
void run__open(struct run *run, int device);
void run__close(struct run *run);

bool run__goes_on(const struct run *run);
/* Launches `launches` times onto the stream, one kernel after the other. */
void run__launch(struct run *run, uint64_t launches);
void run__wait(struct run *run);
/* A healthy step. */
void run__step(struct run *run);

/* The cost of the fault is measured between these two. */
void run__begin_cost(struct run *run);
void run__end_cost(struct run *run, uint64_t bytes);

void *device_memory(size_t size);
void *pinned_memory(size_t size);

#endif
