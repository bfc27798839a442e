// SPDX-License-Identifier: BSD-2-Clause
// Reads the calls of a recording as lines, see call_reader.h.
#include "record/call_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/call_tables.h"
#include "record/gpu_work.h"
#include "record/varint.h"

#define TEXT_MAX 4096u /* bytes of one field */

struct call_reader {
	struct recording *recording;
	struct call_tables *tables;
	struct recorded_calls_end end;
	struct trace_gpu_work gpu; /* of the latest line, if it is LINE_GPU */
	bool has_end;
	uint64_t part; /* number of the latest one; 0: none */
	uint64_t unreadable;
};

struct call_reader *call_reader__new(struct recording *recording, struct trace_functions *functions,
				     bool full_names)
{
	struct call_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->recording = recording;
	reader->tables = call_tables__new(functions, full_names);
	if (!reader->tables) {
		free(reader);
		return NULL;
	}
	return reader;
}

void call_reader__free(struct call_reader *reader)
{
	if (!reader)
		return;
	call_tables__free(reader->tables);
	free(reader);
}

/* --- fields --- */

/* Reads a text of the outputs' own words, which is printed as it is. Returns whether it is one. */
static bool take_word(struct varint_reader *content, struct trace_field *field)
{
	uint64_t length;

	field->number = (uint64_t)varint__take_signed(content);
	length = varint__take(content);
	field->text = (const char *)varint__take_bytes(content, length);
	return field->text && length && !field->text[length - 1] &&
	       call_tables__is_word(field->text, length - 1);
}

static bool take_bytes(struct varint_reader *content, struct trace_field *field, size_t size,
		       uint64_t most)
{
	uint64_t count = varint__take(content);
	const uint8_t *bytes = count <= most ? varint__take_bytes(content, count * size) : NULL;

	field->length = (uint32_t)count;
	if (size == 1)
		field->text = (const char *)bytes;
	else
		field->words = (const uint64_t *)(const void *)bytes;
	return bytes;
}

static bool take_dims(struct varint_reader *content, struct trace_field *field)
{
	for (int i = 0; i < 3; i++)
		field->dims[i] = (uint32_t)varint__take(content);
	return true;
}

static bool take_real(struct varint_reader *content, struct trace_field *field)
{
	const uint8_t *bytes = varint__take_bytes(content, sizeof(field->real));

	if (bytes)
		memcpy(&field->real, bytes, sizeof(field->real));
	return bytes;
}

static bool take_value(struct varint_reader *content, struct trace_field *field)
{
	switch ((enum trace_form)field->form) {
	case FORM_UNSIGNED:
	case FORM_ADDRESS:
	case FORM_FLAGS:
	case FORM_UNREADABLE: field->number = varint__take(content); return true;
	case FORM_SIGNED: field->number = (uint64_t)varint__take_signed(content); return true;
	case FORM_WORD: return take_word(content, field);
	case FORM_REAL: return take_real(content, field);
	case FORM_DIM3: return take_dims(content, field);
	case FORM_TEXT:
	case FORM_BYTES: return take_bytes(content, field, 1, TEXT_MAX);
	case FORM_WORDS: return take_bytes(content, field, sizeof(uint64_t), TRACE_ARGS_MAX);
	case FORM_UNKNOWN: return true;
	}
	return false;
}

static bool take_fields(struct varint_reader *content, const struct recorded_shape *shape,
			struct trace_line *line)
{
	line->field_count = shape->count;
	for (size_t i = 0; i < shape->count; i++) {
		line->fields[i] = (struct trace_field){
			.name = shape->fields[i].name,
			.form = shape->fields[i].form,
			.role = shape->fields[i].role,
			.cut = shape->fields[i].cut,
		};
		if (!take_value(content, &line->fields[i]))
			return false;
	}
	return true;
}

/* --- lines --- */

static bool is_kind(uint64_t kind)
{
	return kind == LINE_CALL || kind == LINE_IN_PROGRESS || kind == LINE_RESUMED ||
	       kind == LINE_UNFINISHED || kind == LINE_UNFOLLOWED || kind == LINE_BEFORE ||
	       kind == LINE_RANGE;
}

static bool take_kernel(const struct call_reader *reader, uint64_t id, struct trace_line *line)
{
	const struct recorded_kernel *kernel =
		id ? call_tables__find(reader->tables, RECORDED_KERNEL, id) : NULL;

	if (!kernel)
		return !id;
	line->kernel = kernel->name;
	line->kernel_label = kernel->label;
	line->kernel_full = kernel->mangled;
	line->kernel_location = kernel->location;
	return true;
}

static bool take_stack(const struct call_reader *reader, uint64_t id, struct trace_line *line)
{
	line->stack = id ? call_tables__find(reader->tables, RECORDED_STACK, id) : NULL;
	return line->stack || !id;
}

/* Fills the line from its content. Returns whether all of it is known and valid. */
static bool take_content(const struct call_reader *reader, const struct recorded_bytes *bytes,
			 struct trace_line *line)
{
	struct varint_reader content = varint_reader__of(bytes->at, bytes->length);
	uint64_t kind = varint__take(&content), process = varint__take(&content), depth, device;
	const struct recorded_shape *shape;
	uint64_t kernel, stack;

	memset(line, 0, offsetof(struct trace_line, fields));
	line->lost = 0;
	line->reason = TRACE_LOST_RING;
	line->kind = (enum trace_line_kind)kind;
	line->process = call_tables__find(reader->tables, RECORDED_PROCESS, process);
	line->tid = (pid_t)varint__take(&content);
	depth = varint__take(&content);
	device = varint__take(&content);
	shape = call_tables__find(reader->tables, RECORDED_SHAPE, varint__take(&content));
	kernel = varint__take(&content);
	stack = varint__take(&content);
	line->result = (uint64_t)varint__take_signed(&content);
	line->failed = varint__take(&content) == 1;
	if (!is_kind(kind) || !line->process || depth >= TRACE_DEPTH || device > INT16_MAX ||
	    !shape || !take_kernel(reader, kernel, line) || !take_stack(reader, stack, line))
		return false;
	line->depth = (uint8_t)depth;
	line->device = (int16_t)((int)device - 1);
	line->function = shape->function;
	line->thread_name = call_tables__thread_name(reader->tables, line->process, line->tid);
	return take_fields(&content, shape, line) && !content.failed;
}

static bool take_call(const struct call_reader *reader, const struct recorded *record,
		      struct trace_line *line)
{
	struct varint_reader call = varint_reader__of(record->bytes, record->length);
	const struct recorded_bytes *content;
	uint64_t id = varint__take(&call), duration = varint__take(&call), held = 0;

	if (record->kind == RECORDED_NEW_CALL || call.at < call.end)
		held = varint__take(&call);
	if (call.failed)
		return false;
	if (record->kind == RECORDED_NEW_CALL &&
	    !call_tables__add_content(reader->tables, id, call.at, (size_t)(call.end - call.at)))
		return false;
	content = call_tables__find(reader->tables, RECORDED_NEW_CALL, id);
	if (!content || !take_content(reader, content, line))
		return false;
	line->start_ns = record->time_ns;
	line->duration_ns = duration;
	line->held_ns = held;
	return true;
}

static bool take_gpu_work(struct call_reader *reader, const struct recorded *record,
			  struct trace_line *line)
{
	struct varint_reader work = varint_reader__of(record->bytes, record->length);
	const struct recorded_gpu_shape *shape =
		call_tables__find(reader->tables, RECORDED_GPU_SHAPE, varint__take(&work));
	const struct recorded_kernel *kernel = shape ? shape->kernel : NULL;

	if (!shape)
		return false;
	memset(line, 0, offsetof(struct trace_line, fields));
	line->kind = LINE_GPU;
	line->gpu = &reader->gpu;
	line->process = shape->process;
	if (kernel) {
		line->kernel = kernel->name;
		line->kernel_label = kernel->label;
		line->kernel_full = kernel->mangled;
	}
	return recorded_gpu_work__take(&work, shape, record->time_ns, &reader->gpu, line);
}

static bool take_loss(const struct recorded *record, struct trace_line *line)
{
	struct varint_reader loss = varint_reader__of(record->bytes, record->length);
	uint64_t reason = varint__take(&loss);

	memset(line, 0, offsetof(struct trace_line, fields));
	line->kind = LINE_LOST;
	line->device = -1;
	line->start_ns = record->time_ns;
	line->lost = varint__take(&loss);
	line->reason = (enum trace_loss)reason;
	return !loss.failed && reason < TRACE_LOSSES;
}

static bool take_end(struct call_reader *reader, const struct recorded *record)
{
	struct varint_reader numbers = varint_reader__of(record->bytes, record->length);
	uint64_t *members = (uint64_t *)&reader->end;
	uint64_t count = varint__take(&numbers);

	for (size_t i = 0; i < sizeof(reader->end) / sizeof(*members) && i < count; i++)
		members[i] = varint__take(&numbers);
	reader->has_end = !numbers.failed;
	return reader->has_end;
}

/* Forgets the ids of the part before, whose end may be lost. Returns whether it is valid. */
static bool take_part(struct call_reader *reader, const struct recorded *record)
{
	struct varint_reader number = varint_reader__of(record->bytes, record->length);
	uint64_t part = varint__take(&number);

	if (number.failed || !part)
		return false;
	if (part != reader->part)
		call_tables__clear(reader->tables);
	reader->part = part;
	return true;
}

/*
 * Whether ids of earlier records may mean something else in this one: always in a keyframe. Files
 * of older gpuprobes do not say whether one was lost.
 */
static bool is_new_part(const struct call_reader *reader, const struct recorded *record)
{
	return record->keyframe || (record->gap && !reader->part);
}

/* Returns 1 if the record is a line, 0 if not, or -ENOMEM. */
static int take(struct call_reader *reader, const struct recorded *record, struct trace_line *line)
{
	bool is_line = false, is_valid;

	if (is_new_part(reader, record))
		call_tables__clear(reader->tables);
	switch (record->kind) {
	case RECORDED_PROCESS:
	case RECORDED_FUNCTION:
	case RECORDED_KERNEL:
	case RECORDED_STACK:
	case RECORDED_SHAPE:
	case RECORDED_GPU_SHAPE:
	case RECORDED_THREAD: {
		int ret = record->kind == RECORDED_THREAD ?
				  call_tables__name_thread(reader->tables, record) :
				  call_tables__add(reader->tables, record);

		if (ret == -ENOMEM)
			return ret;
		is_valid = !ret;
		break;
	}
	case RECORDED_NEW_CALL:
	case RECORDED_CALL: is_line = is_valid = take_call(reader, record, line); break;
	case RECORDED_GPU_WORK: is_line = is_valid = take_gpu_work(reader, record, line); break;
	case RECORDED_LOSS: is_line = is_valid = take_loss(record, line); break;
	case RECORDED_CALLS_END: is_valid = take_end(reader, record); break;
	case RECORDED_CALLS_PART: is_valid = take_part(reader, record); break;
	default: is_valid = true; /* of another level, or of a newer gpuprobe */
	}
	reader->unreadable += !is_valid;
	return is_line;
}

int call_reader__next(struct call_reader *reader, struct trace_line *line)
{
	struct recorded record;
	int ret;

	while ((ret = recording__next(reader->recording, &record)) == 1) {
		ret = take(reader, &record, line);
		if (ret)
			return ret;
	}
	return ret;
}

const struct recorded_calls_end *call_reader__end(const struct call_reader *reader)
{
	return reader->has_end ? &reader->end : NULL;
}

uint64_t call_reader__unreadable(const struct call_reader *reader)
{
	return reader->unreadable;
}
