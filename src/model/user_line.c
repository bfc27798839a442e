// SPDX-License-Identifier: BSD-2-Clause
// The user's own line in a stack, see user_line.h.
#include "model/user_line.h"

#include <ctype.h>
#include <string.h>

/* Whether the path up to `end` ends with "/lib" or "/lib64". */
static bool ends_with_lib(const char *path, const char *end)
{
	size_t length = (size_t)(end - path);

	return (length >= 4 && !strncmp(end - 4, "/lib", 4)) ||
	       (length >= 6 && !strncmp(end - 6, "/lib64", 6));
}

/*
 * ".../lib/python3.11/json/decoder.py", ".../lib64/python3/...": the version's directory below any
 * lib directory.
 */
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

bool user_line__is_installed(const char *file)
{
	if (*file == '<') /* neither typed at Python's prompt nor in a notebook */
		return strcmp(file, "<stdin>") && strncmp(file, "<ipython-input", 14);
	return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
	       strstr(file, "/torchinductor_") || is_of_python(file);
}

bool user_line__is_own(const struct stack_frame *frame)
{
	if (frame->kind == FRAME_PYTHON)
		return frame->file && !user_line__is_installed(frame->file);
	return frame->kind == FRAME_NATIVE && frame->object && *frame->object != '[' &&
	       !strstr(frame->object, ".so") && strncmp(frame->object, "python", 6) &&
	       frame->function;
}

/*
 * Python lines take precedence: native frames in a Python program belong to the interpreter or a
 * library.
 */
const struct stack_frame *user_line__find(const struct stack *stack)
{
	const struct stack_frame *native = NULL;

	for (uint32_t i = 0; stack && i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		if (!user_line__is_own(frame))
			continue;
		if (frame->kind == FRAME_PYTHON)
			return frame;
		if (!native)
			native = frame;
	}
	return native;
}
