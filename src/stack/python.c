// SPDX-License-Identifier: BSD-2-Clause
// The Python frames of a record; see python.h.
#include "stack/python.h"

#include "stack/process.h"

#define MISSING "[more Python frames]"

/*
 * An unknown code object can only be read from the process itself, not from another one that has
 * its pid now.
 */
static const struct python_code *find_code(struct python_codes *codes,
					   const struct python_owner *owner,
					   const struct python_offsets *offsets,
					   const struct python_frame *frame)
{
	if (!owner)
		return NULL;
	if (!python_codes__has(codes, owner->number, frame) &&
	    !stack_process__is_there(owner->pid, owner->start_ns))
		return NULL;
	return python_codes__find(codes, owner->number, owner->pid, offsets, frame);
}

static void add_mark(struct python_names *names, bool entry)
{
	names->entry[names->count] = entry;
	names->frames[names->count++] =
		(struct stack_frame){.kind = FRAME_MARK, .function = MISSING};
}

static void add_frame(struct python_names *names, const struct python_code *code,
		      const struct python_frame *frame)
{
	struct stack_frame *named = &names->frames[names->count];
	int line = code ? python_code__line(code, frame) : 0;

	*named = (struct stack_frame){.kind = FRAME_PYTHON, .line = line > 0 ? (uint32_t)line : 0};
	if (code) {
		named->function = code->function;
		named->file = code->file;
	} else {
		named->offset = frame->code;
	}
	names->entry[names->count++] = frame->instruction & PYTHON_ENTRY;
}

void python_names__make(struct python_names *names, struct python_codes *codes,
			const struct python_owner *owner, const struct python_offsets *offsets,
			const struct stack_record *record)
{
	names->count = 0;
	for (uint32_t i = 0; i < record->pythons; i++) {
		const struct python_frame *frame = &record->python[i];

		if (frame->code)
			add_frame(names, find_code(codes, owner, offsets, frame), frame);
		else
			add_mark(names, frame->instruction & PYTHON_ENTRY);
	}
}
