// SPDX-License-Identifier: BSD-2-Clause
// Frames of stacks as text, see frame_text.h.
#include "output/frame_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"

/* The end of a path; the whole of what is none. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void print_place(FILE *out, const struct stack_frame *frame)
{
	escape__text(out, base_name(frame->file));
	if (frame->line)
		fprintf(out, ":%" PRIu32, frame->line);
}

static void print_python(FILE *out, const struct stack_frame *frame)
{
	if (!frame->function) {
		fprintf(out, "[Python code 0x%" PRIx64 "]", frame->offset);
		return;
	}
	escape__text(out, frame->function);
	if (!frame->file)
		return;
	fputs(" (", out);
	print_place(out, frame);
	fputc(')', out);
}

/* Of no function: where it is in its object, or the address. */
static void print_unknown(FILE *out, const struct stack_frame *frame)
{
	if (frame->object) {
		escape__text(out, frame->object);
		fputc('+', out);
	}
	fprintf(out, "0x%" PRIx64, frame->offset);
}

/* "[vdso]" and "[jit]" have brackets already. */
static void print_object(FILE *out, const char *object)
{
	fputs(*object == '[' ? " " : " [", out);
	escape__text(out, object);
	if (*object != '[')
		fputc(']', out);
}

static void print_native(FILE *out, const struct stack_frame *frame)
{
	if (frame->function) {
		escape__text(out, frame->function);
		fprintf(out, "+0x%" PRIx64, frame->offset);
		if (frame->object)
			print_object(out, frame->object);
	} else {
		print_unknown(out, frame);
	}
	if (!frame->file)
		return;
	fputc(' ', out);
	print_place(out, frame);
}

void frame_text__print(FILE *out, const struct stack_frame *frame)
{
	if (frame->kind == FRAME_PYTHON)
		print_python(out, frame);
	else if (frame->kind == FRAME_MARK)
		escape__text(out, frame->function);
	else
		print_native(out, frame);
}

void frame_text__print_stack(FILE *out, const struct stack *stack, int indent)
{
	if (!stack) {
		fprintf(out, "%*s[stack not known]\n", indent, "");
		return;
	}
	for (uint32_t i = 0; i < stack->count; i++) {
		fprintf(out, "%*s", indent, "");
		frame_text__print(out, &stack->frames[i]);
		fputc('\n', out);
	}
}

void frame_text__print_label(FILE *out, const struct stack_frame *frame)
{
	if (frame->kind == FRAME_NATIVE && frame->function)
		escape__text(out, frame->function);
	else if (frame->kind == FRAME_NATIVE)
		print_unknown(out, frame);
	else
		frame_text__print(out, frame);
}
