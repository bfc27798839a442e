// SPDX-License-Identifier: BSD-2-Clause
// Converts addresses to texts; see address_text.h.
#include "trace/address_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/table.h"
#include "symbol/native_frames.h"
#include "target/proc.h"
#include "trace/threads.h"

#define PROCESSES_MAX 256	   /* processes whose mappings are kept; the oldest is dropped */
#define TEXTS_MAX 65536		   /* per process; at the limit all are dropped and made again */
#define TEXT_BYTES_MAX (16u << 20) /* per process, the same */
#define REREAD_NS NS_PER_S	   /* minimum pause before reading again for an address */

struct address_entry {
	uint64_t address;
	UT_hash_handle hh;
	char text[];
};

/* A program that a process runs. */
struct program {
	uint64_t image; /* of struct trace_process; 0: not known yet */
	struct native_process *native;
	struct address_entry *texts;
	size_t bytes;
};

struct process_addresses {
	pid_t pid;
	bool changed;
	uint64_t start_ns; /* of the process */
	uint64_t read_ns;
	struct program now, before; /* the previous program, for pending events */
	UT_hash_handle hh;	    /* by pid */
};

struct address_text {
	struct process_addresses *processes; /* in the order in which they were first seen */
	struct native_frames *frames;
};

struct address_text *address_text__new(void)
{
	struct address_text *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->frames = native_frames__new(false, NULL);
	if (cache->frames)
		return cache;
	free(cache);
	return NULL;
}

static void clear_texts(struct program *program)
{
	TABLE_CLEAR(program->texts, free);
	program->bytes = 0;
}

static void clear(struct program *program)
{
	clear_texts(program);
	native_process__free(program->native);
	*program = (struct program){.image = 0};
}

static void drop(struct address_text *cache, struct process_addresses *process)
{
	HASH_DEL(cache->processes, process);
	clear(&process->now);
	clear(&process->before);
	free(process);
}

void address_text__free(struct address_text *cache)
{
	struct process_addresses *process, *next;

	if (!cache)
		return;
	HASH_ITER (hh, cache->processes, process, next) {
		drop(cache, process);
	}
	native_frames__free(cache->frames);
	free(cache);
}

/*
 * Keeps the previous data if the process has ended, or has executed another program by the time of
 * the reading.
 */
static void read_mappings(struct address_text *cache, struct process_addresses *process,
			  const struct trace_process *shown, uint64_t now)
{
	struct program *program = &process->now;
	struct native_process *native;

	process->read_ns = now;
	process->changed = false;
	if (!traced_process__is_there(shown))
		return;
	native = native_process__new(shown->pid);
	if (!native)
		return;
	native_frames__read(cache->frames, native);
	if (traced_process__is_another(shown)) {
		native_process__free(native);
		return;
	}
	clear_texts(program);
	native_process__free(program->native);
	program->native = native;
}

static struct process_addresses *find_process(struct address_text *cache,
					      const struct trace_process *shown)
{
	struct process_addresses *process = TABLE_FIND(cache->processes, pid, &shown->pid);

	return process && traced_process__began(shown, process->start_ns) ? process : NULL;
}

/* The program that made the events of `shown`; NULL if it is no longer known. */
static struct program *find_program(struct process_addresses *process,
				    const struct trace_process *shown)
{
	if (!shown->image || process->now.image == shown->image)
		return &process->now;
	return process->before.image == shown->image ? &process->before : NULL;
}

/* Call when the process runs a program that was not seen before. */
static void become(struct process_addresses *process, uint64_t image)
{
	if (process->now.image) {
		clear(&process->before);
		process->before = process->now;
		process->now = (struct program){.image = 0};
	}
	process->now.image = image;
	process->changed = true;
}

static struct process_addresses *add_process(struct address_text *cache,
					     const struct trace_process *shown)
{
	struct process_addresses *process, *before = TABLE_FIND(cache->processes, pid, &shown->pid);

	if (before)
		drop(cache, before); /* the pid belonged to another process */
	else if (HASH_COUNT(cache->processes) >= PROCESSES_MAX)
		drop(cache, cache->processes);
	process = TABLE_ADD_NEW(cache->processes, pid, &shown->pid);
	if (!process)
		return NULL;
	process->start_ns = shown->start_ns;
	process->changed = true;
	return process;
}

void address_text__see(struct address_text *cache, const struct trace_process *shown, uint64_t now)
{
	struct process_addresses *process = find_process(cache, shown);
	struct program *program;

	if (!process)
		process = add_process(cache, shown);
	if (!process)
		return;
	program = find_program(process, shown);
	if (!program && traced_process__is_there(shown)) {
		become(process, shown->image);
		program = &process->now;
	}
	if (program && (HASH_COUNT(program->texts) > TEXTS_MAX || program->bytes > TEXT_BYTES_MAX))
		clear_texts(program);
	if (process->changed && program == &process->now)
		read_mappings(cache, process, shown, now);
}

void address_text__changed(struct address_text *cache, pid_t pid, uint64_t now)
{
	struct trace_process shown = {.pid = pid};
	struct process_addresses *process;
	struct process_info info;

	if (proc__info(pid, &info))
		return;
	shown.start_ns = info.start_ns;
	shown.image = info.image;
	process = find_process(cache, &shown);
	if (!process)
		process = add_process(cache, &shown);
	if (!process)
		return;
	if (process->now.image != info.image)
		become(process, info.image);
	read_mappings(cache, process, &shown, now);
	process->changed = true;
}

static const char *add_text(struct program *program, uint64_t address,
			    const struct native_frame *frame)
{
	unsigned long long offset = frame->offset;
	int length = snprintf(NULL, 0, "%s+0x%llx", frame->object, offset);
	struct address_entry *entry = malloc(sizeof(*entry) + (size_t)length + 1);

	if (!entry)
		return NULL;
	entry->address = address;
	snprintf(entry->text, (size_t)length + 1, "%s+0x%llx", frame->object, offset);
	if (TABLE_ADD(program->texts, address, entry)) {
		free(entry);
		return NULL;
	}
	program->bytes += (size_t)length + 1;
	return entry->text;
}

const char *address_text__find(struct address_text *cache, const struct trace_process *shown,
			       uint64_t address, uint64_t now)
{
	struct process_addresses *process = find_process(cache, shown);
	struct program *program = process ? find_program(process, shown) : NULL;
	struct native_frame frame;
	struct address_entry *entry;

	if (!program || !program->native)
		return NULL;
	entry = TABLE_FIND(program->texts, address, &address);
	if (entry)
		return entry->text;
	if (!native_process__locate(program->native, address, &frame))
		return add_text(program, address, &frame);
	if (program == &process->now && now >= process->read_ns + REREAD_NS)
		process->changed = true; /* at its next event: texts in use must stay valid */
	return NULL;
}
