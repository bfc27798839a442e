// SPDX-License-Identifier: BSD-2-Clause
// What the calls of a recording refer to by id, see call_tables.h.
//
// Each thing is one allocation, its texts behind it, so that it is freed with one free(3).
#include "record/call_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "record/gpu_work.h"
#include "record/thread_names.h"
#include "record/varint.h"
#include "symbol/kernel_name.h"

#define WORD_MAX 64u	 /* bytes of a field's name */
#define SYMBOL_MAX 256u	 /* bytes of a function's name */
#define FRAMES_MAX 4096u /* of a stack */

struct call_tables {
	struct trace_functions *functions;
	bool full_names;
	uint64_t serials;		      /* of stacks */
	uint64_t names_ns;		      /* CPU time spent on readable names */
	size_t bytes;			      /* of all things */
	void **things[RECORDED_DICTIONARIES]; /* by enum recorded_kind, then by id */
	size_t room[RECORDED_DICTIONARIES];
	struct thread_names names;
};

struct call_tables *call_tables__new(struct trace_functions *functions, bool full_names)
{
	struct call_tables *tables = calloc(1, sizeof(*tables));

	if (tables) {
		tables->functions = functions;
		tables->full_names = full_names;
	}
	return tables;
}

void call_tables__clear(struct call_tables *tables)
{
	for (int kind = 0; kind < RECORDED_DICTIONARIES; kind++) {
		for (size_t id = 0; id < tables->room[kind]; id++) {
			/* Functions belong to `functions`. */
			if (kind != RECORDED_FUNCTION)
				free(tables->things[kind][id]);
			tables->things[kind][id] = NULL;
		}
	}
	thread_names__clear(&tables->names);
	tables->bytes = 0;
}

void call_tables__free(struct call_tables *tables)
{
	if (!tables)
		return;
	call_tables__clear(tables);
	for (int kind = 0; kind < RECORDED_DICTIONARIES; kind++)
		free(tables->things[kind]);
	free(tables);
}

const void *call_tables__find(const struct call_tables *tables, enum recorded_kind kind,
			      uint64_t id)
{
	return id < tables->room[kind] ? tables->things[kind][id] : NULL;
}

bool call_tables__is_word(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] <= ' ' || text[i] >= 0x7f || strchr("\"\\,;=<>&", text[i]))
			return false;
	}
	return length && length <= WORD_MAX;
}

static int make_room(struct call_tables *tables, enum recorded_kind kind, uint64_t id)
{
	size_t room = tables->room[kind] ? tables->room[kind] : 64;
	void **things;

	if (!id || id > DICTIONARY_IDS_MAX)
		return -EINVAL;
	if (id < tables->room[kind])
		return 0;
	while (room <= id)
		room *= 2;
	things = realloc(tables->things[kind], room * sizeof(*things));
	if (!things)
		return -ENOMEM;
	memset(things + tables->room[kind], 0, (room - tables->room[kind]) * sizeof(*things));
	tables->things[kind] = things;
	tables->room[kind] = room;
	return 0;
}

/*
 * Returns memory for a thing of `bytes` with that id, which had none before. NULL with *ret set:
 * -EINVAL or -ENOMEM.
 */
static void *take_place(struct call_tables *tables, enum recorded_kind kind, uint64_t id,
			size_t bytes, int *ret)
{
	void *thing;

	*ret = make_room(tables, kind, id);
	if (!*ret && (tables->things[kind][id] || tables->bytes + bytes > DICTIONARY_BYTES_MAX))
		*ret = -EINVAL;
	if (*ret)
		return NULL;
	thing = calloc(1, bytes);
	if (!thing) {
		*ret = -ENOMEM;
		return NULL;
	}
	tables->bytes += bytes;
	tables->things[kind][id] = thing;
	return thing;
}

static int drop(struct call_tables *tables, enum recorded_kind kind, uint64_t id, int code)
{
	free(tables->things[kind][id]);
	tables->things[kind][id] = NULL;
	return code;
}

/* Texts are copied, each with its NUL, to where `to` points; there is room for the whole record. */
static char *take_text(struct varint_reader *record, char **to)
{
	uint64_t length = varint__take(record);
	const uint8_t *bytes = length ? varint__take_bytes(record, length - 1) : NULL;
	char *text = *to;

	if (!bytes)
		return NULL;
	memcpy(text, bytes, length - 1);
	text[length - 1] = '\0';
	*to += length;
	return text;
}

static int add_process(struct call_tables *tables, struct varint_reader *record, uint64_t id)
{
	size_t rest = (size_t)(record->end - record->at);
	struct trace_process *process;
	char *texts;
	const char *comm;
	int ret;

	process = take_place(tables, RECORDED_PROCESS, id, sizeof(*process) + rest + 2, &ret);
	if (!process)
		return ret;
	texts = (char *)(process + 1);
	process->number = (uint32_t)varint__take(record);
	process->pid = (pid_t)varint__take(record);
	process->parent = (pid_t)varint__take(record);
	process->uid = (uint32_t)varint__take(record);
	process->start_ns = varint__take(record);
	process->image = varint__take(record);
	comm = take_text(record, &texts);
	if (comm)
		memcpy(process->comm, comm, strnlen(comm, sizeof(process->comm) - 1));
	process->cgroup = take_text(record, &texts);
	return record->failed ? drop(tables, RECORDED_PROCESS, id, -EINVAL) : 0;
}

/* The table's row of that name, or one for a name that the table does not know. */
static int find_row(struct call_tables *tables, const char *symbol, enum layer layer)
{
	int row = api__find(symbol, API_NEWEST);

	if (row >= 0 && api_functions[row].desc.layer == layer)
		return row;
	return trace_functions__add(tables->functions, symbol, layer);
}

static int add_function(struct call_tables *tables, struct varint_reader *record, uint64_t id)
{
	uint64_t layer = varint__take(record), length = varint__take(record);
	const uint8_t *bytes =
		length > 1 && length <= SYMBOL_MAX ? varint__take_bytes(record, length - 1) : NULL;
	char symbol[SYMBOL_MAX] = "";
	int ret, row;

	if (!bytes || layer >= LAYER_COUNT)
		return -EINVAL;
	memcpy(symbol, bytes, length - 1);
	ret = make_room(tables, RECORDED_FUNCTION, id);
	if (ret)
		return ret;
	row = find_row(tables, symbol, (enum layer)layer);
	if (row < 0)
		return row == -ENOMEM ? row : -EINVAL;
	tables->things[RECORDED_FUNCTION][id] =
		(void *)trace_functions__at(tables->functions, (uint32_t)row);
	return 0;
}

/* With full names, the readable form of the whole name takes the place of the short one. */
static int add_kernel(struct call_tables *tables, struct varint_reader *record, uint64_t id)
{
	size_t rest = (size_t)(record->end - record->at), full_bytes = 0;
	struct recorded_kernel *kernel;
	char *texts, *full = NULL;
	int ret;

	if (tables->full_names) {
		struct varint_reader look = *record;
		char *copy = malloc(rest + 8), *to = copy;
		const char *mangled;

		if (!copy)
			return -ENOMEM;
		take_text(&look, &to);
		take_text(&look, &to);
		mangled = take_text(&look, &to);
		if (mangled && kernel_name__valid(mangled, strlen(mangled) + 1))
			full = kernel_name__demangle_within(&tables->names_ns, mangled);
		full_bytes = full ? strlen(full) + 1 : 0;
		free(copy);
	}
	kernel = take_place(tables, RECORDED_KERNEL, id, sizeof(*kernel) + rest + 4 + full_bytes,
			    &ret);
	if (!kernel) {
		free(full);
		return ret;
	}
	texts = (char *)(kernel + 1);
	kernel->name = take_text(record, &texts);
	kernel->label = take_text(record, &texts);
	kernel->mangled = take_text(record, &texts);
	kernel->location = take_text(record, &texts);
	if (full) {
		kernel->name = memcpy(texts, full, full_bytes);
		kernel->label = NULL;
	}
	free(full);
	return record->failed ? drop(tables, RECORDED_KERNEL, id, -EINVAL) : 0;
}

static int add_stack(struct call_tables *tables, struct varint_reader *record, uint64_t id)
{
	uint64_t flags = varint__take(record), count = varint__take(record);
	size_t rest = (size_t)(record->end - record->at);
	struct stack_frame *frames;
	struct stack *stack;
	char *texts;
	int ret;

	/* Each frame has at least six bytes. */
	if (record->failed || count > FRAMES_MAX || count * 6 > rest)
		return -EINVAL;
	stack = take_place(tables, RECORDED_STACK, id,
			   sizeof(*stack) + count * (sizeof(*frames) + 3) + rest, &ret);
	if (!stack)
		return ret;
	frames = (struct stack_frame *)(stack + 1);
	texts = (char *)(frames + count);
	for (uint64_t i = 0; i < count; i++) {
		frames[i].kind = (uint8_t)varint__take(record);
		frames[i].line = (uint32_t)varint__take(record);
		frames[i].offset = varint__take(record);
		frames[i].function = take_text(record, &texts);
		frames[i].object = take_text(record, &texts);
		frames[i].file = take_text(record, &texts);
		if (frames[i].kind > FRAME_MARK ||
		    (frames[i].kind == FRAME_MARK && !frames[i].function))
			record->failed = true;
	}
	*stack = (struct stack){
		.serial = tables->serials++,
		.count = (uint32_t)count,
		.truncated = flags & 1,
		.broken = flags & 2,
		.frames = frames,
	};
	return record->failed ? drop(tables, RECORDED_STACK, id, -EINVAL) : 0;
}

static bool take_field(struct varint_reader *record, struct recorded_shape *shape, size_t i,
		       char **texts)
{
	uint64_t form = varint__take(record), role = varint__take(record);
	char *name;

	shape->fields[i].form = (uint8_t)form;
	shape->fields[i].role = (uint8_t)role;
	shape->fields[i].cut = varint__take(record) == 1;
	shape->fields[i].name = name = take_text(record, texts);
	return form <= FORM_UNKNOWN && role < TRACE_ROLES && name &&
	       call_tables__is_word(name, strlen(name));
}

static int add_shape(struct call_tables *tables, struct varint_reader *record, uint64_t id)
{
	const struct trace_function *function =
		call_tables__find(tables, RECORDED_FUNCTION, varint__take(record));
	uint64_t count = varint__take(record);
	size_t rest = (size_t)(record->end - record->at);
	struct recorded_shape *shape;
	char *texts;
	int ret;

	if (record->failed || !function || count > TRACE_FIELDS_MAX)
		return -EINVAL;
	shape = take_place(tables, RECORDED_SHAPE, id,
			   sizeof(*shape) + count * (sizeof(*shape->fields) + 1) + rest, &ret);
	if (!shape)
		return ret;
	shape->function = function;
	shape->count = count;
	texts = (char *)&shape->fields[count];
	for (size_t i = 0; i < count; i++) {
		if (!take_field(record, shape, i, &texts))
			return drop(tables, RECORDED_SHAPE, id, -EINVAL);
	}
	return 0;
}

static int add_gpu_shape(struct call_tables *tables, struct varint_reader *record, uint64_t id)
{
	struct recorded_gpu_shape read = {0}, *shape;
	uint64_t process, kernel;
	int ret;

	if (!recorded_gpu_work__take_shape(record, &read, &process, &kernel))
		return -EINVAL;
	read.process = call_tables__find(tables, RECORDED_PROCESS, process);
	read.kernel = kernel ? call_tables__find(tables, RECORDED_KERNEL, kernel) : NULL;
	if (!read.process || (kernel && !read.kernel))
		return -EINVAL;
	shape = take_place(tables, RECORDED_GPU_SHAPE, id, sizeof(*shape), &ret);
	if (shape)
		*shape = read;
	return ret;
}

int call_tables__add(struct call_tables *tables, const struct recorded *record)
{
	struct varint_reader rest = varint_reader__of(record->bytes, record->length);
	uint64_t id = varint__take(&rest);

	switch (record->kind) {
	case RECORDED_PROCESS: return add_process(tables, &rest, id);
	case RECORDED_FUNCTION: return add_function(tables, &rest, id);
	case RECORDED_KERNEL: return add_kernel(tables, &rest, id);
	case RECORDED_STACK: return add_stack(tables, &rest, id);
	case RECORDED_SHAPE: return add_shape(tables, &rest, id);
	case RECORDED_GPU_SHAPE: return add_gpu_shape(tables, &rest, id);
	default: return -EINVAL;
	}
}

int call_tables__name_thread(struct call_tables *tables, const struct recorded *record)
{
	struct varint_reader rest = varint_reader__of(record->bytes, record->length);
	const struct trace_process *process =
		call_tables__find(tables, RECORDED_PROCESS, varint__take(&rest));
	pid_t tid = (pid_t)varint__take(&rest);
	uint64_t length = varint__take(&rest);
	const uint8_t *name = length ? varint__take_bytes(&rest, length - 1) : NULL;
	int ret;

	if (rest.failed || !process || !name)
		return -EINVAL;
	ret = thread_names__set(&tables->names, process->number, tid, (const char *)name,
				length - 1);
	return ret == -E2BIG ? -EINVAL : ret < 0 ? ret : 0;
}

const char *call_tables__thread_name(const struct call_tables *tables,
				     const struct trace_process *process, pid_t tid)
{
	const char *name = thread_names__of(&tables->names, process->number, tid);

	return *name ? name : NULL;
}

bool call_tables__add_content(struct call_tables *tables, uint64_t id, const uint8_t *bytes,
			      size_t length)
{
	struct recorded_bytes *content;
	uint8_t *copy;
	int ret;

	content = take_place(tables, RECORDED_NEW_CALL, id, sizeof(*content) + length, &ret);
	if (!content)
		return false;
	copy = (uint8_t *)(content + 1);
	memcpy(copy, bytes, length);
	content->at = copy;
	content->length = length;
	return true;
}
