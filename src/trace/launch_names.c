// SPDX-License-Identifier: BSD-2-Clause
// Names of launched kernels; see launch_names.h.
#include "trace/launch_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/table.h"
#include "symbol/host_stub.h"
#include "symbol/kernel_name.h"
#include "symbol/remote_name.h"
#include "trace/launch_labels.h"
#include "trace/threads.h"

#define QUICK 1024 /* slots of the cache of recently used names */
#define FILES_OPEN 16
#define RETRY_NS NS_PER_S /* after the first failure; doubles each time */
#define RETRY_SHIFT_MAX 6

struct name_key {
	uint64_t handle;
	uint32_t process;
	uint32_t generation;
};

struct launch_name {
	struct name_key key;
	size_t references;     /* from events, the table and the search list */
	char *mangled, *shown; /* NULL while unknown */
	char *label;	       /* NULL also with full names */
	size_t bytes;
	uint64_t address;  /* of the host function, or 0 */
	uint64_t start_ns; /* of the process */
	uint64_t retry_ns;
	uint64_t image; /* its program */
	pid_t pid;
	uint8_t failures;
	bool reported; /* sent by BPF, not looked up */
	bool sought;   /* in the search list */
	bool gone;     /* removed from the table */
	struct launch_name *next_sought;
	struct launch_name *prev, *next; /* of the same process */
	UT_hash_handle hh;
};

/* The names of a process, oldest first. */
struct process_names {
	uint32_t number;
	struct launch_name *first;
	struct launch_labels labels;
	uint64_t names_ns; /* CPU time spent on readable forms */
	UT_hash_handle hh; /* in the order of their first names */
};

struct launch_names {
	bool full;
	struct launch_name *all;
	struct process_names *processes;
	struct launch_name *sought;
	struct host_stubs *stubs;
	struct memory_reader *memory;
	size_t bytes;
	size_t label_bytes; /* of the processes' labels */
	struct launch_name *quick[QUICK];
};

struct launch_names *launch_names__new(bool full, struct memory_reader *memory)
{
	struct launch_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->full = full;
	names->memory = memory;
	names->stubs = host_stubs__new(FILES_OPEN);
	if (!names->stubs) {
		free(names);
		return NULL;
	}
	return names;
}

static size_t quick_slot(const struct name_key *key)
{
	uint64_t mixed =
		(key->handle ^ (uint64_t)key->process << 40 ^ (uint64_t)key->generation << 20) *
		0x9e3779b97f4a7c15u;

	return (size_t)(mixed >> 54);
}

static void put(struct launch_name *name)
{
	if (--name->references)
		return;
	free(name->mangled);
	free(name->shown);
	free(name->label);
	free(name);
}

/*
 * A process never stays without names, because room is made by dropping the oldest process's first
 * name.
 */
static void drop_empty(struct launch_names *names, struct process_names *process)
{
	if (process->first)
		return;
	HASH_DEL(names->processes, process);
	launch_labels__clear(&process->labels, &names->label_bytes);
	free(process);
}

/* Removes it from the table; pending events keep it. */
static void drop(struct launch_names *names, struct launch_name *name)
{
	struct launch_name **quick = &names->quick[quick_slot(&name->key)];
	struct process_names *process = TABLE_FIND(names->processes, number, &name->key.process);

	if (*quick == name)
		*quick = NULL;
	DL_DELETE(process->first, name);
	drop_empty(names, process);
	HASH_DEL(names->all, name);
	names->bytes -= name->bytes;
	name->gone = true;
	put(name);
}

void launch_names__free(struct launch_names *names)
{
	struct launch_name *name, *next;

	if (!names)
		return;
	for (name = names->sought; name; name = next) {
		next = name->next_sought;
		put(name);
	}
	HASH_ITER (hh, names->all, name, next) {
		drop(names, name);
	}
	host_stubs__free(names->stubs);
	free(names);
}

static void limit(struct launch_names *names, const struct launch_name *keep)
{
	while (HASH_COUNT(names->all) > LAUNCH_NAMES_MAX || names->bytes > LAUNCH_NAMES_BYTES_MAX) {
		struct launch_name *oldest = names->processes->first;

		if (oldest == keep)
			return;
		/* A dropped name is no longer its process's first one. */
		drop(names, oldest); /* NOLINT(clang-analyzer-unix.Malloc) */
	}
}

static struct launch_name *add(struct launch_names *names, const struct name_key *key)
{
	struct launch_name *name = calloc(1, sizeof(*name));
	struct process_names *process =
		name ? TABLE_TAKE(names->processes, number, &key->process) : NULL;

	if (!process) {
		free(name);
		return NULL;
	}
	name->key = *key;
	name->references = 1;
	if (TABLE_ADD(names->all, key, name)) {
		drop_empty(names, process);
		free(name);
		return NULL;
	}
	DL_APPEND(process->first, name);
	limit(names, name);
	return name;
}

static struct launch_name *find(struct launch_names *names, const struct name_key *key)
{
	struct launch_name **quick = &names->quick[quick_slot(key)], *name = *quick;

	if (name && !memcmp(&name->key, key, sizeof(*key)))
		return name;
	name = TABLE_FIND(names->all, key, key);
	if (name)
		*quick = name;
	return name;
}

/* The texts of a name; `label` is NULL with full names. */
struct texts {
	char *mangled, *shown, *label;
};

static void free_texts(struct texts *texts)
{
	free(texts->mangled);
	free(texts->shown);
	free(texts->label);
}

static int make_label(struct launch_names *names, struct process_names *process,
		      const char *readable, struct texts *texts)
{
	char label[KERNEL_LABEL_SIZE];
	int ret = 0;

	if (process)
		ret = launch_labels__write(&process->labels, &names->label_bytes, texts->mangled,
					   readable, label);
	else /* dropped: nothing shows it beside others */
		kernel_label__write(readable, label);
	texts->label = ret ? NULL : strdup(label);
	return texts->label ? 0 : -ENOMEM;
}

/* Makes the texts; the caller frees them, also after an error. Returns 0 or -ENOMEM. */
static int make_texts(struct launch_names *names, const struct launch_name *name,
		      const char *mangled, struct texts *texts)
{
	struct process_names *process = TABLE_FIND(names->processes, number, &name->key.process);
	uint64_t alone = 0;
	char *readable =
		kernel_name__demangle_whole(process ? &process->names_ns : &alone, mangled);
	int ret = -ENOMEM;

	texts->mangled = strdup(mangled);
	if (!readable || !texts->mangled)
		goto out;
	if (names->full) {
		texts->shown = kernel_name__keep(readable);
		return texts->shown ? 0 : -ENOMEM;
	}
	texts->shown = kernel_name__short(readable);
	if (texts->shown)
		ret = make_label(names, process, readable, texts);
out:
	free(readable);
	return ret;
}

static int set(struct launch_names *names, struct launch_name *name, const char *mangled)
{
	struct texts texts = {0};
	int ret = make_texts(names, name, mangled, &texts);

	if (ret) {
		free_texts(&texts);
		return ret;
	}
	free(name->mangled);
	free(name->shown);
	free(name->label);
	name->mangled = texts.mangled;
	name->shown = texts.shown;
	name->label = texts.label;
	if (name->gone)
		return 0;
	names->bytes -= name->bytes;
	name->bytes = strlen(texts.mangled) + strlen(texts.shown) +
		      (texts.label ? strlen(texts.label) : 0);
	names->bytes += name->bytes;
	limit(names, name);
	return 0;
}

int launch_names__add(struct launch_names *names, const struct record_name *record, size_t size)
{
	struct launch_name *name;
	struct name_key key;
	int ret;

	if (size < sizeof(*record) || record->length >= size - sizeof(*record) ||
	    !kernel_name__valid(record->name, record->length + 1ul))
		return -EINVAL;
	key = (struct name_key){
		.handle = record->handle,
		.process = record->header.slot,
		.generation = record->generation,
	};
	name = find(names, &key);
	if (name && name->reported)
		return 0;
	if (!name)
		name = add(names, &key);
	if (!name)
		return -ENOMEM;
	ret = set(names, name, record->name);
	if (!ret)
		name->reported = true;
	return ret;
}

static void seek(struct launch_names *names, struct launch_name *name,
		 const struct launched_kernel *kernel)
{
	name->pid = kernel->process->pid;
	name->start_ns = kernel->process->start_ns;
	name->image = kernel->process->image;
	name->address = kernel->address;
	name->sought = true;
	name->references++;
	name->next_sought = names->sought;
	names->sought = name;
}

struct launch_name *launch_names__take(struct launch_names *names,
				       const struct launched_kernel *kernel, uint64_t now)
{
	const struct name_key key = {
		.handle = kernel->handle,
		.process = kernel->process->number,
		.generation = kernel->generation,
	};
	struct launch_name *name = find(names, &key);

	if (!name)
		name = add(names, &key);
	if (!name)
		return NULL;
	if (!name->mangled && !name->sought && now >= name->retry_ns)
		seek(names, name, kernel);
	name->references++;
	return name;
}

void launch_names__put(struct launch_names *names, struct launch_name *name)
{
	(void)names;
	if (name)
		put(name);
}

/* The symbol is exact; the layout behind a handle is an undocumented detail of drivers. */
static int look_for(struct launch_names *names, struct launch_name *name)
{
	const struct trace_process process = {
		.pid = name->pid, .start_ns = name->start_ns, .image = name->image};
	char read[REMOTE_NAME_SIZE], *found = NULL;
	int ret = -ENOENT, code;

	if (!traced_process__is_there(&process))
		return -ESRCH;
	if (name->address)
		ret = host_stub__name(names->stubs, name->pid, name->address, &found);
	code = ret ? remote_name__read(names->memory, name->pid, name->key.handle, read) : 0;
	if (traced_process__is_another(&process))
		ret = -ESRCH;
	else if (!code)
		ret = set(names, name, found ? found : read);
	free(found);
	return ret;
}

void launch_names__look_up(struct launch_names *names, uint64_t now)
{
	while (names->sought) {
		struct launch_name *name = names->sought;
		int ret = name->mangled ? 0 : look_for(names, name);

		names->sought = name->next_sought;
		name->sought = false;
		if (ret == -ESRCH)
			name->retry_ns = UINT64_MAX;
		else if (ret)
			name->retry_ns = now + (RETRY_NS << name->failures);
		if (ret && name->failures < RETRY_SHIFT_MAX)
			name->failures++;
		put(name);
	}
	host_stubs__forget(names->stubs, now);
}

const char *launch_name__shown(const struct launch_name *name)
{
	return name->shown;
}

const char *launch_name__label(const struct launch_name *name)
{
	return name->label;
}

const char *launch_name__mangled(const struct launch_name *name)
{
	return name->mangled;
}
