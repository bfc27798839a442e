// SPDX-License-Identifier: BSD-2-Clause
// The user's own line in a stack, see user_line.h.
#include "model/user_line.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Whether what lies before `end` in the path ends with "/lib" or "/lib64". */
static bool ends_with_lib(const char *path, const char *end)
{
	size_t length = (size_t)(end - path);

	return (length >= 4 && !strncmp(end - 4, "/lib", 4)) || (length >= 6 && !strncmp(end - 6, "/lib64", 6));
}

/* ".../lib/python3.11/json/decoder.py", ".../lib64/python3/...": the version's directory below any lib. */
static bool is_of_python(const char *file)
{
	for (const char *at = strstr(file, "/python3"); at; at = strstr(at + 1, "/python3")) {
		const char *end = at + strlen("/python3");

		while (*end == '.' || isdigit((unsigned char)*end))
			end++;
		if (*end == '/' && ends_with_lib(file, at))
			return true;
	}
	return false;
}

/* Also "<frozen importlib._bootstrap>" and what was made from a text. */
static bool is_installed(const char *file)
{
	return *file == '<' || strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") || is_of_python(file);
}

static bool is_system_object(const char *object)
{
	static const char *const starts[] = {
		"ld-linux",
		"libc.so",
		"libc-",
		"libm.so",
		"libpthread",
		"libdl.so",
		"librt.so",
		"libstdc++",
		"libgcc_s",
		"libgomp",
		"libomp",
		"libcuda.",
		"libcudart",
		"libcublas",
		"libcudnn",
		"libcufft",
		"libcurand",
		"libcusolver",
		"libcusparse",
		"libnccl",
		"libnv",
		"libtorch",
		"libc10",
		"libpython",
		"[",
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (begins_with(object, starts[i]))
			return true;
	return false;
}

/* The innermost frame that `fits`, or stack->count. */
static uint32_t find(const struct stack *stack, bool (*fits)(const struct stack_frame *frame, const char *program),
		     const char *program)
{
	uint32_t i = 0;

	while (i < stack->count && !fits(&stack->frames[i], program))
		i++;
	return i;
}

static bool is_python(const struct stack_frame *frame, const char *program)
{
	(void)program;
	return frame->kind == FRAME_PYTHON && frame->function;
}

static bool is_users_python(const struct stack_frame *frame, const char *program)
{
	return is_python(frame, program) && frame->file && !is_installed(frame->file);
}

static bool is_of_program(const struct stack_frame *frame, const char *program)
{
	return frame->kind == FRAME_NATIVE && frame->object && program && !strcmp(frame->object, program);
}

static bool is_of_own_library(const struct stack_frame *frame, const char *program)
{
	(void)program;
	return frame->kind == FRAME_NATIVE && frame->object && !is_system_object(frame->object);
}

static bool has_name(const struct stack_frame *frame, const char *program)
{
	(void)program;
	return frame->kind != FRAME_MARK && (frame->function || frame->object);
}

uint32_t user_line__find(const struct stack *stack, const char *program)
{
	bool runs_python = find(stack, is_python, NULL) < stack->count;
	uint32_t found = find(stack, runs_python ? is_users_python : is_of_program, program);

	if (found == stack->count)
		found = find(stack, runs_python ? is_python : is_of_own_library, program);
	return found < stack->count ? found : find(stack, has_name, NULL);
}

uint32_t user_line__caller(const struct stack *stack, uint32_t i)
{
	const struct stack_frame *line = &stack->frames[i];

	for (i++; i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (line->kind == FRAME_PYTHON ? is_users_python(frame, NULL) : is_of_program(frame, line->object))
			return i;
	}
	return stack->count;
}
