// SPDX-License-Identifier: BSD-2-Clause
// Runs all checks in turn; see check.h.
#include "check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/gpus.h"
#include "check/host.h"
#include "check/kernel.h"
#include "check/libraries.h"
#include "check/links.h"
#include "check/processes.h"
#include "check/stacks.h"
#include "device/nvml.h"
#include "target/cuda_files.h"
#include "target/cuda_library.h"

#define MACHINE "" /* the root that has /proc and /sys */

/* Takes ownership of the open files. */
static int take_files(struct cuda_files *files, struct checked_libraries *libraries)
{
	int ret = 0;

	for (size_t i = 0; i < files->count; i++) {
		struct elf_file *elf = files->files[i].elf;
		unsigned int layers;

		files->files[i].elf = NULL;
		if (!ret)
			ret = checked_libraries__add(libraries, elf, files->files[i].path, 0,
						     &layers);
		else
			elf_file__free(elf);
	}
	return ret;
}

static int find_libraries(const struct check_options *options, struct checked_libraries *libraries,
			  struct error *err)
{
	struct cuda_files found = {0};
	int ret = take_files(options->named, libraries);

	if (!ret)
		ret = cuda_files__find(&found, LAYER_BIT(LAYER_DRIVER) | LAYER_BIT(LAYER_RUNTIME),
				       err);
	if (!ret)
		ret = take_files(&found, libraries);
	cuda_files__clear(&found);
	return ret;
}

/*
 * The version of the driver that the loader gives to the machine's own programs; NULL if unknown.
 */
static const char *driver_version(const struct checked_libraries *libraries)
{
	for (size_t i = 0; i < libraries->count; i++)
		if (libraries->libraries[i].layers & LAYER_BIT(LAYER_DRIVER))
			return library_version__of(libraries->libraries[i].path);
	return NULL;
}

static int check_gpus(const struct checked_libraries *libraries, struct check_list *list)
{
	struct nvml *nvml = nvml__new();
	struct gpu_facts facts = {.failure = 0};

	if (!nvml)
		return -ENOMEM;
	gpu_facts__read_module(MACHINE, &facts);
	facts.snapshot = nvml__refresh(nvml, NVML_PATIENCE_MS);
	facts.failure = nvml__failure(nvml);
	check_gpus__judge(&facts, driver_version(libraries), list);
	nvml__free(nvml);
	return 0;
}

static void check_system(const char *forced, struct link_facts *links, struct check_list *list)
{
	struct kernel_facts kernel;
	struct host_facts host;

	kernel_facts__read(MACHINE, &kernel);
	host_facts__read(MACHINE, &host);
	link_facts__try(forced, host.tracefs == TRACEFS_WRITABLE, &kernel.types, links);
	check_kernel__judge(&kernel, list);
	check_host__judge(&host, link_facts__tracefs_use(links), list);
	check_links__judge(links, kernel.types_read ? NULL : &kernel.types, list);
}

int check__run(const struct check_options *options, struct check_list *list, struct error *err)
{
	struct checked_libraries libraries = {0};
	struct looked_at looked;
	struct link_facts links;
	struct stack_facts stacks;
	struct check_list processes = {0};
	int ret;

	check_system(options->links, &links, list);
	stack_facts__read(&stacks);
	check_stacks__judge(&stacks, &links, list);
	ret = find_libraries(options, &libraries, err);
	if (!ret)
		ret = check_gpus(&libraries, list);
	/*
	 * Processes are checked before libraries because they add the libraries that they map.
	 * Their lines are printed after the libraries'.
	 */
	if (!ret)
		ret = check_processes__run(options->pids, options->pid_count, options->filter,
					   links.trial.filtered == TRIAL_KILLED, &libraries,
					   &looked, &processes);
	if (!ret)
		ret = check_libraries__judge(&libraries, &looked, list);
	if (!ret)
		ret = check_list__append(list, &processes);
	check_list__clear(&processes);
	checked_libraries__clear(&libraries);
	if (ret || list->no_memory)
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}
