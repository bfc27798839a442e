// SPDX-License-Identifier: BSD-2-Clause
// Frames of stacks as text, see frame_text.h.
#include "output/frame_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"

const char *frame_text__base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Writes a text of the program. */
typedef void (*put_fn)(FILE *out, const char *text);

static void put_as_is(FILE *out, const char *text)
{
	fputs(text, out);
}

static void print_location(FILE *out, const struct stack_frame *frame, put_fn put)
{
	put(out, frame_text__base_name(frame->file));
	if (frame->line)
		fprintf(out, ":%" PRIu32, frame->line);
}

static void print_python(FILE *out, const struct stack_frame *frame, put_fn put)
{
	if (!frame->function) {
		fprintf(out, "[Python code 0x%" PRIx64 "]", frame->offset);
		return;
	}
	put(out, frame->function);
	if (!frame->file)
		return;
	fputs(" (", out);
	print_location(out, frame, put);
	fputc(')', out);
}

/* Without a function: the offset in its object, or the address. */
static void print_unknown(FILE *out, const struct stack_frame *frame, put_fn put)
{
	if (frame->object) {
		put(out, frame->object);
		fputc('+', out);
	}
	fprintf(out, "0x%" PRIx64, frame->offset);
}

/* "[vdso]" and "[jit]" already have brackets. */
static void print_object(FILE *out, const char *object, put_fn put)
{
	fputs(*object == '[' ? " " : " [", out);
	put(out, object);
	if (*object != '[')
		fputc(']', out);
}

static void print_native(FILE *out, const struct stack_frame *frame, put_fn put)
{
	if (frame->function) {
		put(out, frame->function);
		fprintf(out, "+0x%" PRIx64, frame->offset);
		if (frame->object)
			print_object(out, frame->object, put);
	} else {
		print_unknown(out, frame, put);
	}
	if (!frame->file)
		return;
	fputc(' ', out);
	print_location(out, frame, put);
}

static void print(FILE *out, const struct stack_frame *frame, put_fn put)
{
	if (frame->kind == FRAME_PYTHON)
		print_python(out, frame, put);
	else if (frame->kind == FRAME_MARK)
		put(out, frame->function);
	else
		print_native(out, frame, put);
}

void frame_text__print(FILE *out, const struct stack_frame *frame)
{
	print(out, frame, escape__text);
}

void frame_text__print_as_is(FILE *out, const struct stack_frame *frame)
{
	print(out, frame, put_as_is);
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
		print_unknown(out, frame, escape__text);
	else
		frame_text__print(out, frame);
}
