// SPDX-License-Identifier: BSD-2-Clause
// A stack in JSON, see parts.h.
#include "output/json/parts.h"

static void write_frame(struct json *j, const struct stack_frame *frame)
{
	static const char *const kinds[] = {
		[FRAME_NATIVE] = "native", [FRAME_PYTHON] = "python", [FRAME_MARK] = "mark"};

	json__object_begin(j);
	json__key_string(j, "kind", kinds[frame->kind]);
	json__key_string(j, "function", frame->function);
	if (frame->kind == FRAME_NATIVE) {
		json__key_hex(j, "offset", frame->offset);
		json__key_string(j, "object", frame->object);
	}
	if (frame->file)
		json__key_string(j, "file", frame->file);
	if (frame->line)
		json__key_u64(j, "line", frame->line);
	json__object_end(j);
}

void json_stack__write(struct json *j, const struct stack *stack)
{
	json__key(j, "stack");
	if (!stack) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_bool(j, "truncated", stack->truncated);
	json__key_bool(j, "broken", stack->broken);
	json__key(j, "frames");
	json__array_begin(j);
	for (uint32_t i = 0; i < stack->count; i++)
		write_frame(j, &stack->frames[i]);
	json__array_end(j);
	json__object_end(j);
}
