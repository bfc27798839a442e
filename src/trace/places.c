// SPDX-License-Identifier: BSD-2-Clause
// Where addresses lie, see places.h.
#include "trace/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "symbol/native_frames.h"
#include "target/process.h"
#include "trace/threads.h"

#define PROCESSES_MAX 256 /* whose mappings are kept; the oldest leaves */
#define TEXTS_MAX 65536	  /* of a process; all are made anew then */
#define TEXT_BYTES_MAX (16u << 20) /* of a process, the same */
#define REREAD_NS NS_PER_S /* at the earliest, for an address that lies in none of the mappings */
/* The same for a stack's: at first. Where a reading did not help, twice as long until the next, up to REREAD_NS. */
#define REREAD_FIRST_NS (10 * NS_PER_MS)
/* At the earliest where code was mapped or unmapped: a reading takes up to a millisecond. */
#define REREAD_CHANGED_NS (5 * NS_PER_MS)

enum kind { PLACE, FRAME };

struct text_key {
	uint64_t address, kind;
};

struct place {
	struct text_key key;
	UT_hash_handle hh;
	char text[];
};

struct process_places {
	pid_t pid;
	bool changed;
	uint64_t start_ns; /* of the process */
	uint64_t read_ns;
	uint64_t code_pages; /* mapped as of the last reading, as an event told; 0: none has */
	uint64_t reread_ns; /* how long to wait for the next reading for a stack's sake; 0: the first time */
	struct native_process *native;
	struct place *texts;
	size_t bytes;
	UT_hash_handle hh; /* by pid */
};

struct trace_places {
	struct process_places *processes; /* in order of first sight */
	struct native_frames *frames;
};

struct trace_places *trace_places__new(bool wants_frames, const struct log *log)
{
	struct trace_places *places = calloc(1, sizeof(*places));

	if (!places)
		return NULL;
	places->frames = native_frames__new(wants_frames, log);
	if (places->frames)
		return places;
	free(places);
	return NULL;
}

static void clear_texts(struct process_places *process)
{
	struct place *place, *next;

	HASH_ITER(hh, process->texts, place, next) {
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
	HASH_ITER(hh, places->processes, process, next) {
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
	return process;
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

static bool knows_all(const struct process_places *process, const struct trace_line *line)
{
	struct native_frame frame;
	uint64_t address;

	for (uint32_t i = 0; i < line->stack_depth; i++) {
		memcpy(&address, &line->stack[i], sizeof(address));
		if (native_process__place(process->native, address, &frame))
			return false;
	}
	return true;
}

void trace_places__see_stack(struct trace_places *places, const struct trace_process *shown,
			     const struct trace_line *line, uint64_t code_pages, uint64_t now)
{
	struct process_places *process = find_process(places, shown);

	if (!process)
		return;
	if (code_pages && code_pages != process->code_pages && now >= process->read_ns + REREAD_CHANGED_NS) {
		process->code_pages = code_pages;
		read_mappings(places, process, shown, now);
	}
	if (now < process->read_ns + process->reread_ns || knows_all(process, line))
		return;
	read_mappings(places, process, shown, now);
	if (knows_all(process, line) || !process->reread_ns)
		process->reread_ns = REREAD_FIRST_NS;
	else if (process->reread_ns < REREAD_NS)
		process->reread_ns *= 2;
}

/* The end of a path; the whole of what is none. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int write_frame(const struct native_frame *frame, char *text, size_t size)
{
	unsigned long long offset = frame->offset;

	if (!frame->function && !frame->file)
		return snprintf(text, size, "%s+0x%llx", frame->object, offset);
	if (!frame->function)
		return snprintf(text, size, "%s+0x%llx %s:%u", frame->object, offset, base_name(frame->file), frame->line);
	if (*frame->object == '[') /* [vdso], [jit] */
		return snprintf(text, size, "%s+0x%llx %s", frame->function, offset, frame->object);
	if (!frame->file)
		return snprintf(text, size, "%s+0x%llx [%s]", frame->function, offset, frame->object);
	return snprintf(text, size, "%s+0x%llx [%s] %s:%u", frame->function, offset, frame->object,
			base_name(frame->file), frame->line);
}

static const char *add_text(struct process_places *process, const struct text_key *key, const struct native_frame *frame)
{
	int length = write_frame(frame, NULL, 0);
	struct place *place = malloc(sizeof(*place) + (size_t)length + 1);

	if (!place)
		return NULL;
	place->key = *key;
	write_frame(frame, place->text, (size_t)length + 1);
	process->bytes += (size_t)length + 1;
	HASH_ADD(hh, process->texts, key, sizeof(place->key), place);
	return place->text;
}

static int look_up(struct trace_places *places, struct process_places *process, const struct text_key *key,
		   struct native_frame *frame)
{
	if (key->kind == FRAME)
		return native_frames__find(places->frames, process->native, key->address, ADDRESS_OF_RETURN, frame);
	return native_process__place(process->native, key->address, frame);
}

static const char *find(struct trace_places *places, const struct trace_process *shown, const struct text_key *key,
			uint64_t now)
{
	struct process_places *process = find_process(places, shown);
	struct native_frame frame;
	struct place *place;

	if (!process)
		return NULL;
	HASH_FIND(hh, process->texts, key, sizeof(*key), place);
	if (place)
		return place->text;
	switch (look_up(places, process, key, &frame)) {
	case 0:
		return add_text(process, key, &frame);
	case -ENOENT:
		if (now >= process->read_ns + REREAD_NS)
			process->changed = true; /* read at its next event: texts that are in use must stay */
		return NULL;
	default:
		return NULL;
	}
}

const char *trace_places__find(struct trace_places *places, const struct trace_process *process, uint64_t address,
			       uint64_t now)
{
	return find(places, process, &(struct text_key){address, PLACE}, now);
}

const char *trace_places__frame(struct trace_places *places, const struct trace_process *process, uint64_t address,
				uint64_t now)
{
	return find(places, process, &(struct text_key){address, FRAME}, now);
}
