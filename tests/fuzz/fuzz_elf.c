// SPDX-License-Identifier: BSD-2-Clause
// An ELF file of any contents: its headers, tables and symbols, the CUDA functions it contains, the
// libraries it needs, its separate debug file, a script with its functions. The first byte chooses
// how it is read; the rest is the file.
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/subcommand.h"
#include "harness.h"
#include "symbol/debug_file.h"
#include "symbol/file_crc.h"
#include "symbol/host_stub.h"
#include "symbol/python_process.h"
#include "target/cuda_library.h"
#include "target/elf_file.h"
#include "target/runtime_major.h"

#define ADDRESSES 16

static int look_at(const struct elf_symbol *symbol, void *arg)
{
	size_t *count = arg;

	MUST(*symbol->name && strlen(symbol->name) < 16384);
	return ++*count == 10000;
}

static int any_row(const char *symbol, enum layer layer, void *arg)
{
	(void)layer;
	(void)arg;
	return symbol[0] ? 0 : -1;
}

static void read_cuda(struct elf_file *elf)
{
	bool *rows = calloc(MAX_FUNCTIONS, sizeof(*rows));
	struct wanted_functions wanted = {.rows = rows, .unknown = any_row};
	struct probe_point *sites = NULL;
	size_t count = 0, missing;
	unsigned int layers;

	MUST(rows);
	memset(rows, 1, MAX_FUNCTIONS);
	if (!cuda_library__sites(elf, &wanted, &sites, &count, &missing)) {
		for (size_t i = 1; i < count; i++)
			MUST(sites[i - 1].file_offset < sites[i].file_offset);
		free(sites);
	}
	cuda_library__layers(elf, &layers);
	runtime_major__of(elf);
	free(rows);
}

static void read_addresses(struct elf_file *elf, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < ADDRESSES; i++) {
		uint64_t vaddr = 0x411000 + i * 32, offset, back;
		char *name;

		if (i % 4 == 3 && size >= (i + 1) * 8)
			memcpy(&vaddr, data + size - (i + 1) * 8, sizeof(vaddr));
		if (elf_file__vaddr_to_offset(elf, vaddr, &offset))
			elf_file__offset_to_vaddr(elf, offset, &back);
		if (elf_file__symbol_at(elf, vaddr, &name, &offset))
			continue;
		MUST(offset <= vaddr);
		free(name);
	}
}

static void read_all(struct elf_file *elf, const uint8_t *data, size_t size)
{
	struct elf_symbol symbol;
	const uint8_t *id;
	size_t count = 0;
	uint64_t value;
	uint32_t crc;

	elf_file__soname_major(elf);
	elf_file__interpreter(elf);
	MUST(elf_file__build_id(elf, &id) <= 64);
	elf_file__debug_link(elf, &crc);
	elf_file__each_function(elf, ELF_TABLE_DYNAMIC, NULL, look_at, &count);
	elf_file__each_function(elf, ELF_TABLE_FULL, "cu", look_at, &count);
	elf_file__find_function(elf, "cuMemAlloc_v2", &symbol);
	elf_file__find_object(elf, "_PyRuntime", &value);
	elf_file__find_section(elf, ".PyRuntime", &value);
	debug_file__is_wanted(elf);
	elf_file__needs(elf, "libcuda.so");
	read_cuda(elf);
	read_addresses(elf, data, size);
}

/* Reads it as a process's program and as its libc. */
static void read_interpreter(const struct input *input)
{
	static const uint8_t memory[16384];
	struct python_process python;
	struct error err = {""};

	harness__set_maps("7f0000000000-7f0000008000 r-xp 00000000 08:01 5 /usr/bin/python3.12\n"
			  "7f0000010000-7f0000018000 r-xp 00000000 08:01 6 /lib/libc.so.6\n");
	harness__set_file("", input->at, input->left);
	harness__set_memory(0x7f0000000000, memory, sizeof(memory));
	python_process__find(NULL, 1, &python, &err);
	harness__set_memory(0, NULL, 0);
	harness__set_file(NULL, NULL, 0);
	harness__set_maps(NULL);
}

/* The kernel that one of its functions stands for. */
static void read_host_stubs(const struct input *input)
{
	struct host_stubs *stubs = host_stubs__new(2);
	char *name;

	MUST(stubs);
	harness__set_maps("7f0000000000-7f0000008000 r-xp 00000000 08:01 5 /usr/bin/program\n");
	harness__set_file("", input->at, input->left);
	for (uint64_t at = 0x7f00000005f0; at < 0x7f0000000610; at++) {
		if (!host_stub__name(stubs, 1, at, &name))
			MUST(name && *name);
		free(name);
	}
	host_stubs__free(stubs);
	harness__set_file(NULL, NULL, 0);
	harness__set_maps(NULL);
}

/* Root runs the script: every name in it must be nothing but a name. */
static void must_be_script(const char *script)
{
	static const char before[] = "probe:\"/dev/null\":";
	size_t length;

	for (const char *at = script; (at = strstr(at, before)); at += length) {
		at += strlen(before);
		for (length = 0; isalnum((unsigned char)at[length]) || at[length] == '_';)
			length++;
		MUST(length && strchr(",\n ", at[length]));
	}
}

static void print_script(const struct input *input)
{
	/* A path that exists. */
	char *argv[] = {"bpftrace-script",
			"--libcuda-path",
			"/dev/null",
			"--libcudart-path",
			"/dev/null",
			"-e",
			"all",
			NULL};
	FILE *out = stdout, *messages = stderr, *memory;
	struct error err = {""};
	size_t length;
	char *script;
	int status;

	memory = open_memstream(&script, &length);
	MUST(memory);
	harness__set_file("", input->at, input->left);
	optind = 0;
	stdout = memory;
	stderr = harness__sink();
	bpftrace_script_command__run(7, argv, &status, &err);
	stdout = out;
	stderr = messages;
	harness__set_file(NULL, NULL, 0);
	MUST(!fclose(memory));
	must_be_script(script);
	free(script);
}

static void find_debug_file(const struct elf_file *elf)
{
	struct file_crcs *crcs = file_crcs__new();
	struct linked_files linked;
	struct elf_file *debug;
	bool later = false;

	MUST(crcs);
	debug = debug_file__open(elf, 1, "/lib/input", &linked);
	if (!debug)
		debug = linked_files__take(&linked, crcs, &later);
	MUST(!linked.count || later);
	linked_files__clear(&linked);
	elf_file__free(debug);
	file_crcs__free(crcs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint64_t how = input__number(&input, 1);
	struct elf_file *elf;
	struct error err = {""};
	int ret, fd = harness__file(input.at, input.left);

	ret = how & 1 ? elf_file__open_debug_fd(fd, "input", &elf, &err) :
			elf_file__open_fd(fd, "input", &elf, &err);
	MUST(ret || elf);
	if (ret)
		return 0;
	read_all(elf, input.at, input.left);
	if (how & 2) {
		harness__set_file("", input.at, input.left);
		find_debug_file(elf);
		harness__set_file(NULL, NULL, 0);
	}
	elf_file__free(elf);
	if (how & 4)
		read_interpreter(&input);
	if (how & 8)
		print_script(&input);
	if (how & 16)
		read_host_stubs(&input);
	return 0;
}
