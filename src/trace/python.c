// SPDX-License-Identifier: BSD-2-Clause
// Python frames of traced calls, see python.h.
#include "trace/python.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "symbol/python_code.h"
#include "stack/merge.h"
#include "trace/threads.h"

#define CODE_BYTES_MAX (64u << 20)
#define PROCESSES_MAX 4096 /* the oldest leaves */
#define NUMBER_ROOM 24	   /* of a number in a text, and what is around it */
#define MISSING "[more Python frames]"

struct interpreter {
	pid_t pid;
	bool found;
	bool told; /* why its frames cannot be had */
	struct python_process process;
	UT_hash_handle hh;
};

struct trace_python {
	struct trace_source *source;
	const struct log *log;
	struct interpreter *interpreters; /* in order of first sight */
	struct python_codes *codes;
	char *text; /* of the latest stack's Python frames */
	size_t text_size;
	uint64_t stack[TRACE_MERGED_MAX];
	const char *frames[TRACE_MERGED_MAX];
};

struct trace_python *trace_python__new(struct trace_source *source, const struct log *log)
{
	struct trace_python *python = calloc(1, sizeof(*python));

	if (!python)
		return NULL;
	python->source = source;
	python->log = log;
	python->codes = python_codes__new(CODE_BYTES_MAX);
	if (!python->codes) {
		free(python);
		return NULL;
	}
	return python;
}

void trace_python__free(struct trace_python *python)
{
	struct interpreter *interpreter, *next;

	if (!python)
		return;
	HASH_ITER(hh, python->interpreters, interpreter, next) {
		HASH_DEL(python->interpreters, interpreter);
		free(interpreter);
	}
	python_codes__free(python->codes);
	free(python->text);
	free(python);
}

static struct interpreter *find_interpreter(const struct trace_python *python, pid_t pid)
{
	struct interpreter *interpreter;

	HASH_FIND_INT(python->interpreters, &pid, interpreter);
	return interpreter;
}

static struct interpreter *add_interpreter(struct trace_python *python, pid_t pid)
{
	struct interpreter *interpreter = calloc(1, sizeof(*interpreter)), *oldest = python->interpreters;

	if (!interpreter)
		return NULL;
	if (HASH_COUNT(python->interpreters) >= PROCESSES_MAX) {
		HASH_DEL(python->interpreters, oldest);
		free(oldest);
	}
	interpreter->pid = pid;
	HASH_ADD_INT(python->interpreters, pid, interpreter);
	return interpreter;
}

/* Returns 0, or why there are no frames, as python_process__find. */
static int look_at(struct trace_python *python, pid_t pid, struct error *err)
{
	struct interpreter *interpreter = find_interpreter(python, pid);
	struct python_process found;
	int ret;

	ret = python_process__find(pid, &found, err);
	if (ret)
		return ret;
	if (!interpreter)
		interpreter = add_interpreter(python, pid);
	if (!interpreter)
		return error__set(err, -ENOMEM, "out of memory");
	interpreter->process = found;
	ret = python->source->calls->set_python(python->source, pid, &found.offsets.target);
	if (ret)
		return error__set(err, ret, "the BPF programs cannot be told where: %s", strerror(-ret));
	interpreter->found = true;
	return 0;
}

void trace_python__look_at(struct trace_python *python, pid_t pid, bool exec)
{
	struct interpreter *interpreter = find_interpreter(python, pid);

	if (interpreter && exec) {
		HASH_DEL(python->interpreters, interpreter);
		free(interpreter);
	} else if (interpreter && interpreter->found) {
		return;
	}
	look_at(python, pid, NULL);
}

void trace_python__announce(struct trace_python *python, const struct trace_process *process)
{
	struct interpreter *interpreter = find_interpreter(python, process->pid);
	struct error err = {0};
	int ret;

	if (interpreter && (interpreter->found || interpreter->told))
		return;
	ret = look_at(python, process->pid, &err);
	if (!ret || ret == -ESRCH)
		return;
	/* What is found later is told by the loader: libpython may be loaded after CUDA. */
	if (!interpreter)
		interpreter = add_interpreter(python, process->pid);
	if (interpreter)
		interpreter->told = true;
	if (ret != -ENOENT)
		log__warn(python->log, "process %d: python frames unavailable: %s", (int)process->pid, err.text);
}

static struct python_frame frame_at(const struct python_frame *frames, uint32_t i)
{
	struct python_frame frame;

	memcpy(&frame, (const char *)frames + i * sizeof(frame), sizeof(frame));
	return frame;
}

void trace_python__see(struct trace_python *python, const struct trace_process *process,
		       const struct python_frame *frames, uint32_t count)
{
	const struct interpreter *interpreter = find_interpreter(python, process->pid);
	bool is_there = false;

	python_codes__prune(python->codes);
	for (uint32_t i = 0; interpreter && interpreter->found && i < count; i++) {
		struct python_frame frame = frame_at(frames, i);

		if (!frame.code || python_codes__has(python->codes, process->number, &frame))
			continue;
		if (!is_there && !traced_process__is_there(process))
			return;
		is_there = true;
		python_codes__find(python->codes, process->number, process->pid, &interpreter->process.offsets, &frame);
	}
}

/* What a frame's text is made of. */
struct named_frame {
	const struct python_code *code;
	const char *file; /* without folders */
	struct python_frame frame;
	bool entry;
};

static void name_frames(const struct trace_python *python, const struct trace_line *line,
			const struct interpreter *interpreter, const struct python_frame *frames, uint32_t count,
			struct named_frame *named)
{
	const char *slash;

	for (uint32_t i = 0; i < count; i++) {
		named[i].frame = frame_at(frames, i);
		named[i].entry = named[i].frame.instruction & PYTHON_ENTRY;
		named[i].code = NULL;
		named[i].file = "";
		if (!named[i].frame.code || !python_codes__has(python->codes, line->process->number, &named[i].frame))
			continue;
		named[i].code = python_codes__find(python->codes, line->process->number, line->process->pid,
						   &interpreter->process.offsets, &named[i].frame);
		if (!named[i].code)
			continue;
		slash = strrchr(named[i].code->file, '/');
		named[i].file = slash ? slash + 1 : named[i].code->file;
	}
}

static size_t room_for(const struct named_frame *named)
{
	if (!named->code)
		return sizeof("[Python code 0x]") + NUMBER_ROOM + sizeof(MISSING);
	return strlen(named->code->function) + strlen(named->file) + NUMBER_ROOM;
}

/* "forward (model.py:123)"; returns the length with its NUL. */
static size_t write_text(const struct named_frame *named, char *at, size_t room)
{
	int n, line = named->code ? python_code__line(named->code, &named->frame) : 0;

	if (!named->frame.code)
		n = snprintf(at, room, "%s", MISSING);
	else if (!named->code)
		n = snprintf(at, room, "[Python code 0x%llx]", (unsigned long long)named->frame.code);
	else if (!line)
		n = snprintf(at, room, "%s (%s)", named->code->function, named->file);
	else
		n = snprintf(at, room, "%s (%s:%d)", named->code->function, named->file, line);
	return (size_t)n + 1;
}

static int write_texts(struct trace_python *python, const struct named_frame *named, uint32_t count,
		       const char **texts)
{
	size_t size = 0, at = 0;
	char *grown;

	for (uint32_t i = 0; i < count; i++)
		size += room_for(&named[i]);
	if (size > python->text_size) {
		grown = realloc(python->text, size);
		if (!grown)
			return -ENOMEM;
		python->text = grown;
		python->text_size = size;
	}
	for (uint32_t i = 0; i < count; i++) {
		texts[i] = python->text + at;
		at += write_text(&named[i], python->text + at, size - at);
	}
	return 0;
}

static size_t merge(const struct trace_line *line, const struct named_frame *named, uint32_t count,
		    const struct python_process *process, struct merged_frame *merged)
{
	const struct merge_ranges ranges = {process->object_start, process->object_end, process->eval_start,
					    process->eval_end};
	uint32_t depth = line->stack_depth < TRACE_STACK_MAX ? line->stack_depth : TRACE_STACK_MAX;
	bool entry[PYTHON_FRAMES_MAX + 1];

	for (uint32_t i = 0; i < count; i++)
		entry[i] = named[i].entry;
	return python_merge(line->stack, depth, entry, count, &ranges, merged);
}

void trace_python__merge(struct trace_python *python, struct trace_line *line, const struct python_frame *frames,
			 uint32_t count)
{
	const struct interpreter *interpreter = find_interpreter(python, line->process->pid);
	struct merged_frame merged[TRACE_MERGED_MAX];
	struct named_frame named[PYTHON_FRAMES_MAX + 1];
	const char *texts[PYTHON_FRAMES_MAX + 1];
	size_t depth;

	if (count > PYTHON_FRAMES_MAX + 1)
		count = PYTHON_FRAMES_MAX + 1;
	if (!count || !interpreter || !interpreter->found)
		return;
	name_frames(python, line, interpreter, frames, count, named);
	if (write_texts(python, named, count, texts))
		return;
	depth = merge(line, named, count, &interpreter->process, merged);
	for (size_t i = 0; i < depth; i++) {
		uint32_t index = merged[i].index;

		python->frames[i] = merged[i].python ? texts[index] : line->frames ? line->frames[index] : NULL;
		python->stack[i] = 0;
		if (!merged[i].python)
			memcpy(&python->stack[i], &line->stack[index], sizeof(python->stack[i]));
	}
	line->stack = python->stack;
	line->frames = python->frames;
	line->stack_depth = (uint32_t)depth;
}
