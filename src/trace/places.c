// SPDX-License-Identifier: BSD-2-Clause
// Where addresses lie, see places.h.
#include "trace/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "target/proc_maps.h"
#include "target/process.h"
#include "trace/threads.h"

#define PROCESSES_MAX 256 /* whose mappings are kept; the oldest leaves */
#define TEXTS_MAX 65536	  /* of a process; all are made anew then */
#define REREAD_NS NS_PER_S /* at the earliest, for an address that lies in none of the mappings */

struct object {
	uint64_t start, end; /* of a mapping */
	uint64_t begin;	     /* of the whole */
	char *name;
};

struct place {
	uint64_t address;
	UT_hash_handle hh;
	char text[];
};

struct process_places {
	pid_t pid;
	bool changed;
	uint64_t start_ns; /* of the process */
	uint64_t read_ns;
	struct object *objects; /* by address */
	size_t count, capacity;
	struct place *texts;
	UT_hash_handle hh; /* by pid */
};

struct trace_places {
	struct process_places *processes; /* in order of first sight */
};

struct trace_places *trace_places__new(void)
{
	return calloc(1, sizeof(struct trace_places));
}

static void clear_texts(struct process_places *process)
{
	struct place *place, *next;

	HASH_ITER(hh, process->texts, place, next) {
		HASH_DEL(process->texts, place);
		free(place);
	}
}

static void clear(struct process_places *process)
{
	clear_texts(process);
	for (size_t i = 0; i < process->count; i++)
		free(process->objects[i].name);
	process->count = 0;
}

static void drop(struct trace_places *places, struct process_places *process)
{
	HASH_DEL(places->processes, process);
	clear(process);
	free(process->objects);
	free(process);
}

void trace_places__free(struct trace_places *places)
{
	struct process_places *process, *next;

	if (!places)
		return;
	HASH_ITER(hh, places->processes, process, next) {
		drop(places, process);
	}
	free(places);
}

struct reading {
	struct process_places *process;
	uint64_t inode, begin; /* of the file that the last mapping was of */
	dev_t device;
};

static int keep_mapping(const struct mapping *mapping, void *arg)
{
	struct reading *reading = arg;
	struct process_places *process = reading->process;
	const char *slash = strrchr(mapping->path, '/');
	struct object *grown;

	if (!mapping__is_file(mapping))
		return 0;
	if (mapping->file_offset == 0 || mapping->inode != reading->inode || mapping->device != reading->device)
		reading->begin = mapping->start - mapping->file_offset;
	reading->inode = mapping->inode;
	reading->device = mapping->device;
	if (!mapping->executable)
		return 0;
	if (process->count == process->capacity) {
		process->capacity = process->capacity ? process->capacity * 2 : 64;
		grown = realloc(process->objects, process->capacity * sizeof(*grown));
		if (!grown) {
			process->capacity = process->count;
			return 1;
		}
		process->objects = grown;
	}
	process->objects[process->count] = (struct object){
		.start = mapping->start, .end = mapping->end, .begin = reading->begin, .name = strdup(slash + 1),
	};
	if (!process->objects[process->count].name)
		return 1;
	process->count++;
	return 0;
}

/* What was known stays where the process has gone. */
static void read_mappings(struct process_places *process, const struct trace_process *shown, uint64_t now)
{
	struct reading reading = {.process = process};

	process->read_ns = now;
	process->changed = false;
	if (!traced_process__is_there(shown))
		return;
	clear(process);
	proc_maps__each(shown->pid, keep_mapping, &reading);
}

static struct process_places *find_process(struct trace_places *places, const struct trace_process *shown)
{
	struct process_places *process;

	HASH_FIND(hh, places->processes, &shown->pid, sizeof(shown->pid), process);
	return process && traced_process__began(shown, process->start_ns) ? process : NULL;
}

static struct process_places *add_process(struct trace_places *places, const struct trace_process *shown)
{
	struct process_places *process, *before;

	HASH_FIND(hh, places->processes, &shown->pid, sizeof(shown->pid), before);
	if (before)
		drop(places, before); /* the pid was another's */
	else if (HASH_COUNT(places->processes) >= PROCESSES_MAX)
		drop(places, places->processes);
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = shown->pid;
	process->start_ns = shown->start_ns;
	HASH_ADD(hh, places->processes, pid, sizeof(process->pid), process);
	return process;
}

void trace_places__see(struct trace_places *places, const struct trace_process *shown, uint64_t now)
{
	struct process_places *process = find_process(places, shown);

	if (process && HASH_COUNT(process->texts) > TEXTS_MAX)
		clear_texts(process);
	if (process && !process->changed)
		return;
	if (!process)
		process = add_process(places, shown);
	if (process)
		read_mappings(process, shown, now);
}

void trace_places__changed(struct trace_places *places, pid_t pid, uint64_t now)
{
	struct trace_process shown = {.pid = pid};
	struct process_places *process;
	struct process_info info;

	if (process__info(pid, &info))
		return;
	shown.start_ns = info.start_ns;
	process = find_process(places, &shown);
	if (!process)
		process = add_process(places, &shown);
	if (!process)
		return;
	read_mappings(process, &shown, now);
	process->changed = true;
}

static const struct object *find_object(const struct process_places *process, uint64_t address)
{
	size_t low = 0, high = process->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->objects[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < process->count && process->objects[low].start <= address ? &process->objects[low] : NULL;
}

static const char *add_text(struct process_places *process, const struct object *object, uint64_t address)
{
	size_t size = strlen(object->name) + sizeof("+0x0123456789abcdef");
	struct place *place = malloc(sizeof(*place) + size);

	if (!place)
		return NULL;
	place->address = address;
	snprintf(place->text, size, "%s+0x%llx", object->name, (unsigned long long)(address - object->begin));
	HASH_ADD(hh, process->texts, address, sizeof(place->address), place);
	return place->text;
}

const char *trace_places__find(struct trace_places *places, const struct trace_process *shown, uint64_t address,
			       uint64_t now)
{
	struct process_places *process = find_process(places, shown);
	const struct object *object;
	struct place *place;

	if (!process)
		return NULL;
	HASH_FIND(hh, process->texts, &address, sizeof(address), place);
	if (place)
		return place->text;
	object = find_object(process, address);
	if (!object && now >= process->read_ns + REREAD_NS) {
		process->changed = true; /* read at its next event: texts that are in use must stay */
		return NULL;
	}
	return object ? add_text(process, object, address) : NULL;
}
