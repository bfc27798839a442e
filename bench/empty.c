// SPDX-License-Identifier: BSD-2-Clause
/*
 * The floor that gpuprobe's costs are compared with: a session probe that does
 * nothing on functions of a CUDA library. empty LIBRARY entry|both FUNCTION...
 * probes the entries alone or the returns as well, prints `ready`, and ends when
 * its standard input does.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/multi_link.h"
#include "target/cuda_library.h"

/* A session's program that returns 1 at entry is not run at the return. */
static int load_program(bool on_return)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = !on_return},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = ATTACH_UPROBE_SESSION);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "Dual BSD/GPL", insns, 2, &options);
}

static int find_sites(const char *library, char **functions, struct probe_site **sites, size_t *count)
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
		ret = cuda_library__sites(file, &(struct wanted_functions){.rows = wanted}, sites, count, &missing);
	elf_file__free(file);
	free(wanted);
	return ret;
}

static int attach(const char *library, bool on_return, char **functions)
{
	struct probe_site *sites = NULL;
	uint64_t *offsets = NULL;
	size_t count = 0;
	int ret = find_sites(library, functions, &sites, &count);

	if (ret)
		goto out;
	offsets = calloc(count + 1, sizeof(*offsets));
	ret = offsets ? load_program(on_return) : -ENOMEM;
	if (ret < 0)
		goto out;
	for (size_t i = 0; i < count; i++)
		offsets[i] = sites[i].file_offset;
	ret = multi_link__create(ret, ATTACH_UPROBE_SESSION, library, offsets, NULL, count, false);
out:
	free(offsets);
	free(sites);
	return ret;
}

int main(int argc, char **argv)
{
	char byte;
	int ret;

	if (argc < 4) {
		fprintf(stderr, "usage: empty LIBRARY entry|both FUNCTION...\n");
		return 2;
	}
	ret = attach(argv[1], !strcmp(argv[2], "both"), argv + 3);
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
