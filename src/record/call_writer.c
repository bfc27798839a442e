// SPDX-License-Identifier: BSD-2-Clause
// Records the lines of the tracer, see call_writer.h.
#include "record/call_writer.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "record/bytes.h"
#include "record/dictionary.h"
#include "record/gpu_work.h"
#include "record/thread_names.h"
#include "record/varint.h"
#include "trace/function.h"

#define CHUNK_NS NS_PER_S	    /* SIGKILL costs so much, or CHUNK_TARGET */
#define KEYFRAME_NS (60 * NS_PER_S) /* what must be read again to begin at some time */
#define KEYFRAME_BYTES (16u << 20)

struct line_counts {
	uint64_t lines;	  /* that were to be added */
	uint64_t added;	  /* to chunks */
	uint64_t written; /* with their chunks */
};

struct call_writer {
	struct recording_writer *file;
	struct pseudonyms *pseudonyms;		      /* NULL: names are themselves */
	struct dictionary ids[RECORDED_DICTIONARIES]; /* by enum recorded_kind */
	struct thread_names names;		      /* as the reader has them */
	struct bytes key, content, record;
	struct line_counts calls, gpu_work;
	uint64_t latest_ns;		/* of the lines of calls */
	uint64_t chunk_ns, keyframe_ns; /* when the current one began */
	uint64_t every_ns, every_bytes; /* at most from one keyframe to the next */
	uint64_t bytes;			/* since the keyframe */
	uint64_t part;			/* number of the current one */
	bool begun;			/* the current part */
	bool follows;			/* keyframes are the owner's */
	int failure;
};

struct call_writer *call_writer__new(struct recording_writer *file, struct pseudonyms *pseudonyms)
{
	struct call_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->file = file;
	writer->pseudonyms = pseudonyms;
	call_writer__set_keyframes(writer, KEYFRAME_NS, KEYFRAME_BYTES);
	return writer;
}

void call_writer__set_keyframes(struct call_writer *writer, uint64_t every_ns, uint64_t every_bytes)
{
	writer->every_ns = every_ns < KEYFRAME_NS ? every_ns : KEYFRAME_NS;
	writer->every_bytes = every_bytes < KEYFRAME_BYTES ? every_bytes : KEYFRAME_BYTES;
}

void call_writer__free(struct call_writer *writer)
{
	if (!writer)
		return;
	for (int i = 0; i < RECORDED_DICTIONARIES; i++)
		dictionary__clear(&writer->ids[i]);
	thread_names__clear(&writer->names);
	free(writer->key.at);
	free(writer->content.at);
	free(writer->record.at);
	free(writer);
}

static int end_chunk(struct call_writer *writer)
{
	int ret = recording_writer__end_chunk(writer->file);

	if (!ret && !writer->failure) {
		writer->calls.written = writer->calls.added;
		writer->gpu_work.written = writer->gpu_work.added;
	}
	return ret;
}

/* The first of calls in a chunk: a reader may have lost the chunk where the part began. */
static int add_part(struct call_writer *writer, uint64_t time_ns)
{
	uint8_t number[VARINT_MAX];
	size_t length = (size_t)(varint__put(number, writer->part) - number);

	return recording_writer__add(writer->file, RECORDED_CALLS_PART, time_ns, number, length);
}

static int add(struct call_writer *writer, enum recorded_kind kind, uint64_t time_ns)
{
	const struct bytes *record = &writer->record;
	int ret = 0;

	if (record->failed)
		return -ENOMEM;
	if (recording_writer__bytes(writer->file) + record->length > CHUNK_TARGET - 64)
		ret = end_chunk(writer);
	if (!ret && writer->begun && !recording_writer__bytes(writer->file))
		ret = add_part(writer, time_ns);
	if (ret)
		return ret;
	writer->bytes += record->length;
	return recording_writer__add(writer->file, kind, time_ns, record->at, record->length);
}

/*
 * Returns the id of the key in writer->key. If it is new, writer->record begins with it and the
 * caller adds what it stands for. 0: out of memory.
 */
static uint32_t take_id(struct call_writer *writer, enum recorded_kind kind, bool *is_new)
{
	uint32_t id;

	*is_new = false;
	id = writer->key.failed ? 0 :
				  dictionary__take(&writer->ids[kind], writer->key.at,
						   writer->key.length, is_new);

	if (id && *is_new) {
		bytes__clear(&writer->record);
		bytes__number(&writer->record, id);
	}
	return id;
}

static struct bytes *begin_key(struct call_writer *writer)
{
	bytes__clear(&writer->key);
	return &writer->key;
}

/* A name of that kind, or its pseudonym. */
static void put_name(const struct call_writer *writer, struct bytes *to, const char *kind,
		     const char *name)
{
	if (writer->pseudonyms && name)
		bytes__text(to, pseudonyms__of(writer->pseudonyms, kind, name, SIZE_MAX).text);
	else
		bytes__text(to, name);
}

/* --- what calls share: each returns the id, or 0 with writer->failure --- */

static uint32_t finish(struct call_writer *writer, enum recorded_kind kind, uint64_t time_ns,
		       uint32_t id, bool is_new)
{
	if (!id)
		writer->failure = -ENOMEM;
	else if (is_new)
		writer->failure = add(writer, kind, time_ns);
	return writer->failure ? 0 : id;
}

static uint32_t process_id(struct call_writer *writer, const struct trace_line *line)
{
	const struct trace_process *process = line->process;
	struct bytes *key = begin_key(writer), *record = &writer->record;
	char name[32];
	bool is_new;
	uint32_t id;

	bytes__number(key, process->number);
	bytes__number(key, (uint32_t)process->pid);
	bytes__number(key, process->start_ns);
	bytes__number(key, process->image);
	id = take_id(writer, RECORDED_PROCESS, &is_new);
	if (id && is_new) {
		bytes__number(record, process->number);
		bytes__number(record, (uint32_t)process->pid);
		bytes__number(record, (uint32_t)process->parent);
		bytes__number(record, process->uid);
		bytes__number(record, process->start_ns);
		bytes__number(record, process->image);
		snprintf(name, sizeof(name), "%.*s", COMM_SIZE, process->comm);
		put_name(writer, record, "task", name);
		put_name(writer, record, "cgroup", process->cgroup);
	}
	return finish(writer, RECORDED_PROCESS, line->start_ns, id, is_new);
}

static uint32_t function_id(struct call_writer *writer, const struct trace_line *line)
{
	struct bytes *key = begin_key(writer);
	bool is_new;
	uint32_t id;

	bytes__add(key, &line->function, sizeof(line->function));
	id = take_id(writer, RECORDED_FUNCTION, &is_new);
	if (id && is_new) {
		bytes__number(&writer->record, trace_function__layer(line->function));
		bytes__text(&writer->record, trace_function__symbol(line->function));
	}
	return finish(writer, RECORDED_FUNCTION, line->start_ns, id, is_new);
}

static uint32_t kernel_id(struct call_writer *writer, const struct trace_line *line)
{
	struct bytes *key = begin_key(writer);
	bool is_new;
	uint32_t id;

	put_name(writer, key, "kernel-function", line->kernel);
	put_name(writer, key, "kernel", line->kernel_label);
	put_name(writer, key, "kernel-name", line->kernel_full);
	put_name(writer, key, "location", line->kernel_location);
	id = take_id(writer, RECORDED_KERNEL, &is_new);
	if (id && is_new)
		bytes__add(&writer->record, key->at, key->length);
	return finish(writer, RECORDED_KERNEL, line->start_ns, id, is_new);
}

static void put_frames(struct call_writer *writer, const struct stack *stack)
{
	struct bytes *record = &writer->record;

	bytes__number(record, (stack->truncated ? 1 : 0) | (stack->broken ? 2 : 0));
	bytes__number(record, stack->count);
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		bytes__number(record, frame->kind);
		bytes__number(record, frame->line);
		bytes__number(record, frame->offset);
		if (writer->pseudonyms && frame->function && frame->kind != FRAME_MARK)
			bytes__text(
				record,
				pseudonyms__of_function(writer->pseudonyms, frame->function).text);
		else
			bytes__text(record, frame->function);
		put_name(writer, record, "object", frame->object);
		put_name(writer, record, "file", frame->file);
	}
}

/* A stack has one serial number as long as it is kept. Those of LINE_BEFORE have their own. */
static uint32_t stack_id(struct call_writer *writer, const struct trace_line *line)
{
	struct bytes *key = begin_key(writer);
	bool is_new;
	uint32_t id;

	bytes__number(key, line->kind == LINE_BEFORE);
	bytes__number(key, line->stack->serial);
	id = take_id(writer, RECORDED_STACK, &is_new);
	if (id && is_new)
		put_frames(writer, line->stack);
	return finish(writer, RECORDED_STACK, line->start_ns, id, is_new);
}

/* Names of fields are constants, so their addresses tell them apart. */
static uint32_t shape_id(struct call_writer *writer, const struct trace_line *line,
			 uint32_t function)
{
	struct bytes *key = begin_key(writer), *record = &writer->record;
	bool is_new;
	uint32_t id;

	bytes__number(key, function);
	for (size_t i = 0; i < line->field_count; i++) {
		const struct trace_field *field = &line->fields[i];
		const uint8_t form[3] = {field->form, field->role, field->cut};

		bytes__add(key, &field->name, sizeof(field->name));
		bytes__add(key, form, sizeof(form));
	}
	id = take_id(writer, RECORDED_SHAPE, &is_new);
	if (id && is_new) {
		bytes__number(record, function);
		bytes__number(record, line->field_count);
		for (size_t i = 0; i < line->field_count; i++) {
			bytes__number(record, line->fields[i].form);
			bytes__number(record, line->fields[i].role);
			bytes__number(record, line->fields[i].cut);
			bytes__text(record, line->fields[i].name);
		}
	}
	return finish(writer, RECORDED_SHAPE, line->start_ns, id, is_new);
}

/* --- calls --- */

/* A text among the arguments: a name of a kernel, or of a file. */
static void put_hidden(const struct call_writer *writer, struct bytes *content,
		       const struct trace_field *field)
{
	const struct pseudonym text =
		pseudonyms__of(writer->pseudonyms, "text", field->text, field->length);

	bytes__number(content, strlen(text.text));
	bytes__add(content, text.text, strlen(text.text));
}

static void put_value(const struct call_writer *writer, struct bytes *content,
		      const struct trace_field *field)
{
	size_t length = field->length;

	switch ((enum trace_form)field->form) {
	case FORM_UNSIGNED:
	case FORM_ADDRESS:
	case FORM_FLAGS:
	case FORM_UNREADABLE: bytes__number(content, field->number); break;
	case FORM_SIGNED: bytes__signed(content, (int64_t)field->number); break;
	case FORM_WORD:
		bytes__signed(content, (int64_t)field->number);
		length = strlen(field->text) + 1;
		bytes__number(content, length);
		bytes__add(content, field->text, length);
		break;
	case FORM_REAL: bytes__add(content, &field->real, sizeof(field->real)); break;
	case FORM_DIM3:
		for (int i = 0; i < 3; i++)
			bytes__number(content, field->dims[i]);
		break;
	case FORM_TEXT:
		if (writer->pseudonyms) {
			put_hidden(writer, content, field);
			break;
		}
		/* fallthrough */
	case FORM_BYTES:
		bytes__number(content, length);
		bytes__add(content, field->text, length);
		break;
	case FORM_WORDS:
		bytes__number(content, length);
		bytes__add(content, field->words, length * sizeof(uint64_t));
		break;
	case FORM_UNKNOWN: break;
	}
}

/* `process` is its id. The leader has the process's name. */
static void add_thread_name(struct call_writer *writer, const struct trace_line *line,
			    uint32_t process)
{
	const char *name = line->thread_name ? line->thread_name : "";
	struct bytes *record = &writer->record;
	int ret = thread_names__set(&writer->names, line->process->number, line->tid, name,
				    strlen(name));

	if (ret < 0)
		writer->failure = ret;
	if (ret != 1)
		return;
	bytes__clear(record);
	bytes__number(record, process);
	bytes__number(record, (uint32_t)line->tid);
	put_name(writer, record, "task", name);
	writer->failure = add(writer, RECORDED_THREAD, line->start_ns);
}

/* Puts what the call is, apart from its times, into writer->content. */
static int put_content(struct call_writer *writer, const struct trace_line *line)
{
	uint32_t process = process_id(writer, line), function, shape = 0, kernel = 0, stack = 0;
	struct bytes *content = &writer->content;

	if (process && line->tid != line->process->pid)
		add_thread_name(writer, line, process);
	function = process && !writer->failure ? function_id(writer, line) : 0;
	if (function)
		shape = shape_id(writer, line, function);
	if (shape && (line->kernel || line->kernel_full || line->kernel_location))
		kernel = kernel_id(writer, line);
	if (shape && !writer->failure && line->stack)
		stack = stack_id(writer, line);
	if (writer->failure)
		return writer->failure;
	bytes__clear(content);
	bytes__number(content, line->kind);
	bytes__number(content, process);
	bytes__number(content, (uint32_t)line->tid);
	bytes__number(content, line->depth);
	bytes__number(content, (uint64_t)(line->device + 1));
	bytes__number(content, shape);
	bytes__number(content, kernel);
	bytes__number(content, stack);
	bytes__signed(content, (int64_t)line->result);
	bytes__number(content, line->failed);
	for (size_t i = 0; i < line->field_count; i++)
		put_value(writer, content, &line->fields[i]);
	return content->failed ? -ENOMEM : 0;
}

static int add_call(struct call_writer *writer, const struct trace_line *line)
{
	struct bytes *content = &writer->content, *record = &writer->record;
	int ret = put_content(writer, line);
	bool is_new = false;
	uint32_t id;

	if (ret)
		return ret;
	id = dictionary__take(&writer->ids[RECORDED_NEW_CALL], content->at, content->length,
			      &is_new);
	if (!id)
		return -ENOMEM;
	bytes__clear(record);
	bytes__number(record, id);
	bytes__number(record, line->duration_ns);
	if (is_new || line->held_ns)
		bytes__number(record, line->held_ns);
	if (is_new)
		bytes__add(record, content->at, content->length);
	return add(writer, is_new ? RECORDED_NEW_CALL : RECORDED_CALL, line->start_ns);
}

static int add_loss(struct call_writer *writer, const struct trace_line *line)
{
	bytes__clear(&writer->record);
	bytes__number(&writer->record, line->reason);
	bytes__number(&writer->record, line->lost);
	return add(writer, RECORDED_LOSS, line->start_ns);
}

/* What the work shares with other work; the line has the record's time. */
static uint32_t gpu_shape_id(struct call_writer *writer, const struct trace_line *line)
{
	uint32_t process = process_id(writer, line), kernel = 0, id;
	struct bytes *key;
	bool is_new;

	if (process && (line->kernel || line->kernel_full))
		kernel = kernel_id(writer, line);
	if (writer->failure)
		return 0;
	key = begin_key(writer);
	recorded_gpu_work__put_shape(key, line, process, kernel);
	id = take_id(writer, RECORDED_GPU_SHAPE, &is_new);
	if (id && is_new)
		bytes__add(&writer->record, key->at, key->length);
	return finish(writer, RECORDED_GPU_SHAPE, line->start_ns, id, is_new);
}

static int add_gpu_work(struct call_writer *writer, const struct trace_line *line)
{
	struct trace_line shared;
	uint32_t shape;

	memcpy(&shared, line, offsetof(struct trace_line, fields));
	shared.start_ns = writer->latest_ns;
	shape = gpu_shape_id(writer, &shared);
	if (!shape)
		return writer->failure;
	bytes__clear(&writer->record);
	bytes__number(&writer->record, shape);
	recorded_gpu_work__put(&writer->record, line, writer->latest_ns);
	return add(writer, RECORDED_GPU_WORK, writer->latest_ns);
}

static bool is_full(const struct call_writer *writer)
{
	size_t bytes = 0;

	if (thread_names__count(&writer->names) >= THREAD_NAMES_MAX)
		return true;
	for (int i = 0; i < RECORDED_DICTIONARIES; i++) {
		if (writer->ids[i].count >= DICTIONARY_IDS_MAX)
			return true;
		bytes += writer->ids[i].bytes;
	}
	return bytes >= DICTIONARY_BYTES_MAX / 2;
}

static bool is_part_over(const struct call_writer *writer, uint64_t time_ns)
{
	if (!writer->begun || is_full(writer))
		return true;
	return !writer->follows && (writer->bytes >= writer->every_bytes ||
				    time_ns >= writer->keyframe_ns + writer->every_ns);
}

static void begin_keyframe(struct call_writer *writer, uint64_t time_ns)
{
	recording_writer__keyframe(writer->file);
	if (!writer->begun || time_ns > writer->keyframe_ns)
		writer->keyframe_ns = time_ns;
	writer->bytes = 0;
}

/* Begins a part if it is time for one: with a keyframe, unless the owner makes these. */
static int begin(struct call_writer *writer, uint64_t time_ns)
{
	int ret;

	if (!is_part_over(writer, time_ns))
		return 0;
	ret = end_chunk(writer);
	if (ret)
		return ret;
	for (int i = 0; i < RECORDED_DICTIONARIES; i++)
		dictionary__clear(&writer->ids[i]);
	thread_names__clear(&writer->names);
	if (!writer->follows)
		begin_keyframe(writer, time_ns);
	writer->part++;
	writer->begun = true;
	return 0;
}

int call_writer__keyframe(struct call_writer *writer)
{
	writer->follows = true;
	writer->begun = false;
	writer->bytes = 0;
	return call_writer__flush(writer, UINT64_MAX);
}

bool call_writer__wants_keyframe(const struct call_writer *writer)
{
	return writer->bytes >= writer->every_bytes;
}

static int add_line(struct call_writer *writer, const struct trace_line *line)
{
	switch (line->kind) {
	case LINE_LOST: return add_loss(writer, line);
	case LINE_GPU: return add_gpu_work(writer, line);
	default: return add_call(writer, line);
	}
}

int call_writer__line(struct call_writer *writer, const struct trace_line *line)
{
	bool is_call = line->kind != LINE_GPU;
	struct line_counts *counts = is_call ? &writer->calls : &writer->gpu_work;

	if ((is_call || !writer->part) && line->start_ns > writer->latest_ns)
		writer->latest_ns = line->start_ns;
	counts->lines++;
	if (!writer->failure)
		writer->failure = begin(writer, is_call ? line->start_ns : writer->latest_ns);
	if (!writer->failure)
		writer->failure = add_line(writer, line);
	counts->added += !writer->failure;
	return writer->failure;
}

int call_writer__flush(struct call_writer *writer, uint64_t now_ns)
{
	bool at_once = now_ns == UINT64_MAX;

	if (!at_once && now_ns - writer->chunk_ns < CHUNK_NS)
		return writer->failure;
	if (!at_once)
		writer->chunk_ns = now_ns;
	if (!writer->failure)
		writer->failure = end_chunk(writer);
	return writer->failure;
}

uint64_t call_writer__dropped(const struct call_writer *writer)
{
	return writer->failure ? writer->calls.lines - writer->calls.written : 0;
}

uint64_t call_writer__dropped_gpu_work(const struct call_writer *writer)
{
	return writer->failure ? writer->gpu_work.lines - writer->gpu_work.written : 0;
}

int call_writer__end(struct call_writer *writer, uint64_t now_ns,
		     const struct recorded_calls_end *end)
{
	const uint64_t *numbers = (const uint64_t *)end;
	const size_t count = sizeof(*end) / sizeof(*numbers);

	int ret;

	recording_writer__use_reserve(writer->file);
	bytes__clear(&writer->record);
	bytes__number(&writer->record, count);
	for (size_t i = 0; i < count; i++)
		bytes__number(&writer->record, numbers[i]);
	ret = add(writer, RECORDED_CALLS_END, now_ns);
	return ret ? ret : end_chunk(writer);
}
