/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine's GPUs as NVML reports them, and which of them a process has under which number.
 * Plain data.
 */
#ifndef DEVICE_GPU_H
#define DEVICE_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GPU_UNKNOWN_BYTES UINT64_MAX
#define GPU_UNKNOWN_PERCENT UINT32_MAX
#define GPU_UNKNOWN_NUMBER UINT32_MAX
#define GPU_NONE (-1)
#define GPU_UUID_SIZE 96 /* NVML_DEVICE_UUID_V2_BUFFER_SIZE */
#define GPU_NAME_SIZE 96 /* NVML_DEVICE_NAME_V2_BUFFER_SIZE */
#define GPU_BUS_ID_SIZE 32

/* How long commands that look once wait for NVML, and what they say if it does not answer. */
#define GPU_WAIT_MS 2000
#define GPU_TIMED_OUT \
	"GPUs and their memory are unknown: NVML has not answered in %d s; see nvidia-smi, which " \
	"may hang too, and dmesg"

#define GPU_STRANGERS 4

/* A process on a GPU that is not in the model. */
struct gpu_stranger {
	int32_t pid;
	uint64_t bytes; /* 0 if unknown */
};

/* A GPU, or one instance of a divided GPU (MIG). */
struct gpu {
	unsigned int index;	  /* of the whole GPU, as NVML and nvidia-smi count */
	int mig;		  /* number of the instance on it; GPU_NONE for a whole GPU */
	bool divided;		  /* a whole GPU whose instances follow it in the list */
	unsigned int minor;	  /* /dev/nvidiaN; UINT32_MAX if unknown */
	unsigned int instance[2]; /* for an instance: ids of GPU instance and compute instance */
	char uuid[GPU_UUID_SIZE]; /* "GPU-…", "MIG-…"; empty if unknown */
	char name[GPU_NAME_SIZE];
	char bus_id[GPU_BUS_ID_SIZE]; /* "00000000:06:00.0" */
	uint64_t total_bytes;	      /* of memory; GPU_UNKNOWN_BYTES */
	uint64_t used_bytes;	      /* by all processes, without the driver's own reserve */
	uint32_t busy_percent;	      /* of the latest second or less; GPU_UNKNOWN_PERCENT */
	uint32_t milliwatts;	      /* power that it draws; GPU_UNKNOWN_NUMBER */
	uint32_t celsius;	      /* temperature of its chip; GPU_UNKNOWN_NUMBER */
	int32_t stranger;	      /* a process on it that is not in the model; 0: none */
	/* such processes at NVML's last answer, those with most memory first; and how many */
	struct gpu_stranger strangers[GPU_STRANGERS];
	size_t stranger_count;
	uint64_t link_bytes_per_second; /* of its PCIe link now, one direction; 0 if unknown */
};

/* A device's UUID as a call returned it. */
struct device_uuid {
	int ordinal; /* CUDA's number of it in the process */
	uint8_t uuid[16];
};

/* One GPU of a process. */
struct process_gpu {
	int ordinal;	     /* CUDA's number of it in the process; GPU_NONE if unknown */
	int gpu;	     /* index in the model's list; GPU_NONE if unknown */
	uint64_t used_bytes; /* memory the process has on it by NVML; GPU_UNKNOWN_BYTES */
	/*
	 * The part of used_bytes that no tracked allocation accounts for (context, code,
	 * libraries).
	 */
	uint64_t untracked_bytes; /* GPU_UNKNOWN_BYTES */
	uint64_t untracked_ns;	  /* the reading at which it was computed; 0: unknown */
	/* Tracked bytes, and calls that had allocated, at NVML's last answer; for collect/ only. */
	uint64_t bytes_at_request, calls_at_request;
};

#endif
