// SPDX-License-Identifier: BSD-2-Clause
// Reads the facts about a process; see process_facts.h.
#include "check/process_facts.h"

#include <elf.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "target/text_file.h"
#include "privilege/capabilities.h"
#include "symbol/python_process.h"
#include "target/cuda_library.h"
#include "target/proc_maps.h"
#include "target/proc.h"
#include "target/root_file.h"

#define DRIVER_NAME "libcuda.so"
#define LIBRARIES_MAX 64 /* per process, since a process controls how many it maps */

struct reading {
	struct process_facts *facts;
	struct checked_libraries *libraries;
	uint64_t inode; /* of the last mapping that was inspected */
	dev_t device;
	uint64_t readable; /* an address in the vdso, where reading never blocks; 0: none */
};

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static struct process_library *add_library(struct process_facts *facts,
					   const struct mapping *mapping)
{
	struct process_library library = {
		.path = strdup(mapping->path),
		.driver = starts(strrchr(mapping->path, '/') + 1, DRIVER_NAME),
		.deleted = mapping->deleted,
	};

	if (!library.path || ARRAY_APPEND(facts->libraries, facts->library_count, library)) {
		free(library.path);
		return NULL;
	}
	return &facts->libraries[facts->library_count - 1];
}

static int look_into(struct reading *reading, const struct mapping *mapping,
		     struct process_library *library)
{
	const pid_t pid = reading->facts->pid;
	struct elf_file *elf = NULL;
	int fd = mapping__open(mapping, pid);

	library->opened = fd < 0 ? fd : elf_file__open_fd(fd, library->path, &elf, NULL);
	if (library->opened)
		return 0;
	return checked_libraries__add(reading->libraries, elf, library->path, pid,
				      &library->layers);
}

/* Decides by the file's name, or because the user named the file. */
static bool may_be_cuda(const struct reading *reading, const struct mapping *mapping)
{
	if (starts(strrchr(mapping->path, '/') + 1, "libcuda"))
		return true;
	for (size_t i = 0; i < reading->libraries->count; i++) {
		const struct stat *stat = elf_file__stat(reading->libraries->libraries[i].elf);

		if (!reading->libraries->libraries[i].inside && stat->st_ino == mapping->inode &&
		    stat->st_dev == mapping->device)
			return true;
	}
	return false;
}

static int look_at(const struct mapping *mapping, void *arg)
{
	struct reading *reading = arg;
	struct process_library *library;

	reading->facts->kernel_thread = false;
	if (!strcmp(mapping->path, "[vdso]"))
		reading->readable = mapping->start;
	if (!mapping__is_file(mapping))
		return 0;
	if (!mapping->executable ||
	    (mapping->inode == reading->inode && mapping->device == reading->device) ||
	    reading->facts->library_count == LIBRARIES_MAX || !may_be_cuda(reading, mapping))
		return 0;
	reading->inode = mapping->inode;
	reading->device = mapping->device;
	library = add_library(reading->facts, mapping);
	return library ? look_into(reading, mapping, library) : -ENOMEM;
}

/* --- the rest, of a process that uses CUDA --- */

static bool is_filtered(pid_t pid)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	text_file__read("", path, text, sizeof(text));
	return process_status__number(text, "Seccomp") == SECCOMP_MODE_FILTER;
}

/*
 * Compares uid_map: the namespace link itself is unreadable if gpuprobe may not inspect the
 * process.
 */
static bool is_elsewhere(pid_t pid)
{
	char path[64], own[1024], other[1024];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	return !text_file__read("", "/proc/self/uid_map", own, sizeof(own)) &&
	       !text_file__read("", path, other, sizeof(other)) && strcmp(own, other) != 0;
}

/* Looks for the runtime in the program itself, which may be a 32-bit one. */
static int look_at_program(struct process_facts *facts, struct checked_libraries *libraries)
{
	unsigned char ident[EI_NIDENT];
	struct elf_file *elf = NULL;
	unsigned int layers = 0;
	char link[64], path[256];
	ssize_t n;
	int fd, ret;

	proc__exe_path(facts->pid, link, sizeof(link));
	fd = root_file__open_link(facts->pid, link);
	if (fd < 0)
		return 0;
	if (pread(fd, ident, sizeof(ident), 0) == sizeof(ident) && !memcmp(ident, ELFMAG, SELFMAG))
		facts->bits = ident[EI_CLASS] == ELFCLASS32 ?
				      32 :
				      (ident[EI_CLASS] == ELFCLASS64 ? 64 : 0);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	if (elf_file__open_fd(fd, path, &elf, NULL))
		return 0;
	ret = checked_libraries__add(libraries, elf, path, facts->pid, &layers);
	facts->inside = layers & LAYER_BIT(LAYER_RUNTIME);
	return ret;
}

static void look_for_python(struct memory_reader *memory, struct process_facts *facts)
{
	struct python_process python;

	facts->python = python_process__find(memory, facts->pid, &python, &facts->python_error);
	if (!facts->python)
		facts->python_minor = python.offsets.minor;
	else if (facts->python == -ESRCH)
		facts->python = -ENOENT;
}

/* Reads one byte. The process is not stopped for that. */
static int try_memory(struct memory_reader *memory, pid_t pid, uint64_t address)
{
	char byte;

	return address ? memory_reader__read(memory, pid, address, &byte, 1) : 0;
}

bool process_facts__uses_cuda(const struct process_facts *facts)
{
	for (size_t i = 0; i < facts->library_count; i++)
		if (facts->libraries[i].opened || facts->libraries[i].layers)
			return true;
	return facts->inside;
}

static int read_all(struct memory_reader *memory, struct process_facts *facts,
		    struct checked_libraries *libraries, bool requested)
{
	struct reading reading = {.facts = facts, .libraries = libraries};
	struct cgroup_names names;
	int ret;

	facts->kernel_thread = true;
	ret = proc_maps__each(facts->pid, look_at, &reading);
	facts->kernel_thread &= !ret;
	facts->python = -ENOENT;
	if (ret == -ESRCH || ret == -ENOMEM)
		return ret;
	facts->mappings = ret;
	if (!requested && !process_facts__uses_cuda(facts))
		return 0;
	if (!cgroup__read(facts->pid, &names))
		memcpy(facts->container, names.container, sizeof(facts->container));
	facts->user_namespace = is_elsewhere(facts->pid);
	facts->filtered = is_filtered(facts->pid);
	if (ret)
		return 0;
	facts->memory = try_memory(memory, facts->pid, reading.readable);
	look_for_python(memory, facts);
	return look_at_program(facts, libraries);
}

int process_facts__read(struct memory_reader *memory, pid_t pid, bool requested,
			struct checked_libraries *libraries, struct process_facts *facts)
{
	struct process_info info;
	int ret = proc__info(pid, &info);

	*facts = (struct process_facts){.pid = pid, .effective = capabilities__effective()};
	if (ret)
		return ret == -ESRCH ? ret : 0;
	if (info.state == 'Z' || info.state == 'X')
		return -ESRCH;
	memcpy(facts->comm, info.comm, sizeof(facts->comm));
	return read_all(memory, facts, libraries, requested);
}

void process_facts__clear(struct process_facts *facts)
{
	for (size_t i = 0; i < facts->library_count; i++)
		free(facts->libraries[i].path);
	free(facts->libraries);
	facts->libraries = NULL;
	facts->library_count = 0;
}
