// SPDX-License-Identifier: BSD-2-Clause
// Judges GPUs and their driver; see gpus.h.
#include "check/gpus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "target/text_file.h"

void gpu_facts__parse_module(const char *text, char version[NVML_VERSION_SIZE])
{
	const char *at = text + strcspn(text, "0123456789\n");

	version[0] = '\0';
	/* Takes the first word of digits and dots that has a dot: not the 64 of x86_64. */
	while (*at && *at != '\n') {
		size_t length = strspn(at, "0123456789.");

		if (length && length < NVML_VERSION_SIZE && memchr(at, '.', length) &&
		    (at == text || at[-1] == ' ') && strchr(" \n", at[length])) {
			snprintf(version, NVML_VERSION_SIZE, "%.*s", (int)length, at);
			return;
		}
		at += length ? length : 1;
	}
}

void gpu_facts__read_module(const char *root, struct gpu_facts *facts)
{
	char text[256];

	text_file__read(root, "/proc/driver/nvidia/version", text, sizeof(text));
	gpu_facts__parse_module(text, facts->module);
}

static void judge_module(const struct gpu_facts *facts, const char *library,
			 struct check_list *list)
{
	if (!*facts->module)
		check_list__lacks(list, "driver", CHECK_DEGRADED,
				  "install NVIDIA's driver, or modprobe nvidia; ignore this on "
				  "machines without a GPU",
				  "NVIDIA's kernel module is not loaded: programs find no GPU");
	else if (library && strcmp(library, facts->module) != 0)
		check_list__lacks(list, "driver", CHECK_DEGRADED,
				  "reboot, or load the module of libcuda's version",
				  "NVIDIA's kernel module has version %s, libcuda %s: programs may "
				  "find no GPU",
				  facts->module, library);
	else
		check_list__ok(list, "driver", "NVIDIA's kernel module %s", facts->module);
	check_list__text(list, "version", *facts->module ? facts->module : NULL);
}

static void judge_gpu(const struct gpu *gpu, struct check_list *list)
{
	char where[64] = "", memory[64] = "";

	if (gpu->mig != GPU_NONE)
		snprintf(where, sizeof(where), ", instance %d", gpu->mig);
	if (gpu->total_bytes != GPU_UNKNOWN_BYTES)
		snprintf(memory, sizeof(memory), ", %s of memory",
			 quantity__bytes((double)gpu->total_bytes).text);
	if (!*gpu->uuid)
		check_list__lacks(list, "gpu", CHECK_DEGRADED,
				  "see nvidia-smi and the kernel's messages (dmesg)",
				  "GPU %u%s: NVML does not report its UUID", gpu->index, where);
	else
		check_list__ok(list, "gpu", "GPU %u%s: %s, %s%s", gpu->index, where,
			       *gpu->name ? gpu->name : "name unknown", gpu->uuid, memory);
	check_list__number(list, "index", gpu->index);
	check_list__text(list, "uuid", *gpu->uuid ? gpu->uuid : NULL);
	check_list__text(list, "name", *gpu->name ? gpu->name : NULL);
}

static void judge_answer(const struct gpu_snapshot *snapshot, struct check_list *list)
{
	const char *version = *snapshot->driver ? snapshot->driver : "of unknown version";

	if (!snapshot->gpu_count)
		check_list__lacks(list, "nvml", CHECK_DEGRADED,
				  "see nvidia-smi, and the GPUs given to this container",
				  "NVML of driver %s finds no GPU", version);
	else if (!snapshot->uses_known)
		check_list__lacks(list, "nvml", CHECK_DEGRADED,
				  "run it in the machine's pid namespace (--pid=host), or use "
				  "NVIDIA's open kernel modules",
				  "NVML of driver %s does not report GPU memory by process",
				  version);
	else
		check_list__ok(list, "nvml", "NVML of driver %s, %zu GPU%s", version,
			       snapshot->gpu_count,
			       snapshot->gpu_count == 1 ? "" : "s and instances");
	check_list__text(list, "version", *snapshot->driver ? snapshot->driver : NULL);
	for (size_t i = 0; i < snapshot->gpu_count; i++)
		judge_gpu(&snapshot->gpus[i], list);
}

static void judge_nvml(const struct gpu_facts *facts, struct check_list *list)
{
	if (facts->failure == -ENOENT)
		check_list__lacks(list, "nvml", CHECK_DEGRADED,
				  "install NVIDIA's libnvidia-ml1; in a container "
				  "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
				  "the loader finds no libnvidia-ml.so.1: GPUs have no names, and "
				  "untracked memory is unknown");
	else if (facts->failure == -ENODEV)
		check_list__lacks(list, "nvml", CHECK_DEGRADED,
				  "see nvidia-smi and the kernel's messages (dmesg)",
				  "libnvidia-ml.so.1 finds no working driver");
	else if (facts->failure)
		check_list__lacks(list, "nvml", CHECK_DEGRADED,
				  "give gpuprobe more memory and threads", "cannot use NVML: %s",
				  strerror(-facts->failure));
	else if (!facts->snapshot)
		check_list__lacks(list, "nvml", CHECK_DEGRADED,
				  "see nvidia-smi, which may hang too, and dmesg",
				  "NVML has not answered in %d s", NVML_PATIENCE_MS / 1000);
	else
		judge_answer(facts->snapshot, list);
}

void check_gpus__judge(const struct gpu_facts *facts, const char *driver_library,
		       struct check_list *list)
{
	judge_module(facts, driver_library, list);
	judge_nvml(facts, list);
}
