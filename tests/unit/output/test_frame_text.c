// SPDX-License-Identifier: BSD-2-Clause
// Frames of stacks as text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/frame_text.h"

typedef void (*print_fn)(FILE *out, const struct stack_frame *frame);

static void assert_printed(print_fn print, struct stack_frame frame, const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print(out, &frame);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

#define FRAME(expected, ...) \
	assert_printed(frame_text__print, (struct stack_frame){__VA_ARGS__}, expected)
#define LABEL(expected, ...) \
	assert_printed(frame_text__print_label, (struct stack_frame){__VA_ARGS__}, expected)

static void native_frames(void **state)
{
	(void)state;
	FRAME("grow_cache(Cache&, unsigned long)+0x41 [server] cache.cc:88",
	      .function = "grow_cache(Cache&, unsigned long)", .offset = 0x41, .object = "server",
	      .file = "/home/a/src/cache.cc", .line = 88);
	FRAME("malloc+0x1b [libc.so.6]", .function = "malloc", .offset = 0x1b,
	      .object = "libc.so.6");
	FRAME("server+0x1234", .object = "server", .offset = 0x1234);
	FRAME("server+0x1234 cache.cc:88", .object = "server", .offset = 0x1234, .file = "cache.cc",
	      .line = 88);
	FRAME("0x7f0012345678", .offset = 0x7f0012345678);
	FRAME("__vdso_time+0x5 [vdso]", .function = "__vdso_time", .offset = 5, .object = "[vdso]");
	FRAME("LazyCompile:~f+0x0 [jit]", .function = "LazyCompile:~f", .object = "[jit]");
	FRAME("f+0x1 [a] b.c", .function = "f", .offset = 1, .object = "a", .file = "b.c");
	FRAME("f+0x1 [a] /", .function = "f", .offset = 1, .object = "a", .file = "/");
	FRAME("f+0x1", .function = "f", .offset = 1);
	FRAME("[truncated]", .kind = FRAME_MARK, .function = "[truncated]");
}

static void python_frames(void **state)
{
	(void)state;
	FRAME("forward (model.py:123)", .kind = FRAME_PYTHON, .function = "forward",
	      .file = "/a/model.py", .line = 123);
	FRAME("forward (model.py)", .kind = FRAME_PYTHON, .function = "forward",
	      .file = "/a/model.py");
	FRAME("<module> (<string>:1)", .kind = FRAME_PYTHON, .function = "<module>",
	      .file = "<string>", .line = 1);
	FRAME("größe (é.py:3)", .kind = FRAME_PYTHON, .function = "größe", .file = "é.py",
	      .line = 3);
	FRAME("[Python code 0x7f00]", .kind = FRAME_PYTHON, .offset = 0x7f00);
}

static void what_a_flame_graph_calls_them(void **state)
{
	(void)state;
	LABEL("f(int)", .function = "f(int)", .offset = 0x41, .object = "server", .file = "/a/b.c",
	      .line = 8);
	LABEL("server+0x1234", .object = "server", .offset = 0x1234, .file = "b.c", .line = 2);
	LABEL("0x1234", .offset = 0x1234);
	LABEL("forward (model.py:123)", .kind = FRAME_PYTHON, .function = "forward",
	      .file = "/a/model.py", .line = 123);
	LABEL("[truncated]", .kind = FRAME_MARK, .function = "[truncated]");
	LABEL("a\\nb", .function = "a\nb");
}

static void nothing_gets_through_to_the_terminal(void **state)
{
	(void)state;
	FRAME("a\\x1b[2J\\nb+0x0 [o\\tb\\\\j] f\\xff.c:1", .function = "a\033[2J\nb",
	      .object = "o\tb\\j", .file = "d/f\377.c", .line = 1);
	FRAME("o\\rb+0x2", .object = "o\rb", .offset = 2);
	FRAME("f\\n (m\\n.py:1)", .kind = FRAME_PYTHON, .function = "f\n", .file = "m\n.py",
	      .line = 1);
	FRAME("\\x1b", .kind = FRAME_MARK, .function = "\033");
}

static void assert_stack(const struct stack *stack, int indent, const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	frame_text__print_stack(out, stack, indent);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void stacks(void **state)
{
	const struct stack_frame frames[] = {
		{.function = "cudaMalloc", .object = "libcudart.so.13"},
		{.kind = FRAME_PYTHON, .function = "f", .file = "a.py", .line = 2},
		{.kind = FRAME_MARK, .function = "[truncated]"},
	};

	(void)state;
	assert_stack(&(struct stack){.count = 3, .frames = frames, .truncated = true}, 4,
		     "    cudaMalloc+0x0 [libcudart.so.13]\n    f (a.py:2)\n    [truncated]\n");
	assert_stack(&(struct stack){.count = 1, .frames = frames}, 0,
		     "cudaMalloc+0x0 [libcudart.so.13]\n");
	assert_stack(&(struct stack){0}, 2, "");
	assert_stack(NULL, 2, "  [stack not known]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(native_frames),
		cmocka_unit_test(python_frames),
		cmocka_unit_test(what_a_flame_graph_calls_them),
		cmocka_unit_test(nothing_gets_through_to_the_terminal),
		cmocka_unit_test(stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
