// SPDX-License-Identifier: BSD-2-Clause
// Lists of the processes on a GPU, see nvml_list.h.
#include "device/nvml_list.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NVML_ERROR_INSUFFICIENT_SIZE 7
#define MAX_INSTANCE_ID 1024
#define MAX_PID 4194304 /* the kernel's PID_MAX_LIMIT */
#define MAX_PROCESSES 65536
#define ENTRY_ROOM 64 /* bytes reserved per entry of a list, see entry_sizes */

struct nvml_process {
	unsigned int pid;
	unsigned long long used;
	unsigned int gpu_instance, compute_instance; /* since _v2 */
};

/*
 * _v3 and _v2 have entries of 24 bytes, the first version of 16. Drivers 535.43 to 535.86 returned
 * 32 bytes by _v3 (XuehaiPan/nvitop pull request 79), so _v3 is not used with them, and there is
 * always room for larger entries than expected.
 */
static const size_t entry_sizes[NVML_LIST_VERSIONS] = {24, 24, 16};
static const char *const version_suffixes[NVML_LIST_VERSIONS] = {"_v3", "_v2", ""};

void nvml_list__find(struct nvml_list lists[NVML_LISTS], void *handle)
{
	static const char *const kinds[NVML_LISTS] = {"Compute", "Graphics", "MPSCompute"};

	for (int kind = 0; kind < NVML_LISTS; kind++) {
		lists[kind].name = kinds[kind];
		for (int version = 0; version < NVML_LIST_VERSIONS; version++) {
			char name[80];

			snprintf(name, sizeof(name), "nvmlDeviceGet%sRunningProcesses%s",
				 kinds[kind], version_suffixes[version]);
			lists[kind].versions[version] = dlsym(handle, name);
		}
	}
}

/*
 * Known bytes win over unknown ones, and the larger of two values wins: the lists of one process
 * are not parts of a sum.
 */
static bool add_use(struct gpu_snapshot *snapshot, const struct gpu_use *use)
{
	for (size_t i = 0; i < snapshot->use_count; i++) {
		struct gpu_use *old = &snapshot->uses[i];

		if (old->pid != use->pid || old->gpu != use->gpu)
			continue;
		if (old->bytes == GPU_UNKNOWN_BYTES ||
		    (use->bytes != GPU_UNKNOWN_BYTES && use->bytes > old->bytes))
			old->bytes = use->bytes;
		return true;
	}
	return !ARRAY_APPEND(snapshot->uses, snapshot->use_count, *use);
}

/*
 * Reads an entry. Returns false if it is implausible, which means that the list has another layout
 * than expected.
 */
static bool read_entry(const char *entries, size_t at, size_t size, struct nvml_process *process)
{
	*process = (struct nvml_process){.gpu_instance = NVML_NO_INSTANCE,
					 .compute_instance = NVML_NO_INSTANCE};
	memcpy(process, entries + at * size, size);
	return process->pid <= MAX_PID &&
	       (process->gpu_instance == NVML_NO_INSTANCE ||
		process->gpu_instance < MAX_INSTANCE_ID) &&
	       (process->compute_instance == NVML_NO_INSTANCE ||
		process->compute_instance < MAX_INSTANCE_ID);
}

/*
 * Queries one version of a list. Returns 0, -EBADMSG for an implausible list, -ENODATA, or -ENOMEM.
 */
static int ask_list(nvml_list_fn question, size_t size, nvml_device device,
		    struct gpu_snapshot *snapshot, int gpu)
{
	unsigned int room = 64, count;
	struct nvml_process process;
	char *entries = NULL, *grown;
	int ret = -ENODATA, result;

	do {
		grown = realloc(entries, (size_t)room * ENTRY_ROOM);
		if (!grown) {
			ret = -ENOMEM;
			goto out;
		}
		entries = grown;
		count = room;
		result = question(device, &count, entries);
		room *= 2;
	} while (result == NVML_ERROR_INSUFFICIENT_SIZE && room <= MAX_PROCESSES);
	if (result != NVML_SUCCESS || count > room / 2)
		goto out;
	ret = 0;
	for (unsigned int i = 0; i < count && !ret; i++)
		if (!read_entry(entries, i, size, &process))
			ret = -EBADMSG;
	for (unsigned int i = 0; i < count && !ret; i++) {
		read_entry(entries, i, size, &process);
		/* NVML_VALUE_NOT_AVAILABLE is all ones, as is GPU_UNKNOWN_BYTES. */
		if (process.pid &&
		    !add_use(snapshot, &(struct gpu_use){(pid_t)process.pid, gpu, process.used}))
			ret = -ENOMEM;
	}
out:
	free(entries);
	return ret;
}

bool nvml_list__read(const struct nvml_list *list, nvml_device device,
		     struct gpu_snapshot *snapshot, int gpu)
{
	bool requested = false;

	for (int version = 0; version < NVML_LIST_VERSIONS; version++) {
		if (!list->versions[version])
			continue;
		requested = true;
		if (!ask_list(list->versions[version], entry_sizes[version], device, snapshot, gpu))
			return true;
	}
	return !requested;
}
