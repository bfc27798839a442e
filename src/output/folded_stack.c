// SPDX-License-Identifier: BSD-2-Clause
// Stacks in a few lines, see folded_stack.h.
#include "output/folded_stack.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "model/user_line.h"
#include "output/clip.h"
#include "output/frame_text.h"
#include "output/frameworks.h"
#include "symbol/qualified_name.h"

/* Lines at the end that stay if there are too many. */
#define LAST_LINES 2
/* The line of the program's innermost frame, after the call and what made it. */
#define OWN_LINE 2
/* columns of a line and of a name in it, however little room there is */
#define LEAST_COLUMNS 40
#define LEAST_NAME 8
#define NAME_SIZE 512

/* --- which frames have a line --- */

/* The lines so far. `most` is the limit. */
struct lines {
	struct folded_line *at;
	size_t count, most;
};

/* Removes a line of a framework between the program's own frames. Returns whether there is one. */
static bool drop_run(struct lines *lines)
{
	size_t at = OWN_LINE;

	while (at < lines->count && lines->at[at].kind != FOLDED_RUN)
		at++;
	if (at == lines->count)
		return false;
	lines->count--;
	memmove(&lines->at[at], &lines->at[at + 1], (lines->count - at) * sizeof(*lines->at));
	return true;
}

/* Joins the two lines before the last ones. */
static void join(struct lines *lines)
{
	struct folded_line *rest = &lines->at[lines->most - LAST_LINES - 1];
	size_t after = lines->count - (size_t)(rest - lines->at) - 2;

	rest->kind = FOLDED_REST;
	rest->count = rest[1].first + rest[1].count - rest->first;
	memmove(rest + 1, rest + 2, after * sizeof(*rest));
	lines->count--;
}

static void add(struct lines *lines, enum folded_kind kind, uint32_t first, uint32_t count)
{
	bool full = lines->count == lines->most;

	if (full && kind == FOLDED_RUN)
		return;
	if (full && !drop_run(lines))
		join(lines);
	lines->at[lines->count++] =
		(struct folded_line){.kind = kind, .first = first, .count = count};
}

/* Whether user_line.h finds a Python line: native libraries are then not the program's own. */
static bool is_python(const struct stack *stack)
{
	const struct stack_frame *line = user_line__find(stack);

	return line && line->kind == FRAME_PYTHON;
}

/*
 * The call itself stays. A tensor has none: its first frame is the framework's allocator or, where
 * the stack has Python frames alone, a Python function.
 */
static bool is_folded(const struct stack *stack, uint32_t i, const struct framework_frame *known)
{
	if (i || known->role == ROLE_ALLOCATOR)
		return known->role != ROLE_OWN;
	return known->role != ROLE_OWN && stack->frames[i].kind == FRAME_PYTHON;
}

static bool has_framework(const struct stack *stack, bool python)
{
	struct framework_frame known;

	for (uint32_t i = 0; i < stack->count; i++) {
		frameworks__classify(&stack->frames[i], python, &known);
		if (known.foreign && (i || is_folded(stack, i, &known)))
			return true;
	}
	return false;
}

static size_t list_frames(uint32_t count, struct folded_line *lines)
{
	for (uint32_t i = 0; i < count; i++)
		lines[i] = (struct folded_line){.kind = FOLDED_FRAME, .first = i, .count = 1};
	return count;
}

/* Adds a line for the frames before `end` that have none, if it says something. */
static void end_run(struct lines *lines, uint32_t first, uint32_t end, enum framework_role most)
{
	/* The call's own line is followed by what made the call, in any case. */
	if (first < end && (most > ROLE_GLUE || (first == 1 && lines->count == 1)))
		add(lines, FOLDED_RUN, first, end - first);
}

/*
 * Without the mark that callers are missing, where the script's own `<module>` is before it: the
 * program's frames are whole, and only those of the interpreter are missing.
 */
static uint32_t count_shown(const struct stack *stack)
{
	const struct stack_frame *last;

	if (stack->count < 2 || stack->truncated)
		return stack->count;
	last = &stack->frames[stack->count - 2];
	if (last[1].kind != FRAME_MARK || last->kind != FRAME_PYTHON || !last->function ||
	    strcmp(last->function, "<module>"))
		return stack->count;
	return stack->count - 1;
}

size_t folded_stack__lines(const struct stack *stack, struct folded_line lines[FOLDED_LINES])
{
	bool python = is_python(stack), framework = has_framework(stack, python);
	struct lines list = {.at = lines,
			     .most = framework ? FOLDED_FRAMEWORK_LINES : FOLDED_LINES};
	enum framework_role most = ROLE_OWN;
	struct framework_frame known;
	uint32_t first = 0, count = count_shown(stack);

	if (!framework && count <= FOLDED_LINES)
		return list_frames(count, lines);
	for (uint32_t i = 0; i < count; i++) {
		frameworks__classify(&stack->frames[i], python, &known);
		if (is_folded(stack, i, &known)) {
			most = known.role > most ? known.role : most;
			continue;
		}
		end_run(&list, first, i, most);
		add(&list, FOLDED_FRAME, i, 1);
		first = i + 1;
		most = ROLE_OWN;
	}
	end_run(&list, first, count, most);
	return list.count;
}

size_t folded_stack__own_line(const struct stack *stack, const struct folded_line *lines,
			      size_t count)
{
	const struct stack_frame *own = user_line__find(stack);
	size_t i = 0;

	while (i < count &&
	       !(own && lines[i].kind == FOLDED_FRAME && &stack->frames[lines[i].first] == own))
		i++;
	return i;
}

/* --- what a line says --- */

/* Like strstr, ignoring case and underscores: "BatchNorm2d.forward" has "batch_norm". */
static bool has_word(const char *text, const char *word)
{
	for (; *text; text++) {
		const char *t = text, *w = word;

		while (*(w += strspn(w, "_")) && *(t += strspn(t, "_")) &&
		       tolower((unsigned char)*t) == tolower((unsigned char)*w)) {
			t++;
			w++;
		}
		if (!*w)
			return true;
	}
	return false;
}

/* The outermost frame of each role in a run of frames. */
struct run {
	struct framework_frame of[FRAMEWORK_ROLES];
};

static void look_at(const struct stack *stack, const struct folded_line *line, struct run *run)
{
	bool python = is_python(stack);
	struct framework_frame known;

	for (uint32_t i = line->first; i < line->first + line->count; i++) {
		frameworks__classify(&stack->frames[i], python, &known);
		/* "cuBLAS: cublasCreate_v2" rather than "cuBLAS" */
		if (known.exact || !run->of[known.role].exact ||
		    strncmp(known.name, run->of[known.role].name, strlen(known.name)))
			run->of[known.role] = known;
	}
}

/*
 * Chooses at most two names, inner first: the library, the operation, and the Python function
 * unless it only repeats the operation. What is inside of an operation stands for it. Returns their
 * number.
 */
static size_t choose_names(const struct run *run, const char *names[2])
{
	const char *operation = run->of[ROLE_OPERATION].name, *api = run->of[ROLE_API].name;
	const struct framework_frame *inner = &run->of[ROLE_INNER];
	const char *colon = strrchr(operation, ':');
	size_t count = 0;

	if (*run->of[ROLE_LIBRARY].name)
		names[count++] = run->of[ROLE_LIBRARY].name;
	if (*operation)
		names[count++] = operation;
	else if (*inner->name && !(*api && (count || !inner->exact)))
		names[count++] = inner->name;
	if (count < 2 && *api && !(colon && has_word(api, colon + 1)))
		names[count++] = api;
	for (int role = ROLE_ALLOCATOR; !count && role > ROLE_OWN; role--)
		if (*run->of[role].name)
			names[count++] = run->of[role].name;
	return count;
}

static void print_names(FILE *out, const char *names[2], size_t count, int columns)
{
	int each = columns;

	if (count == 2) {
		columns -= (int)strlen(" in ");
		if (clip__columns(names[0]) + clip__columns(names[1]) > columns)
			each = columns / 2;
	}
	for (size_t i = 0; i < count; i++) {
		fputs(i ? " in " : "", out);
		clip__print(out, names[i], each > LEAST_NAME ? each : LEAST_NAME);
	}
}

/* "… cuBLAS: cublasCreate_v2 in aten::linear, 28 frames" */
static void print_run(FILE *out, const struct stack *stack, const struct folded_line *line,
		      int columns)
{
	struct run run = {0};
	const char *names[2];
	char tail[32];
	size_t count;

	look_at(stack, line, &run);
	count = choose_names(&run, names);
	columns -= snprintf(tail, sizeof(tail), "%s%" PRIu32 " frame%s", count ? ", " : "",
			    line->count, line->count == 1 ? "" : "s") +
		   (int)strlen("* ");
	fputs("… ", out);
	print_names(out, names, count, columns);
	fputs(tail, out);
}

/*
 * What follows the frame's function: "+0x41 [server] cache.cc:88", " (model.py:123)". Without a
 * function, the whole frame. malloc; NULL if out of memory.
 */
static char *tail_of(const struct stack_frame *frame)
{
	struct stack_frame tail = *frame;
	size_t length = 0;
	char *text = NULL;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return NULL;
	if (frame->function)
		tail.function = "";
	frame_text__print_as_is(out, &tail);
	fclose(out);
	return text;
}

/* Prints a frame. If it is too long, its function is cut, and then the rest if it is long too. */
static void print_frame(FILE *out, const struct stack_frame *frame, int columns)
{
	char function[NAME_SIZE] = "", *tail = tail_of(frame);
	int room;

	if (frame->function && frame->kind == FRAME_NATIVE)
		qualified_name__write(frame->function, function, sizeof(function));
	else if (frame->function)
		snprintf(function, sizeof(function), "%s", frame->function);
	room = columns - clip__columns(tail);
	room = room > columns / 2 ? room : columns / 2;
	clip__print(out, function, room);
	if (tail)
		clip__print(out, tail, columns - clip__columns_of(function, room));
	free(tail);
}

void folded_stack__print_line(FILE *out, const struct stack *stack, const struct folded_line *line,
			      int columns)
{
	columns = columns > LEAST_COLUMNS ? columns : LEAST_COLUMNS;
	switch (line->kind) {
	case FOLDED_FRAME: print_frame(out, &stack->frames[line->first], columns); break;
	case FOLDED_RUN: print_run(out, stack, line, columns); break;
	case FOLDED_REST: fprintf(out, "… %" PRIu32 " more frames", line->count); break;
	}
}

void folded_stack__print(FILE *out, const struct stack *stack, int indent, bool all_frames)
{
	struct folded_line lines[FOLDED_LINES];
	size_t count;

	if (all_frames || !stack) {
		frame_text__print_stack(out, stack, indent);
		return;
	}
	count = folded_stack__lines(stack, lines);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%*s", indent, "");
		folded_stack__print_line(out, stack, &lines[i], FOLDED_COLUMNS - indent);
		fputc('\n', out);
	}
}
