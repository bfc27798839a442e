/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What decides which GPUs CUDA gives a process: its environment variables and the device nodes that
 * it can see. The process controls all of it. If a program changes its variables itself (setenv,
 * os.environ), /proc does not show the change; NVML's list of processes per GPU can then contradict
 * what is found here (collect/process_gpus.c).
 */
#ifndef DEVICE_CUDA_ENVIRONMENT_H
#define DEVICE_CUDA_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/memory_reader.h"

#define NODES_MAX 64 /* covers /dev/nvidia0 to /dev/nvidia63 */
#define VISIBLE_SIZE 1024

enum nodes {
	NODES_UNKNOWN = 0,
	NODES_ALL,    /* the process sees the same /dev as gpuprobe */
	NODES_LISTED, /* the nodes in `minors` */
};

struct cuda_environment {
	bool known;	  /* the whole environment could be read */
	bool has_visible; /* CUDA_VISIBLE_DEVICES is set, possibly to nothing */
	bool batch_job;	  /* a Slurm job: Slurm may forbid opening nodes that it sees */
	char visible[VISIBLE_SIZE];
	bool has_order; /* CUDA_DEVICE_ORDER is set */
	char order[32];
	enum nodes nodes;
	uint64_t minors; /* bit N: /dev/nvidiaN */
};

/*
 * Fills *environment from /proc/PID as far as that can be read; `memory` reads the variables. The
 * caller checks afterwards that the pid is still the same process.
 */
void cuda_environment__read(struct memory_reader *memory, pid_t pid,
			    struct cuda_environment *environment);

/* The same from an environment block of NUL-terminated variables. Does not set the nodes. */
void cuda_environment__parse(const char *bytes, size_t length,
			     struct cuda_environment *environment);

#endif
