// SPDX-License-Identifier: BSD-2-Clause
// Finds hooked functions; see hooks.h.
#include "probe/hooks.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "api/api.h"
#include "target/memory_reader.h"
#include "target/page_origin.h"

#define MAPPINGS_MAX 16384
#define COMPARED 8 /* bytes: enough for a jump, and only the first instruction matters */
#define JUMP_MAX 16
#define BREAKPOINT 0xcc
#define PAGE 4096
#define TOLD_MAX 16 /* processes that a warning names; any user may have thousands */

struct noted {
	pid_t pid;
	struct mapping mapping;	       /* owns its path */
	struct file_identity identity; /* .inode 0: unknown */
};

struct hooks {
	struct identity_reader *identities;
	enum hooks_reach reach;
	const struct log *log;
	struct memory_reader *memory; /* NULL until something is read */
	struct noted *noted;
	size_t count;
	bool full_reported;
	unsigned int reported;
};

struct hooks *hooks__new(struct identity_reader *identities, enum hooks_reach reach,
			 const struct log *log)
{
	struct hooks *hooks = calloc(1, sizeof(*hooks));

	if (!hooks)
		return NULL;
	hooks->identities = identities;
	hooks->reach = reach;
	hooks->log = log;
	return hooks;
}

void hooks__forget(struct hooks *hooks)
{
	for (size_t i = 0; i < hooks->count; i++)
		free((char *)hooks->noted[i].mapping.path);
	free(hooks->noted);
	hooks->noted = NULL;
	hooks->count = 0;
	memory_reader__free(hooks->memory);
	hooks->memory = NULL;
}

void hooks__free(struct hooks *hooks)
{
	if (!hooks)
		return;
	hooks__forget(hooks);
	free(hooks);
}

/* --- who maps it --- */

void hooks__note(struct hooks *hooks, pid_t pid, const struct mapping *mapping,
		 const struct file_identity *identity)
{
	struct noted noted = {.pid = pid, .mapping = *mapping, .identity = *identity};

	noted.mapping.path = hooks->count < MAPPINGS_MAX ? strdup(mapping->path) : NULL;
	if (noted.mapping.path && !ARRAY_APPEND(hooks->noted, hooks->count, noted))
		return;
	free((char *)noted.mapping.path);
	if (!hooks->full_reported) {
		hooks->full_reported = true;
		log__warn(
			hooks->log,
			"too many processes map CUDA's libraries: gpuprobe does not check whether "
			"process %d and others have hooked their functions",
			pid);
	}
}

struct noting {
	struct hooks *hooks;
	pid_t pid;
	bool has_cuda;
};

static int note_mapping(const struct mapping *mapping, void *arg)
{
	struct noting *noting = arg;
	bool is_of_cuda = mapping__is_named_like_cuda(mapping->path);

	if (!mapping->executable || !mapping__is_file(mapping))
		return 0;
	noting->has_cuda |= is_of_cuda;
	if (is_of_cuda || noting->hooks->reach == HOOKS_OF_ALL)
		hooks__note(noting->hooks, noting->pid, mapping,
			    &(struct file_identity){.inode = 0});
	return 0;
}

/*
 * Finds the inodes that the kernel would probe. They stay unknown if memory runs out or the process
 * is gone.
 */
static void identify(struct hooks *hooks, pid_t pid, size_t from)
{
	size_t count = hooks->count - from;
	struct mapped_file *files = count ? calloc(count, sizeof(*files)) : NULL;

	for (size_t i = 0; files && i < count; i++)
		files[i].start = hooks->noted[from + i].mapping.start;
	if (files && !identity_reader__of_process(hooks->identities, pid, files, count))
		for (size_t i = 0; i < count; i++)
			hooks->noted[from + i].identity = files[i].identity;
	free(files);
}

bool hooks__note_process(struct hooks *hooks, pid_t pid)
{
	struct noting noting = {.hooks = hooks, .pid = pid};
	size_t before = hooks->count;

	/* An unreadable process is reported when its probes are attached. */
	proc_maps__each(pid, note_mapping, &noting);
	identify(hooks, pid, before);
	return noting.has_cuda;
}

static bool is_of_file(const struct noted *noted, const struct file_identity *identity)
{
	return noted->identity.inode && file_identity__equal(&noted->identity, identity);
}

bool hooks__map(struct hooks *hooks, const struct file_identity *identity)
{
	for (size_t i = 0; i < hooks->count; i++)
		if (is_of_file(&hooks->noted[i], identity))
			return true;
	return false;
}

/* --- what is there --- */

bool hooks__differ(const unsigned char *code, const unsigned char *of_file, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (code[i] != of_file[i] && code[i] != BREAKPOINT)
			return true;
	return false;
}

/* The code of a file at its sites. */
struct file_code {
	const struct elf_file *file;
	const struct probe_point *sites;
	size_t count;
	unsigned char (*code)[COMPARED]; /* of each site */
	bool *is_known;
};

/* The memory of a process. */
struct process_code {
	struct page_origin origin;
	/* A page of it, cached because sites are close together. */
	uint64_t page; /* 0: none was read */
	int error;     /* of reading it */
	unsigned char bytes[PAGE];
};

static int read_memory(struct hooks *hooks, pid_t pid, uint64_t address, void *buffer, size_t size)
{
	if (!hooks->memory)
		hooks->memory = memory_reader__new(hooks->log);
	return hooks->memory ? memory_reader__read(hooks->memory, pid, address, buffer, size) :
			       -ENOMEM;
}

/* Reads code that is within one page. */
static int read_code(struct hooks *hooks, pid_t pid, struct process_code *process, uint64_t address,
		     unsigned char *code)
{
	uint64_t start = address & ~(uint64_t)(PAGE - 1);

	if (address - start > PAGE - COMPARED)
		return read_memory(hooks, pid, address, code, COMPARED);
	if (process->page != start) {
		process->page = start;
		process->error = read_memory(hooks, pid, start, process->bytes, PAGE);
	}
	if (!process->error)
		memcpy(code, process->bytes + (address - start), COMPARED);
	return process->error;
}

/* Whether the process has the file's own pages there, which spares reading its memory. */
static bool is_unchanged(struct process_code *process, uint64_t address)
{
	return page_origin__is_file(&process->origin, address) &&
	       page_origin__is_file(&process->origin, address + COMPARED - 1);
}

/* The address of the site's code in the process; 0 if it is not in this mapping. */
static uint64_t address_of(const struct mapping *mapping, const struct probe_point *site)
{
	uint64_t size = mapping->end - mapping->start;

	if (site->file_offset < mapping->file_offset ||
	    site->file_offset - mapping->file_offset > size - COMPARED)
		return 0;
	return mapping->start + (site->file_offset - mapping->file_offset);
}

/* The target of a jump at `address`; 0 if unknown. */
static uint64_t jump_target(struct hooks *hooks, pid_t pid, uint64_t address)
{
	unsigned char code[JUMP_MAX];
	uint64_t target = 0;
	int32_t distance;

	if (read_memory(hooks, pid, address, code, sizeof(code)))
		return 0;
	if (code[0] == 0xe9) { /* jmp rel32 */
		memcpy(&distance, code + 1, sizeof(distance));
		return address + 5 + (uint64_t)(int64_t)distance;
	}
	if (code[0] == 0xff && code[1] == 0x25) { /* jmp *rel32(%rip) */
		memcpy(&distance, code + 2, sizeof(distance));
		return read_memory(hooks, pid, address + 6 + (uint64_t)(int64_t)distance, &target,
				   sizeof(target)) ?
			       0 :
			       target;
	}
	/* movabs imm64, %reg; jmp *%reg */
	if ((code[0] == 0x48 || code[0] == 0x49) && code[1] >= 0xb8 && code[1] <= 0xbf)
		memcpy(&target, code + 2, sizeof(target));
	return target;
}

struct search {
	uint64_t address;
	char path[PATH_MAX];
};

static int find_path(const struct mapping *mapping, void *arg)
{
	struct search *search = arg;

	if (search->address < mapping->start || search->address >= mapping->end)
		return 0;
	snprintf(search->path, sizeof(search->path), "%s",
		 *mapping->path ? mapping->path : "code in anonymous memory");
	return 1;
}

/* Names the file that the hook's jump leads to. */
static void name_hooker(struct hooks *hooks, pid_t pid, uint64_t address, struct search *search)
{
	snprintf(search->path, sizeof(search->path), "unknown code");
	search->address = jump_target(hooks, pid, address);
	if (search->address)
		proc_maps__each(pid, find_path, search);
}

/* The real user of the process; -1 if unknown. */
static int64_t user_of(pid_t pid)
{
	char path[32], line[256];
	int64_t user = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && user < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "Uid: %" SCNd64, &user) != 1)
			user = -1;
	if (file)
		fclose(file);
	return user;
}

/* Whether this process's hooks keep probes out of the file. */
static bool has_say(const struct hooks *hooks, pid_t pid, const struct elf_file *file)
{
	int64_t user = hooks->reach == HOOKS_OF_ALL ? 0 : user_of(pid);

	return !user || user == (int64_t)elf_file__stat(file)->st_uid;
}

/* --- what becomes of it --- */

struct process_hooks {
	size_t count;
	const struct probe_point *first;
	uint64_t address; /* of the first one */
};

static const char *name_of(const struct probe_point *site)
{
	return site->row < api_function_count ? api_functions[site->row].symbol :
						"a name unknown to gpuprobe";
}

static void report(struct hooks *hooks, const struct noted *noted, const struct elf_file *file,
		   const struct process_hooks *found, bool has_say)
{
	struct search hooker;

	if (hooks->reported++ >= TOLD_MAX)
		return;
	name_hooker(hooks, noted->pid, found->address, &hooker);
	if (has_say)
		log__warn(hooks->log,
			  "process %d has hooked %zu %s of %s (%s%s), by %s: these get no probes, "
			  "and "
			  "their calls are not seen",
			  noted->pid, found->count, found->count == 1 ? "function" : "functions",
			  elf_file__name(file), name_of(found->first),
			  found->count == 1 ? "" : ", …", hooker.path);
	else
		log__warn(hooks->log,
			  "process %d has hooked %zu %s of %s (%s%s), by %s: probes there, which "
			  "all processes get, "
			  "may kill it; use -p to watch other processes only",
			  noted->pid, found->count, found->count == 1 ? "function" : "functions",
			  elf_file__name(file), name_of(found->first),
			  found->count == 1 ? "" : ", …", hooker.path);
}

/*
 * Compares the code at a site. Returns 1 if the process has hooked it, 0 if not, -EFAULT if it is
 * not there, or another negative errno.
 */
static int is_hooked(struct hooks *hooks, const struct noted *noted, struct process_code *process,
		     const struct file_code *file, size_t site, uint64_t address)
{
	unsigned char code[COMPARED];
	int ret;

	if (!file->is_known[site] || is_unchanged(process, address))
		return 0;
	ret = read_code(hooks, noted->pid, process, address, code);
	return ret ? ret : hooks__differ(code, file->code[site], COMPARED);
}

/* Marks in `hooked` the functions that the process has hooked, if its hooks count. */
static void look_at(struct hooks *hooks, const struct noted *noted, const struct file_code *file,
		    bool *hooked)
{
	struct process_hooks found = {0};
	struct process_code process = {.page = 0};
	bool says = false;

	page_origin__open(&process.origin, noted->pid);
	for (size_t i = 0; i < file->count; i++) {
		uint64_t address = address_of(&noted->mapping, &file->sites[i]);
		int ret = address ? is_hooked(hooks, noted, &process, file, i, address) : 0;

		if (ret < 0 && ret != -EFAULT)
			break; /* gone or unreadable: reported elsewhere */
		if (ret <= 0)
			continue;
		if (!found.count++) {
			found.first = &file->sites[i];
			found.address = address;
			says = has_say(hooks, noted->pid, file->file);
		}
		hooked[i] |= says;
	}
	page_origin__close(&process.origin);
	if (found.count)
		report(hooks, noted, file->file, &found, says);
}

/* Looks at all processes that map the file. */
static void look_at_all(struct hooks *hooks, const struct file_identity *identity,
			const struct file_code *file, bool *hooked)
{
	for (size_t i = 0; i < file->count; i++)
		file->is_known[i] = elf_file__read(file->file, file->sites[i].file_offset,
						   file->code[i], COMPARED) == COMPARED;
	for (size_t i = 0; i < hooks->count; i++)
		if (is_of_file(&hooks->noted[i], identity))
			look_at(hooks, &hooks->noted[i], file, hooked);
}

size_t hooks__leave_out(struct hooks *hooks, const struct elf_file *file,
			const struct file_identity *identity, struct probe_point *sites,
			size_t count)
{
	struct file_code code = {.file = file, .sites = sites, .count = count};
	bool *hooked = calloc(2 * count + 1, sizeof(*hooked));
	size_t kept = 0;

	code.is_known = hooked ? hooked + count : NULL;
	code.code = calloc(count + 1, sizeof(*code.code));
	if (hooked && code.code && hooks__map(hooks, identity))
		look_at_all(hooks, identity, &code, hooked);
	for (size_t i = 0; i < count; i++)
		if (!hooked || !hooked[i])
			sites[kept++] = sites[i];
	free(code.code);
	free(hooked);
	return kept;
}
