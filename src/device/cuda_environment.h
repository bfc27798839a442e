/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What decides which GPUs CUDA gives a process: its environment variables, and
 * the device nodes it can see. All of it is the process's own telling. A
 * program that changes its variables itself (setenv, os.environ) changes them
 * where /proc does not show it; NVML's profile of who uses which GPU can
 * contradict what is found here (collect/attribution.c).
 */
#ifndef DEVICE_CUDA_ENVIRONMENT_H
#define DEVICE_CUDA_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/memory_reader.h"

#define NODES_MAX 64 /* /dev/nvidia0 to /dev/nvidia63 are looked for */
#define VISIBLE_SIZE 1024

enum nodes {
	NODES_UNKNOWN = 0,
	NODES_ALL,    /* it sees the same /dev as gpuprobe */
	NODES_LISTED, /* those in `minors` */
};

struct cuda_environment {
	bool known;	  /* the environment could be read whole */
	bool has_visible; /* CUDA_VISIBLE_DEVICES is set, maybe to nothing */
	bool batch_job;	  /* of Slurm, which may keep it from opening nodes that it sees */
	char visible[VISIBLE_SIZE];
	bool has_order; /* CUDA_DEVICE_ORDER is set */
	char order[32];
	enum nodes nodes;
	uint64_t minors; /* bit N: /dev/nvidiaN */
};

/*
 * Fills *environment with what /proc/PID has of the process, as far as it can
 * be read; `memory` reads the variables. The caller makes sure that it is still the same process afterwards.
 */
void cuda_environment__read(struct memory_reader *memory, pid_t pid, struct cuda_environment *environment);

/* The same from the bytes of an environment, each variable NUL-terminated. Sets no nodes. */
void cuda_environment__parse(const char *bytes, size_t length, struct cuda_environment *environment);

#endif
