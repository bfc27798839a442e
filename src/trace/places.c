// SPDX-License-Identifier: BSD-2-Clause
// Where addresses lie, see places.h.
#include "trace/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/table.h"
#include "symbol/native_frames.h"
#include "target/process.h"
#include "trace/threads.h"

#define PROCESSES_MAX 256	   /* whose mappings are kept; the oldest leaves */
#define TEXTS_MAX 65536		   /* of a process; all are made anew then */
#define TEXT_BYTES_MAX (16u << 20) /* of a process, the same */
#define REREAD_NS NS_PER_S	   /* at the earliest, for an address that lies in none of the mappings */

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
	struct native_process *native;
	struct place *texts;
	size_t bytes;
	UT_hash_handle hh; /* by pid */
};

struct trace_places {
	struct process_places *processes; /* in order of first sight */
	struct native_frames *frames;
};

struct trace_places *trace_places__new(void)
{
	struct trace_places *places = calloc(1, sizeof(*places));

	if (!places)
		return NULL;
	places->frames = native_frames__new(false, NULL);
	if (places->frames)
		return places;
	free(places);
	return NULL;
}

static void clear_texts(struct process_places *process)
{
	struct place *place, *next;

	HASH_ITER (hh, process->texts, place, next) {
		HASH_DEL(process->texts, place);
		free(place);
	}
	process->bytes = 0;
}

static void drop(struct trace_places *places, struct process_places *process)
{
	HASH_DEL(places->processes, process);
	clear_texts(process);
	native_process__free(process->native);
	free(process);
}

void trace_places__free(struct trace_places *places)
{
	struct process_places *process, *next;

	if (!places)
		return;
	HASH_ITER (hh, places->processes, process, next) {
		drop(places, process);
	}
	native_frames__free(places->frames);
	free(places);
}

/* What was known stays where the process has gone. */
static void read_mappings(struct trace_places *places, struct process_places *process,
			  const struct trace_process *shown, uint64_t now)
{
	process->read_ns = now;
	process->changed = false;
	if (!traced_process__is_there(shown))
		return;
	clear_texts(process);
	native_frames__read(places->frames, process->native);
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
	process->native = native_process__new(shown->pid);
	if (!process->native) {
		free(process);
		return NULL;
	}
	process->pid = shown->pid;
	process->start_ns = shown->start_ns;
	HASH_ADD(hh, places->processes, pid, sizeof(process->pid), process);
	if (process->hh.tbl)
		return process;
	native_process__free(process->native);
	free(process);
	return NULL;
}

void trace_places__see(struct trace_places *places, const struct trace_process *shown, uint64_t now)
{
	struct process_places *process = find_process(places, shown);

	if (process && (HASH_COUNT(process->texts) > TEXTS_MAX || process->bytes > TEXT_BYTES_MAX))
		clear_texts(process);
	if (process && !process->changed)
		return;
	if (!process)
		process = add_process(places, shown);
	if (process)
		read_mappings(places, process, shown, now);
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
	read_mappings(places, process, &shown, now);
	process->changed = true;
}

static const char *add_text(struct process_places *process, uint64_t address, const struct native_frame *frame)
{
	unsigned long long offset = frame->offset;
	int length = snprintf(NULL, 0, "%s+0x%llx", frame->object, offset);
	struct place *place = malloc(sizeof(*place) + (size_t)length + 1);

	if (!place)
		return NULL;
	place->address = address;
	snprintf(place->text, (size_t)length + 1, "%s+0x%llx", frame->object, offset);
	HASH_ADD(hh, process->texts, address, sizeof(place->address), place);
	if (!place->hh.tbl) {
		free(place);
		return NULL;
	}
	process->bytes += (size_t)length + 1;
	return place->text;
}

const char *trace_places__find(struct trace_places *places, const struct trace_process *shown, uint64_t address,
			       uint64_t now)
{
	struct process_places *process = find_process(places, shown);
	struct native_frame frame;
	struct place *place;

	if (!process)
		return NULL;
	HASH_FIND(hh, process->texts, &address, sizeof(address), place);
	if (place)
		return place->text;
	if (!native_process__place(process->native, address, &frame))
		return add_text(process, address, &frame);
	if (now >= process->read_ns + REREAD_NS)
		process->changed = true; /* read at its next event: texts that are in use must stay */
	return NULL;
}
