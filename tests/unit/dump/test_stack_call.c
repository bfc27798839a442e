// SPDX-License-Identifier: BSD-2-Clause
// The CUDA call in which a stack is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dump/call.h"

#define NATIVE(name, file) \
	{ \
		.kind = FRAME_NATIVE, .function = (name), .object = (file) \
	}
#define PYTHON(name) \
	{ \
		.kind = FRAME_PYTHON, .function = (name), .file = "train.py", .line = 1 \
	}

static void assert_same(const char *found, const char *expected)
{
	if (!expected)
		assert_null(found);
	else
		assert_string_equal(found ? found : "none", expected);
}

static void check(const struct stack_frame *frames, uint32_t count, const char *function,
		  const char *by, size_t beyond)
{
	const struct stack stack = {.count = count, .frames = frames};
	struct stack_call call = stack_call__of(&stack);

	assert_same(call.function, function);
	assert_same(call.by, by);
	assert_int_equal(call.beyond, beyond);
}

#define CHECK(function, by, beyond, ...) \
	do { \
		const struct stack_frame frames[] = {__VA_ARGS__}; \
\
		check(frames, sizeof(frames) / sizeof(*frames), function, by, beyond); \
	} while (0)

static void cuda_alone(void **state)
{
	(void)state;
	CHECK("cudaEventSynchronize", NULL, 4, NATIVE("poll", "libc.so.6"),
	      NATIVE(NULL, "libcuda.so.1"), NATIVE("cuEventSynchronize", "libcuda.so.1"),
	      NATIVE("cudaEventSynchronize", "libcudart.so.13"), NATIVE("wait", "train"),
	      NATIVE("main", "train"));
	CHECK("cuCtxSynchronize", NULL, 2, NATIVE(NULL, "libcuda.so.580.65"),
	      NATIVE("cuCtxSynchronize", "libcuda.so.580.65"), PYTHON("step"));
	CHECK(NULL, NULL, 1, NATIVE("poll", "libc.so.6"), NATIVE("main", "train"));
	CHECK(NULL, NULL, 0, PYTHON("step"));
	check(NULL, 0, NULL, NULL, 0);
}

/*
 * C library frames between CUDA frames are part of the call; a thread of the driver itself is in no
 * call.
 */
static void between(void **state)
{
	(void)state;
	CHECK("cudaMalloc", NULL, 5, NATIVE("ioctl", "libc.so.6"), NATIVE("cuInit", "libcuda.so.1"),
	      NATIVE("__pthread_once_slow", "libc.so.6"), NATIVE(NULL, "libcudart.so.12"),
	      NATIVE("cudaMalloc", "libcudart.so.12"), NATIVE("main", "train"));
	CHECK(NULL, NULL, 1, NATIVE("poll", "libc.so.6"), NATIVE(NULL, "libcuda.so.1"),
	      NATIVE("start_thread", "libc.so.6"));
	/* A callback of the program: the innermost call counts. */
	CHECK("cudaMemcpy", NULL, 2, NATIVE(NULL, "libcuda.so.1"),
	      NATIVE("cudaMemcpy", "libcudart.so.12"), NATIVE("callback", "train"),
	      NATIVE("cuLaunchHostFunc", "libcuda.so.1"), NATIVE("main", "train"));
}

/*
 * The runtime is inside the program: the table knows its functions, and its internal ones are
 * recognised by how they begin.
 */
static void inside(void **state)
{
	(void)state;
	CHECK("cudaStreamSynchronize", NULL, 3, NATIVE("cuStreamSynchronize", "libcuda.so.1"),
	      NATIVE("libcudart_static_0123", "train"), NATIVE("cudaStreamSynchronize", "train"),
	      NATIVE("main", "train"));
	/* A function of the program with the same name. */
	CHECK(NULL, NULL, 0, NATIVE("cuWait", "train"), NATIVE("main", "train"));
	/* A library function that the table does not know yet. */
	CHECK("cudaNewThing", NULL, 1, NATIVE("cudaNewThing", "libcudart.so.14"),
	      NATIVE("main", "train"));
}

/* Where the program's own frames begin. */
static void ends(void **state)
{
	const struct stack_frame whole[] = {NATIVE("poll", "libc.so.6"), NATIVE("main", "train"),
					    NATIVE("__libc_start_main_impl", "libc.so.6"),
					    NATIVE("_start", "train")};
	const struct stack_frame cut[] = {NATIVE("main", "train"),
					  NATIVE("start_thread", "libc.so.6"),
					  {.kind = FRAME_MARK, .function = "[truncated]"}};
	const struct stack_frame nothing[] = {NATIVE("poll", "libc.so.6"),
					      NATIVE("start_thread", "libc.so.6")};
	const struct stack stacks[] = {{.count = 4, .frames = whole},
				       {.count = 3, .frames = cut},
				       {.count = 2, .frames = nothing}};

	(void)state;
	assert_int_equal(stack_call__of(&stacks[0]).beyond, 1);
	assert_int_equal(stack_call__of(&stacks[0]).ends, 2);
	assert_int_equal(stack_call__of(&stacks[1]).ends, 3);
	assert_int_equal(stack_call__of(&stacks[2]).beyond, 0);
	assert_int_equal(stack_call__of(&stacks[2]).ends, 1);
}

static void libraries(void **state)
{
	(void)state;
	CHECK("cudaLaunchKernelExC", "ncclAllReduce", 3,
	      NATIVE("cudaLaunchKernelExC", "libcudart.so.12"),
	      NATIVE("ncclLaunchKernel(ncclComm*)", "libnccl.so.2"),
	      NATIVE("ncclAllReduce", "libnccl.so.2"),
	      NATIVE("c10d::all_reduce()", "libtorch_cuda.so"));
	CHECK(NULL, "ncclCommInitRank", 2, NATIVE("recv", "libc.so.6"),
	      NATIVE("ncclCommInitRank", "libnccl.so.2"), PYTHON("init"));
	CHECK("cuLaunchKernel", "cublasGemmEx", 3, NATIVE("cuLaunchKernel", "libcuda.so.1"),
	      NATIVE("cublasLtMatmul", "libcublasLt.so.12"),
	      NATIVE("cublasGemmEx", "libcublas.so.12"), NATIVE("gemm", "libtorch_cuda.so"));
	/* Names with the same first letters do not count. */
	CHECK(NULL, NULL, 0, NATIVE("ncclassify", "libnccl.so.2"), NATIVE("main", "train"));
}

static void objects_with_calls(void **state)
{
	(void)state;
	assert_true(stack_call__may_be_in("libcuda.so.580.159.03"));
	assert_true(stack_call__may_be_in("libcudart.so.13"));
	assert_true(stack_call__may_be_in("libnccl.so.2"));
	assert_true(stack_call__may_be_in("train")); /* maybe with the runtime inside */
	assert_false(stack_call__may_be_in("libtorch_cpu.so"));
	assert_false(stack_call__may_be_in("libc.so.6"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuda_alone), cmocka_unit_test(between),
		cmocka_unit_test(inside),     cmocka_unit_test(ends),
		cmocka_unit_test(libraries),  cmocka_unit_test(objects_with_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
