/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions, processes and lines of a trace built by hand, for the tests of its output: every kind
 * of line, every format of a value, and names that a hostile program might have.
 */
#ifndef TESTS_TRACE_LINES_H
#define TESTS_TRACE_LINES_H

#include <string.h>

#include "api/api.h"
#include "trace/function.h"

#define BEGIN_NS 5000000000000ull
#define AT_US(us) (BEGIN_NS + (us)*1000ull)
#define KERNEL_NAME_LENGTH 4096
#define LINES 37

/* Replaces the table's functions: the test decides what they are. */
struct trace_function {
	const char *symbol;
	enum layer layer;
	enum operation operation;
	enum trace_returns returns;
};

const char *trace_function__symbol(const struct trace_function *function)
{
	return function->symbol;
}

enum layer trace_function__layer(const struct trace_function *function)
{
	return function->layer;
}

enum operation trace_function__operation(const struct trace_function *function)
{
	return function->operation;
}

enum trace_returns trace_function__returns(const struct trace_function *function)
{
	return function->returns;
}

const char *trace_function__result_name(const struct trace_function *function, int32_t result)
{
	return api__error_name(function->layer, result);
}

static const struct trace_function cuda_malloc = {"cudaMalloc", LAYER_RUNTIME, OP_ALLOC,
						  TRACE_RETURNS_ERROR};
static const struct trace_function cuda_memcpy = {"cudaMemcpy", LAYER_RUNTIME, OP_COPY,
						  TRACE_RETURNS_ERROR};
static const struct trace_function memcpy_async = {"cudaMemcpyAsync", LAYER_RUNTIME, OP_COPY,
						   TRACE_RETURNS_ERROR};
static const struct trace_function launch = {"cudaLaunchKernel", LAYER_RUNTIME, OP_LAUNCH,
					     TRACE_RETURNS_ERROR};
static const struct trace_function driver_launch = {"cuLaunchKernel", LAYER_DRIVER, OP_LAUNCH,
						    TRACE_RETURNS_ERROR};
static const struct trace_function synchronize = {"cudaStreamSynchronize", LAYER_RUNTIME, OP_WAIT,
						  TRACE_RETURNS_ERROR};
static const struct trace_function query = {"cudaEventQuery", LAYER_RUNTIME, OP_QUERY,
					    TRACE_RETURNS_ERROR};
static const struct trace_function get_module = {"cuModuleGetFunction", LAYER_DRIVER, OP_GET_KERNEL,
						 TRACE_RETURNS_ERROR};
static const struct trace_function error_string = {"cudaGetErrorString", LAYER_RUNTIME, OP_NONE,
						   TRACE_RETURNS_VALUE};
static const struct trace_function nothing = {"cudaProfilerNothing", LAYER_RUNTIME, OP_NONE,
					      TRACE_RETURNS_NOTHING};
static const struct trace_function hostile = {"cu\033[2J\"new\\", LAYER_DRIVER, OP_NONE,
					      TRACE_RETURNS_ERROR};

static const struct trace_process application = {
	.number = 1,
	.pid = 12345,
	.parent = 12000,
	.uid = 1000,
	.comm = "my_cuda_app",
	.cgroup = "/user.slice/app\t1.scope",
};
static const struct trace_process escaping = {
	.number = 2, .pid = 2, .comm = "a\tb\n\033[31m\"\\\r"};
/*
 * The comm fills its array: no NUL. It hashes to the same slot of a 64-entry cache as the previous
 * one.
 */
static const struct trace_process bytes = {
	.number = 66,
	.pid = 3,
	.comm = {'\xc3', '\xa9', '\xe4', '\xb8', '\xad', '\xff', '\xfe', '\xc2', '\x9b', '\x7f',
		 '\xe2', '\x80', '\xae', 'x', 'y', '\xe4'},
};
static const struct trace_process note = {.number = 4, .pid = 4, .comm = "# lost 9"};

/* clang-format off */
#define UNSIGNED(name_, role_, value) {.name = (name_), .form = FORM_UNSIGNED, .role = (role_), .number = (value)}
#define ADDRESS(name_, role_, value) {.name = (name_), .form = FORM_ADDRESS, .role = (role_), .number = (value)}
#define WORD(name_, role_, text_) {.name = (name_), .form = FORM_WORD, .role = (role_), .text = (text_)}
#define DIMS(name_, role_, x, y, z) {.name = (name_), .form = FORM_DIM3, .role = (role_), .dims = {x, y, z}}
#define TEXT(name_, text_) {.name = (name_), .form = FORM_TEXT, .text = (text_), .length = sizeof(text_) - 1}
/* clang-format on */
#define CALL(function_, process_, us, ns) \
	.function = &(function_), .process = &(process_), .tid = (process_).pid, \
	.start_ns = AT_US(us), .duration_ns = (ns)
#define SHAPE \
	.field_count = 4, \
	.fields = {DIMS("grid", TRACE_GRID, 4096, 1, 1), DIMS("block", TRACE_BLOCK, 256, 1, 1), \
		   UNSIGNED("shmem", TRACE_SHMEM, 0), ADDRESS("stream", TRACE_STREAM, 0)}
#define STREAM(value) .field_count = 1, .fields = {ADDRESS("stream", TRACE_STREAM, value)}

/* The first frame is the called function. */
static const struct stack_frame frames[] = {
	{.function = "cuLaunchKernel", .object = "libcuda.so.1"},
	{.object = "a.out", .offset = 0x1136},
	{.object = "lib;\n\"x\".so", .offset = 0x34},
	{.offset = ~0ull},
	{.kind = FRAME_PYTHON, .function = "forward", .file = "/home/a/model.py", .line = 123},
};
static const struct stack long_stack = {.serial = 1, .count = 5, .frames = frames};
static const struct stack short_stack = {.serial = 257, .count = 2, .frames = frames};
static const struct stack no_frames = {.serial = 3, .count = 1, .frames = frames};
static const uint64_t argument_words[] = {0x7f8b00000000, 0, ~0ull};

/* The first four are the example in the table. */
static void build_first_lines(struct trace_line *line)
{
	*line++ = (struct trace_line){
		CALL(cuda_malloc, application, 1234018, 412100),
		.field_count = 2,
		.fields = {UNSIGNED("size", TRACE_SIZE, 1048576),
			   ADDRESS("ptr", TRACE_PTR, 0x7f8b00000000)},
	};
	*line++ = (struct trace_line){
		CALL(cuda_memcpy, application, 1235101, 368000),
		.field_count = 4,
		.fields = {ADDRESS("dst", TRACE_DST, 0x7f8b00000000),
			   ADDRESS("src", TRACE_SRC, 0x55d0c0),
			   UNSIGNED("size", TRACE_SIZE, 1048576), WORD("kind", TRACE_KIND, "H2D")},
	};
	*line++ = (struct trace_line){CALL(launch, application, 1240440, 5200), .kernel = "vadd",
				      SHAPE};
	*line++ = (struct trace_line){
		CALL(cuda_malloc, application, 1240900, 18300),
		.result = 2,
		.failed = true,
		.field_count = 1,
		.fields = {UNSIGNED("size", TRACE_SIZE, 1125899906842624)},
	};
	*line++ = (struct trace_line){
		CALL(driver_launch, application, 1241000, 890),
		.depth = 1,
		.kernel = "vadd",
		.kernel_label = "vadd<int, 4>",
		.device = 4,
		.kernel_full = "_Z4vaddIiLi4EEvv",
		.kernel_location = "a.out+0x1234",
		.stack = &long_stack,
		.field_count = 5,
		.fields =
			{
				DIMS("grid", TRACE_GRID, 4294967295, 65535, 65535),
				DIMS("block", TRACE_BLOCK, 1, 2, 3),
				UNSIGNED("shmem", TRACE_SHMEM, 49152),
				ADDRESS("stream", TRACE_STREAM, 0x5581a0),
				{.name = "args",
				 .form = FORM_WORDS,
				 .role = TRACE_ARGS,
				 .length = 3,
				 .words = argument_words},
			},
	};
	*line++ = (struct trace_line){CALL(driver_launch, application, 1241001, 999), .depth = 2,
				      .stack = &short_stack, SHAPE};
}

static void build_kinds(struct trace_line *line)
{
	*line++ = (struct trace_line){CALL(synchronize, application, 1242000, 0),
				      .kind = LINE_ENTRY, .stack = &no_frames, STREAM(0)};
	*line++ = (struct trace_line){CALL(synchronize, application, 1243000, 1000000),
				      .kind = LINE_RETURN, STREAM(0)};
	*line++ =
		(struct trace_line){CALL(synchronize, application, 1243100, 1000),
				    .kind = LINE_RETURN, .result = 700, .failed = true, STREAM(1)};
	*line++ = (struct trace_line){CALL(error_string, application, 1243200, 40),
				      .kind = LINE_RETURN, .result = 0x7f0012345678};
	*line++ = (struct trace_line){CALL(nothing, application, 1243300, 40), .kind = LINE_RETURN};
	*line++ = (struct trace_line){CALL(synchronize, application, 1244000, 1049999000),
				      .kind = LINE_IN_PROGRESS, STREAM(0x5581a0)};
	*line++ = (struct trace_line){CALL(synchronize, application, 3244000, 2000000000),
				      .kind = LINE_RESUMED, .depth = 1, STREAM(0x5581a0)};
	*line++ = (struct trace_line){CALL(synchronize, application, 3245000, 61000000000),
				      .kind = LINE_UNFINISHED, STREAM(0x5581a0)};
	*line++ = (struct trace_line){
		.kind = LINE_LOST,
		.start_ns = AT_US(3246000),
		.lost = 1203,
		.reason = TRACE_LOST_RING,
	};
	*line++ = (struct trace_line){
		.kind = LINE_LOST,
		.start_ns = AT_US(3246001),
		.lost = 1,
		.reason = TRACE_LOST_DEPTH,
	};
	*line++ = (struct trace_line){
		.kind = LINE_LOST,
		.start_ns = AT_US(3246002),
		.lost = 5,
		.reason = TRACE_LOST_RETURN,
	};
	*line++ = (struct trace_line){
		.kind = LINE_LOST,
		.start_ns = AT_US(3246003),
		.lost = 3,
		.reason = TRACE_LOST_STACK,
	};
	*line++ = (struct trace_line){CALL(error_string, application, 3246100, 40),
				      .result = 0xffffffffffffffff};
	*line++ = (struct trace_line){CALL(nothing, application, 3246200, 40)};
	*line++ = (struct trace_line){CALL(query, application, 3246300, 999949), .result = 600};
	*line++ = (struct trace_line){CALL(query, application, 3246400, 999950), .result = 12345,
				      .failed = true};
}

static const char *long_kernel(void)
{
	static char name[KERNEL_NAME_LENGTH + 1];

	for (size_t i = 0; i < KERNEL_NAME_LENGTH; i++)
		name[i] = (char)('a' + i % 26);
	return name;
}

static void build_hostile_names(struct trace_line *line)
{
	*line++ = (struct trace_line){CALL(query, escaping, 3247000, 1)};
	*line++ = (struct trace_line){CALL(query, bytes, 3247001, 1)};
	*line++ = (struct trace_line){CALL(query, note, 3247002, 1)};
	*line++ = (struct trace_line){CALL(query, escaping, 3247003, 1)};
	*line++ = (struct trace_line){CALL(hostile, application, 3247004, 1)};
	*line++ = (struct trace_line){CALL(launch, application, 3247005, 5200),
				      .kernel = long_kernel(), SHAPE};
	*line++ = (struct trace_line){
		CALL(launch, application, 3247006, 5200),
		SHAPE,
		.kernel = "k\033]0;"
			  "x\007\"q\"\\\t\xe2\x80\xae\xff\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4"
			  "\xb8\xad",
	};
	*line++ = (struct trace_line){CALL(launch, application, 3247007, 5200),
				      .kernel_full = "_Z1kv", SHAPE};
}

static void build_forms(struct trace_line *line)
{
	*line++ = (struct trace_line){
		CALL(get_module, application, 3248000, 123456789012),
		.field_count = 3,
		.fields = {TEXT("name", "a\"b\\c\n\0\x1b[0m\x80z\xc3\xa9;"),
			   {.name = "log",
			    .form = FORM_TEXT,
			    .text = "cut\xe4\xb8\xad",
			    .length = 4,
			    .cut = true},
			   {.name = "image", .form = FORM_UNREADABLE, .number = 0xdead000}},
	};
	*line++ = (struct trace_line){
		CALL(get_module, application, 3248001, 0),
		.field_count = 8,
		.fields =
			{{.name = "i", .form = FORM_SIGNED, .number = (uint64_t)INT64_MIN},
			 {.name = "ms", .form = FORM_REAL, .real = 0.1},
			 {.name = "bad", .form = FORM_REAL, .real = __builtin_nan("")},
			 {.name = "x", .form = FORM_UNKNOWN},
			 {.name = "flags", .form = FORM_FLAGS, .number = 3},
			 {.name = "handle", .form = FORM_BYTES, .text = "\0\xff\x10", .length = 3},
			 {.name = "none", .form = FORM_WORDS, .length = 0},
			 ADDRESS("null", TRACE_NO_ROLE, 0)},
	};
	*line++ = (struct trace_line){
		CALL(cuda_memcpy, application, 3248002, 1000),
		.field_count = 2,
		.fields = {{.name = "dst", .form = FORM_UNREADABLE, .role = TRACE_DST, .number = 8},
			   UNSIGNED("size", TRACE_SIZE, UINT64_MAX)},
	};
	*line++ = (struct trace_line){
		CALL(memcpy_async, application, 3248003, 1000),
		.field_count = 2,
		.fields = {UNSIGNED("size", TRACE_SIZE, 4096), ADDRESS("stream", TRACE_STREAM, 2)},
	};
	*line++ = (struct trace_line){
		CALL(cuda_memcpy, application, 3248004, 1000),
		.result = 1,
		.failed = true,
		.field_count = 1,
		.fields = {UNSIGNED("size", TRACE_SIZE, 4096)},
	};
	/* A call that began before the trace did. */
	*line++ = (struct trace_line){CALL(query, application, 0, 1)};
	line[-1].start_ns = BEGIN_NS - 1234567;
	*line++ = (struct trace_line){CALL(synchronize, application, 3248005, 0),
				      .kind = LINE_BEFORE, .stack = &short_stack};
}

static inline void build_lines(struct trace_line lines[LINES])
{
	build_first_lines(lines);
	build_kinds(lines + 6);
	build_hostile_names(lines + 22);
	build_forms(lines + 30);
	/* In the rows above, device N is written as N + 1, and none as 0. */
	for (size_t i = 0; i < LINES; i++)
		lines[i].device--;
}

#endif
