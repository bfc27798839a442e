/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine's GPUs: NVIDIA's kernel module, its management library (NVML) and what NVML reports.
 */
#ifndef CHECK_GPUS_H
#define CHECK_GPUS_H

#include "check/list.h"
#include "device/nvml_library.h"

#define NVML_PATIENCE_MS 5000

struct gpu_facts {
	char module[NVML_VERSION_SIZE];	     /* of the kernel module; empty if none is loaded */
	int failure;			     /* of NVML, see nvml__failure */
	const struct gpu_snapshot *snapshot; /* NULL if NVML failed or has not answered yet */
};

/*
 * Extracts the version from the text of /proc/driver/nvidia/version: "580.65.06" from "NVRM
 * version: NVIDIA UNIX … x86_64  580.65.06  Release Build …". Empty if there is none.
 */
void gpu_facts__parse_module(const char *text, char version[NVML_VERSION_SIZE]);

/* Reads the kernel module's version below `root` ("" for this machine). */
void gpu_facts__read_module(const char *root, struct gpu_facts *facts);

/* `driver_library` is the version in libcuda's file name; NULL if unknown. */
void check_gpus__judge(const struct gpu_facts *facts, const char *driver_library,
		       struct check_list *list);

#endif
