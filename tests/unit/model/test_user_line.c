// SPDX-License-Identifier: BSD-2-Clause
// Which line of a stack belongs to the user's code.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/user_line.h"

#define PYTHON(name, path) \
	{ \
		.kind = FRAME_PYTHON, .function = name, .file = path, .line = 1 \
	}
#define NATIVE(name, file_name) \
	{ \
		.kind = FRAME_NATIVE, .function = name, .object = file_name \
	}
#define MARK \
	{ \
		.kind = FRAME_MARK, .function = "[truncated]" \
	}
#define FIND(...) \
	find((const struct stack_frame[]){__VA_ARGS__}, \
	     sizeof((struct stack_frame[]){__VA_ARGS__}) / sizeof(struct stack_frame))

/* Index of that frame; -1: none. */
static long find(const struct stack_frame *frames, size_t count)
{
	const struct stack stack = {.count = (uint32_t)count, .frames = frames};
	const struct stack_frame *line = user_line__find(&stack);

	return line ? line - frames : -1;
}

static void of_python(void **state)
{
	static const char *const installed[] = {
		"/usr/lib/python3.11/threading.py",
		"/usr/lib64/python3.9/queue.py",
		"/opt/conda/lib/python3.12/site-packages/torch/nn/modules/module.py",
		"/usr/lib/python3/dist-packages/numpy/core.py",
		"/home/user/.local/lib/python3.10/json/decoder.py",
		"<frozen importlib._bootstrap>",
		"<string>",
		"/tmp/torchinductor_user/ab/cabcdef.py",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(installed) / sizeof(*installed); i++)
		assert_int_equal(FIND(NATIVE("futex", "libc.so.6"), PYTHON("wait", installed[i]),
				      PYTHON("fetch", "/home/user/train.py"),
				      PYTHON("<module>", "/home/user/train.py")),
				 2);
}

static void own_folders_may_have_names_alike(void **state)
{
	static const char *const own[] = {"/home/user/python3/train.py",
					  "/data/python3.11-port/a.py",
					  "/srv/libpython3/a.py",
					  "a/python3/a.py",
					  "/mylib/python3/a.py",
					  "train.py",
					  "/python3/a.py",
					  "<stdin>",
					  "<ipython-input-3-0123456789ab>"};

	(void)state;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		assert_int_equal(
			FIND(PYTHON("step", own[i]), PYTHON("main", "/home/user/other.py")), 0);
}

/* A library's own thread runs no user code. */
static void of_libraries_alone(void **state)
{
	(void)state;
	assert_int_equal(FIND(NATIVE("read", "libc.so.6"),
			      PYTHON("run", "/usr/lib/python3.11/threading.py"),
			      PYTHON("start", "/usr/lib/python3.11/threading.py"),
			      NATIVE("main", "python3.11")),
			 -1);
	assert_int_equal(FIND(NATIVE("clone3", "libc.so.6"), NATIVE("run", "libc10_cuda.so")), -1);
	assert_null(user_line__find(NULL));
}

static void of_native_code(void **state)
{
	(void)state;
	assert_int_equal(FIND(NATIVE("memcpy", "libc.so.6"), NATIVE("pack", "libmine.so"),
			      NATIVE("step", "app"), NATIVE("main", "app")),
			 2);
	assert_int_equal(
		FIND(NATIVE(NULL, "app"), NATIVE("clock", "[vdso]"), NATIVE("main", "app")), 2);
	assert_int_equal(FIND(MARK), -1);
	/* Python frames take precedence over their callers. */
	assert_int_equal(
		FIND(NATIVE("eval", "app"), PYTHON("step", "/a/train.py"), NATIVE("main", "app")),
		1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_python),
		cmocka_unit_test(own_folders_may_have_names_alike),
		cmocka_unit_test(of_libraries_alone),
		cmocka_unit_test(of_native_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
