// SPDX-License-Identifier: BSD-2-Clause
// Finds and opens CUPTI, see cupti_library.h.
#include "cupti_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static const char *const file_names[] = {"libcupti.so.13", "libcupti.so.12"};

/* From the folder of the CUDA runtime: pip's packages of CUDA 13 and 12, and toolkits. */
static const char *const folders[] = {"", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/"};

#define NEEDED 10 /* of the functions, the first: an old CUPTI may lack the others */

/* Where a toolkit is usually installed. */
#define TOOLKIT "/usr/local/cuda/extras/CUPTI/lib64/"

/* Keeps the folder of the CUDA runtime, which ends with a slash, and its major version. */
struct runtime {
	char folder[PATH_MAX];
	int length;
	const char *file_name;
};

static int note_runtime(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct runtime *runtime = arg;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (!slash || strncmp(slash, "/libcudart.so.1", 15) ||
	    slash - info->dlpi_name + 1 >= PATH_MAX)
		return 0;
	runtime->length = (int)(slash - info->dlpi_name + 1);
	memcpy(runtime->folder, info->dlpi_name, (size_t)runtime->length);
	runtime->file_name = file_names[slash[15] == '2'];
	return 1;
}

static void *open_beside_runtime(const char *folder)
{
	struct runtime runtime = {.length = 0};
	char path[PATH_MAX + 64];

	if (!dl_iterate_phdr(note_runtime, &runtime))
		return NULL;
	snprintf(path, sizeof(path), "%.*s%s%s", runtime.length, runtime.folder, folder,
		 runtime.file_name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_in_toolkit(const char *file_name)
{
	char path[sizeof(TOOLKIT) + 32];

	snprintf(path, sizeof(path), TOOLKIT "%s", file_name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_place(unsigned int place)
{
	if (place < 2)
		return dlopen(file_names[place], RTLD_NOW | RTLD_NOLOAD);
	if (place < 5)
		return open_beside_runtime(folders[place - 2]);
	if (place < 7)
		return dlopen(file_names[place - 5], RTLD_NOW | RTLD_LOCAL);
	return open_in_toolkit(file_names[place - 7]);
}

int cupti__open(unsigned int place, struct cupti *cupti)
{
	const struct {
		void **function;
		const char *name;
	} functions[] = {
		{(void **)&cupti->subscribe, "cuptiSubscribe"},
		{(void **)&cupti->unsubscribe, "cuptiUnsubscribe"},
		{(void **)&cupti->register_callbacks, "cuptiActivityRegisterCallbacks"},
		{(void **)&cupti->enable, "cuptiActivityEnable"},
		{(void **)&cupti->disable, "cuptiActivityDisable"},
		{(void **)&cupti->flush_all, "cuptiActivityFlushAll"},
		{(void **)&cupti->next_record, "cuptiActivityGetNextRecord"},
		{(void **)&cupti->dropped, "cuptiActivityGetNumDroppedRecords"},
		{(void **)&cupti->version, "cuptiGetVersion"},
		{(void **)&cupti->result_string, "cuptiGetResultString"},
		{(void **)&cupti->timestamp, "cuptiGetTimestamp"},
		{(void **)&cupti->thread_ids, "cuptiSetThreadIdType"},
		{(void **)&cupti->enable_call, "cuptiActivityEnableDriverApi"},
	};
	void *library = open_place(place);

	for (size_t i = 0; library && i < sizeof(functions) / sizeof(*functions); i++) {
		*functions[i].function = dlsym(library, functions[i].name);
		if (!*functions[i].function && i < NEEDED)
			return -1;
	}
	return library ? 0 : -1;
}
