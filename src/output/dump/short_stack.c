// SPDX-License-Identifier: BSD-2-Clause
// A stack on one line, see short_stack.h.
#include "output/dump/short_stack.h"

#include <inttypes.h>
#include <string.h>

#include "output/clip.h"
#include "output/frame_text.h"
#include "output/frameworks.h"

#define MOST_FRAMES 8
#define LINE_COLUMNS 160
#define NAME_COLUMNS 60
#define FILE_COLUMNS 30
/* " < at least 4294967295 more < [callers not found]"; longer numbers are not expected */
#define TAIL_COLUMNS 44
#define SEPARATOR " < "

/* The part of the stack that makes up a line. */
struct part {
	const struct stack *stack;
	size_t from, to;
	bool python; /* leave out native frames */
	bool own;    /* and Python frames of frameworks, except the innermost one */
	bool cut;    /* long names */
};

/* The parts of a frame's text. */
struct brief {
	const char *name;
	char address[40]; /* the name of a frame without one */
	const char *file; /* base name, or NULL */
	char line[16];
};

static bool has_python(const struct stack *stack, size_t from)
{
	for (size_t i = from; i < stack->count; i++)
		if (stack->frames[i].kind == FRAME_PYTHON)
			return true;
	return false;
}

bool short_stack__has_python(const struct stack *stack)
{
	return has_python(stack, 0);
}

/*
 * Whether the frame would print the same as the one before it: both have no function and are in the
 * same object.
 */
static bool repeats(const struct part *part, size_t i)
{
	const struct stack_frame *frame = &part->stack->frames[i], *before = frame - 1;

	return i > part->from && before->kind == FRAME_NATIVE && !frame->function &&
	       !before->function && frame->object && before->object &&
	       !strcmp(frame->object, before->object);
}

static bool is_own(const struct stack_frame *frame)
{
	struct framework_frame known;

	if (frame->kind != FRAME_PYTHON)
		return false;
	frameworks__classify(frame, true, &known);
	return known.role == ROLE_OWN;
}

static bool has_own(const struct stack *stack, size_t from)
{
	for (size_t i = from; i < stack->count; i++)
		if (is_own(&stack->frames[i]))
			return true;
	return false;
}

static bool is_innermost_python(const struct part *part, size_t i)
{
	for (size_t k = part->from; k < i; k++)
		if (part->stack->frames[k].kind == FRAME_PYTHON)
			return false;
	return true;
}

static bool is_shown(const struct part *part, size_t i)
{
	const struct stack_frame *frame = &part->stack->frames[i];

	if (frame->kind == FRAME_NATIVE)
		return !part->python && !repeats(part, i);
	if (frame->kind == FRAME_MARK || !part->own)
		return true;
	return is_own(frame) || is_innermost_python(part, i);
}

static void make_brief(struct brief *brief, const struct stack_frame *frame)
{
	*brief = (struct brief){.name = frame->function ? frame->function : frame->object};
	if (!brief->name) {
		snprintf(brief->address, sizeof(brief->address),
			 frame->kind == FRAME_PYTHON ? "[Python code 0x%" PRIx64 "]" : "0x%" PRIx64,
			 frame->offset);
		brief->name = brief->address;
	}
	if (!frame->file)
		return;
	brief->file = frame_text__base_name(frame->file);
	if (frame->line)
		snprintf(brief->line, sizeof(brief->line), ":%" PRIu32, frame->line);
}

static int brief_columns(const struct brief *brief, bool cut)
{
	int columns = clip__columns_of(brief->name, cut ? NAME_COLUMNS : CLIP_WHOLE);

	if (brief->file)
		columns += clip__columns_of(brief->file, cut ? FILE_COLUMNS : CLIP_WHOLE) +
			   (int)strlen(brief->line) + (int)strlen(" ()");
	return columns;
}

static void print_brief(FILE *out, const struct stack_frame *frame, bool cut)
{
	struct brief brief;

	make_brief(&brief, frame);
	clip__print(out, brief.name, cut ? NAME_COLUMNS : CLIP_WHOLE);
	if (!brief.file)
		return;
	fputs(" (", out);
	clip__print(out, brief.file, cut ? FILE_COLUMNS : CLIP_WHOLE);
	fprintf(out, "%s)", brief.line);
}

/* Index of the first frame that the line has no room for. A line has one frame at least. */
static size_t find_end(const struct part *part, int columns)
{
	size_t shown = 0, i = part->from;
	struct brief brief;

	for (; i < part->to; i++) {
		if (!is_shown(part, i))
			continue;
		make_brief(&brief, &part->stack->frames[i]);
		columns -= brief_columns(&brief, part->cut) + (shown ? (int)strlen(SEPARATOR) : 0);
		if (shown && (columns < 0 || shown == MOST_FRAMES))
			break;
		shown++;
	}
	return i;
}

/*
 * Prints how many frames the line leaves out, and the mark at the stack's end. If a mark is among
 * the frames left out, their number is a lower bound.
 */
static void print_tail(FILE *out, const struct part *part, size_t end)
{
	size_t last = part->to - 1, more = 0;
	bool marked = false;

	for (size_t i = end; i <= last; i++) {
		bool mark = part->stack->frames[i].kind == FRAME_MARK;

		more += !mark && is_shown(part, i);
		marked |= mark && i < last;
	}
	if (more || marked)
		fprintf(out, SEPARATOR "%s%zu more", marked ? "at least " : "", more);
	if (end <= last && part->stack->frames[last].kind == FRAME_MARK) {
		fputs(SEPARATOR, out);
		print_brief(out, &part->stack->frames[last], part->cut);
	}
}

void short_stack__print(FILE *out, const struct stack *stack, size_t from, size_t to, int indent,
			bool cut)
{
	const struct part part = {.stack = stack,
				  .from = from,
				  .to = to,
				  .python = has_python(stack, from),
				  .own = has_own(stack, from),
				  .cut = cut};
	const char *separator = "";
	size_t end;

	if (from >= to)
		return;
	end = find_end(&part, LINE_COLUMNS - indent);
	if (end < to)
		end = find_end(&part, LINE_COLUMNS - indent - TAIL_COLUMNS);
	fprintf(out, "%*s", indent, "");
	for (size_t i = from; i < end; i++) {
		if (!is_shown(&part, i))
			continue;
		fputs(separator, out);
		print_brief(out, &stack->frames[i], cut);
		separator = SEPARATOR;
	}
	print_tail(out, &part, end);
	fputc('\n', out);
}
