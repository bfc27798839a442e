// SPDX-License-Identifier: BSD-2-Clause
/*
 * The floor for gpuprobe's costs: an empty session probe on functions of a CUDA library. empty
 * LIBRARY entry|both FUNCTION... probes only the entries or the returns as well, prints `ready`,
 * and ends when its standard input ends. empty LIBRARY events FUNCTION... attaches probes to
 * entries the conventional way, one perf event for each function, to measure how long that takes.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/multi_link.h"
#include "target/cuda_library.h"

/* If a session program returns 1 at entry, it does not run at the return. */
static int load_program(int type, bool on_return)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = !on_return},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .expected_attach_type = (enum bpf_attach_type)type);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "Dual BSD/GPL", insns, 2, &options);
}

static int find_sites(const char *library, char **functions, struct probe_point **sites,
		      size_t *count)
{
	bool *wanted = calloc(api_function_count, sizeof(*wanted));
	struct elf_file *file = NULL;
	struct error error;
	size_t missing;
	int ret = wanted ? elf_file__open(library, &file, &error) : -ENOMEM, row;

	for (; !ret && *functions; functions++) {
		row = api__find(*functions, API_NEWEST);
		if (row < 0)
			ret = row;
		else
			wanted[row] = true;
	}
	if (!ret)
		ret = cuda_library__sites(file, &(struct wanted_functions){.rows = wanted}, sites,
					  count, &missing);
	elf_file__free(file);
	free(wanted);
	return ret;
}

/* The type of the kernel's perf events for uprobes. */
static int read_event_type(uint32_t *type)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int ret = file && fscanf(file, "%u", type) == 1 ? 0 : -ENOENT;

	if (file)
		fclose(file);
	return ret;
}

/* Attaches a perf event, which ends with this program. */
static int attach_event(int program, uint32_t type, const char *library, uint64_t offset)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.uprobe_path = (uintptr_t)library,
		.probe_offset = offset,
	};
	long event = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (event < 0 || bpf_link_create(program, (int)event, BPF_PERF_EVENT, NULL) < 0)
		return -errno;
	return 0;
}

static int attach_events(const char *library, const struct probe_point *sites, size_t count)
{
	struct rlimit files = {.rlim_cur = 2 * count + 64, .rlim_max = 2 * count + 64};
	int program = load_program(0, true), ret;
	uint32_t type;

	ret = program < 0 ? program : read_event_type(&type);
	if (!ret && setrlimit(RLIMIT_NOFILE, &files))
		ret = -errno;
	for (size_t i = 0; i < count && !ret; i++)
		ret = attach_event(program, type, library, sites[i].file_offset);
	return ret;
}

static int attach_session(const char *library, bool on_return, const struct probe_point *sites,
			  size_t count)
{
	uint64_t *offsets = calloc(count + 1, sizeof(*offsets));
	int ret = offsets ? load_program(ATTACH_UPROBE_SESSION, on_return) : -ENOMEM;

	for (size_t i = 0; i < count && offsets; i++)
		offsets[i] = sites[i].file_offset;
	if (ret >= 0)
		ret = multi_link__create(ret, ATTACH_UPROBE_SESSION, library, offsets, NULL, count,
					 false);
	free(offsets);
	return ret;
}

static int attach(const char *library, const char *how, char **functions)
{
	struct probe_point *sites = NULL;
	size_t count = 0;
	int ret = find_sites(library, functions, &sites, &count);

	if (!ret && !strcmp(how, "events"))
		ret = attach_events(library, sites, count);
	else if (!ret)
		ret = attach_session(library, !strcmp(how, "both"), sites, count);
	free(sites);
	return ret;
}

int main(int argc, char **argv)
{
	char byte;
	int ret;

	if (argc < 4) {
		fprintf(stderr, "usage: empty LIBRARY entry|both|events FUNCTION...\n");
		return 2;
	}
	ret = attach(argv[1], argv[2], argv + 3);
	if (ret < 0) {
		fprintf(stderr, "empty: %s\n", strerror(-ret));
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
