// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks in a few lines. Real ones are in tests/unit/golden/stacks: frames.tsv has the frames,
 * stacks.txt the stacks as numbers of frames, folded.txt the lines expected, which a person has
 * read; GOLDEN=write writes them anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/user_line.h"
#include "output/folded_stack.h"
#include "output/frame_text.h"
#include "rounds.h"

#define GOLDEN "tests/unit/golden/stacks/"
#define FRAMES_MAX 512
#define INDENT 16

/* --- real stacks --- */

static char *contents(const char *name)
{
	char path[128], *text = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), GOLDEN "%s", name);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(getdelim(&text, &size, '\0', file) >= 0);
	fclose(file);
	return text;
}

static const char *next_text(char **line)
{
	const char *text = strsep(line, "\t");

	return *text ? text : NULL;
}

/* Columns: kind, function, object, offset, file, line. The frames point into the text. */
static size_t read_frames(char *text, struct stack_frame *frames)
{
	size_t count = 0;

	for (char *line; (line = strsep(&text, "\n")) && *line; count++) {
		struct stack_frame *frame = &frames[count];
		const char *kind = next_text(&line), *offset;

		assert_true(count < FRAMES_MAX);
		*frame = (struct stack_frame){0};
		if (strcmp(kind, "native"))
			frame->kind = strcmp(kind, "mark") ? FRAME_PYTHON : FRAME_MARK;
		frame->function = next_text(&line);
		frame->object = next_text(&line);
		offset = next_text(&line);
		frame->offset = offset ? strtoull(offset, NULL, 16) : 0;
		frame->file = next_text(&line);
		frame->line = (uint32_t)atoi(line);
	}
	return count;
}

static size_t read_stack(char *numbers, const struct stack_frame *known, size_t known_count,
			 struct stack_frame *frames)
{
	size_t count = 0;

	for (char *number; (number = strsep(&numbers, " "));) {
		size_t which = strtoul(number, NULL, 10);

		assert_true(which < known_count && count < FRAMES_MAX);
		frames[count++] = known[which];
	}
	return count;
}

/* The index of the line that has the frame; the number of lines if none has it. */
static size_t line_of(const struct stack *stack, const struct stack_frame *frame)
{
	struct folded_line lines[FOLDED_LINES];
	size_t count = folded_stack__lines(stack, lines);

	for (size_t i = 0; i < count; i++)
		if (lines[i].kind == FOLDED_FRAME && &stack->frames[lines[i].first] == frame)
			return i;
	return count;
}

/* Each character has one column. */
static void assert_narrow(const char *text)
{
	size_t columns = 0;

	for (; *text; text++) {
		columns = *text == '\n' ? 0 : columns + ((*text & 0xc0) != 0x80);
		assert_in_range(columns, 0, FOLDED_COLUMNS);
	}
}

static char *print(const struct stack *stack, bool all_frames)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	folded_stack__print(out, stack, INDENT, all_frames);
	fclose(out);
	return text;
}

static void print_real(FILE *out, const struct stack *stack)
{
	const struct stack_frame *own = user_line__find(stack);
	struct folded_line lines[FOLDED_LINES];
	char *text = print(stack, false);

	assert_in_range(folded_stack__lines(stack, lines), 2, FOLDED_FRAMEWORK_LINES);
	if (own)
		assert_in_range(line_of(stack, own), 1, 2);
	assert_narrow(text);
	fputs(text, out);
	free(text);
}

static void real_stacks(void **state)
{
	char *frames_text = contents("frames.tsv"), *stacks_text = contents("stacks.txt");
	char *rest = stacks_text, *folded, *expected;
	struct stack_frame known[FRAMES_MAX], frames[FRAMES_MAX];
	size_t known_count = read_frames(frames_text, known), length;
	const char *mode = getenv("GOLDEN");
	FILE *out = open_memstream(&folded, &length);

	(void)state;
	for (char *title; (title = strsep(&rest, "\n")) && *title;) {
		struct stack stack = {.frames = frames};

		stack.count = (uint32_t)read_stack(strsep(&rest, "\n"), known, known_count, frames);
		stack.truncated = frames[stack.count - 1].kind == FRAME_MARK &&
				  !strcmp(frames[stack.count - 1].function, "[truncated]");
		fprintf(out, "%s, %u frames\n", title, stack.count);
		print_real(out, &stack);
	}
	fclose(out);
	if (mode && !strcmp(mode, "write")) {
		FILE *file = fopen(GOLDEN "folded.txt", "w");

		assert_non_null(file);
		fputs(folded, file);
		fclose(file);
	}
	expected = contents("folded.txt");
	assert_string_equal(folded, expected);
	free(expected);
	free(folded);
	free(stacks_text);
	free(frames_text);
}

/* --- made-up stacks --- */

#define PYTHON(name, path) \
	{ \
		.kind = FRAME_PYTHON, .function = (name), .file = (path), .line = 7 \
	}
#define NATIVE(name, file_name) \
	{ \
		.kind = FRAME_NATIVE, .function = (name), .object = (file_name), .offset = 1 \
	}
#define MARK(name) \
	{ \
		.kind = FRAME_MARK, .function = (name) \
	}
#define MALLOC NATIVE("cuMemAlloc_v2", "libcuda.so.1")
#define USER PYTHON("Model.step", "/home/user/train.py")
#define PACKAGES "/usr/lib/python3/dist-packages/"
#define EXPECT(expected, ...) \
	expect(expected, (const struct stack_frame[]){__VA_ARGS__}, \
	       sizeof((struct stack_frame[]){__VA_ARGS__}) / sizeof(struct stack_frame))
/* The line between the call and the user's line. */
#define EXPECT_RUN(expected, ...) \
	EXPECT("cuMemAlloc_v2+0x1 [libcuda.so.1]\n… " expected "\nModel.step (train.py:7)\n", \
	       MALLOC, __VA_ARGS__, USER)

static void expect(const char *expected, const struct stack_frame *frames, size_t count)
{
	const struct stack stack = {.count = (uint32_t)count, .frames = frames};
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	folded_stack__print(out, &stack, 0, false);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void a_short_stack_without_a_framework_is_as_it_is(void **state)
{
	(void)state;
	EXPECT("cuMemAlloc_v2+0x1 [libcuda.so.1]\n"
	       "Pool::grow+0x1 [libpool.so]\n"
	       "server+0x1\n"
	       "main+0x1 [server]\n"
	       "__libc_start_main+0x1 [libc.so.6]\n",
	       MALLOC, NATIVE("Pool::grow(unsigned long)", "libpool.so"), NATIVE(NULL, "server"),
	       NATIVE("main", "server"), NATIVE("__libc_start_main", "libc.so.6"));
	EXPECT("cuMemAlloc_v2+0x1 [libcuda.so.1]\n[callers not found]\n", MALLOC,
	       MARK("[callers not found]"));
}

static void of_pytorch(void **state)
{
	(void)state;
	EXPECT_RUN(
		"aten::add, 2 frames",
		NATIVE("c10::cuda::CUDACachingAllocator::Native::malloc(long)", "libc10_cuda.so"),
		NATIVE("at::_ops::add_Tensor::call(at::Tensor const&)", "libtorch_cpu.so"));
	EXPECT_RUN(
		"caching allocator, 1 frame",
		NATIVE("c10::cuda::CUDACachingAllocator::Native::malloc(long)", "libc10_cuda.so"));
	EXPECT_RUN("aten::relu, 3 frames", NATIVE(NULL, "libcudart.so.13"),
		   NATIVE("cudaLaunchKernel", "libcudart.so.13"),
		   NATIVE("at::_ops::relu::call()", "libtorch_cpu.so"));
	EXPECT_RUN("NCCL: ncclAllReduce in c10d::ProcessGroupNCCL::allreduce, 3 frames",
		   NATIVE(NULL, "libnccl.so.2"), NATIVE("ncclAllReduce", "libnccl.so.2"),
		   NATIVE("c10d::ProcessGroupNCCL::allreduce(std::vector<at::Tensor>&)",
			  "libtorch_cuda.so"));
	EXPECT_RUN("aten::batch_norm, 2 frames",
		   NATIVE("at::_ops::batch_norm::redispatch(int)", "libtorch_cpu.so"),
		   PYTHON("BatchNorm2d.forward", PACKAGES "torch/nn/modules/batchnorm.py"));
	EXPECT_RUN("aten::zeros_like in torch.optim.AdamW.step, 4 frames",
		   NATIVE("at::_ops::zeros_like::call()", "libtorch_cpu.so"),
		   PYTHON("AdamW._init_group", PACKAGES "torch/optim/adamw.py"),
		   PYTHON("AdamW.step", PACKAGES "torch/optim/adamw.py"),
		   PYTHON("Optimizer.profile_hook_step.<locals>.wrapper",
			  PACKAGES "torch/optim/optimizer.py"));
	EXPECT_RUN("torch.compile: run, 2 frames",
		   PYTHON("call", "/tmp/torchinductor_user/ab/cab.py"),
		   PYTHON("CompiledFxGraph.__call__", PACKAGES "torch/_inductor/output_code.py"));
	EXPECT_RUN("Triton: launch in triton.JITFunction.run, 3 frames",
		   NATIVE("launch", "__triton_launcher.cpython-312-x86_64-linux-gnu.so"),
		   PYTHON("CudaLauncher.__call__", PACKAGES "triton/backends/nvidia/driver.py"),
		   PYTHON("JITFunction.run", PACKAGES "triton/runtime/jit.py"));
}

static void of_other_frameworks(void **state)
{
	(void)state;
	EXPECT_RUN(
		"XLA: execute in JAX: jit dispatch, 4 frames",
		NATIVE("tsl::BFCAllocator::Extend(unsigned long)", "xla_cuda_plugin.so"),
		NATIVE("xla::PjRtStreamExecutorLoadedExecutable::Execute(int)",
		       "xla_cuda_plugin.so"),
		PYTHON("_python_pjit_helper", PACKAGES "jax/_src/pjit.py"),
		PYTHON("reraise_with_filtered_traceback", PACKAGES "jax/_src/traceback_util.py"));
	EXPECT_RUN("jax.device_put, 2 frames", NATIVE(NULL, "xla_cuda_plugin.so"),
		   PYTHON("device_put", PACKAGES "jax/_src/api.py"));
	EXPECT_RUN("TensorFlow: eager operation in tensorflow.matmul, 3 frames",
		   NATIVE("tensorflow::BFCAllocator::AllocateRaw(long)", "libtensorflow_cc.so.2"),
		   NATIVE("TFE_Py_FastPathExecute_C(_object*)", "_pywrap_tensorflow_internal.so"),
		   PYTHON("matmul", PACKAGES "tensorflow/python/ops/math_ops.py"));
	EXPECT_RUN("cupy.zeros, 2 frames",
		   NATIVE("__pyx_f_4cupy_4cuda_6memory_10MemoryPool_malloc",
			  "memory.cpython-312-x86_64-linux-gnu.so"),
		   PYTHON("zeros", PACKAGES "cupy/_creation/basic.py"));
	EXPECT_RUN("CuPy memory pool, 1 frame",
		   NATIVE("__pyx_f_4cupy_4cuda_6memory_10MemoryPool_malloc",
			  "memory.cpython-312-x86_64-linux-gnu.so"));
	EXPECT_RUN("cuDNN: cudnnConvolutionForward in keras.Layer.__call__, 2 frames",
		   NATIVE("cudnnConvolutionForward", "server"),
		   PYTHON("Layer.__call__", PACKAGES "keras/layer.py"));
}

static void a_library_of_no_table_is_named(void **state)
{
	(void)state;
	EXPECT_RUN("flash_attn: mha_fwd in vllm.Attention.forward, 2 frames",
		   NATIVE("mha_fwd(at::Tensor&)", "flash_attn.cpython-312-x86_64-linux-gnu.so"),
		   PYTHON("Attention.forward", "/venv/lib/python3.12/site-packages/vllm/a.py"));
	EXPECT_RUN("aten::relu, 2 frames", NATIVE("at::_ops::relu::call()", "libtorch_cpu.so"),
		   NATIVE(NULL, NULL));
	EXPECT_RUN("unknown code, 2 frames", NATIVE(NULL, NULL), NATIVE(NULL, "libtorch_cpu.so"));
	/* Without Python it is the program's own. */
	EXPECT("cuMemAlloc_v2+0x1 [libcuda.so.1]\n"
	       "… cuBLAS: cublasCreate_v2, 1 frame\n"
	       "Engine::start+0x1 [libengine.so]\n"
	       "main+0x1 [server]\n",
	       MALLOC, NATIVE("cublasCreate_v2", "libcublas.so.13"),
	       NATIVE("Engine::start()", "libengine.so"), NATIVE("main", "server"),
	       NATIVE("__libc_start_main", "libc.so.6"));
}

static void a_tensor_has_no_call_of_its_own(void **state)
{
	(void)state;
	EXPECT("… aten::add, 2 frames\nModel.step (train.py:7)\n",
	       NATIVE("c10::cuda::CUDACachingAllocator::Native::malloc(long)", "libc10_cuda.so"),
	       NATIVE("at::_ops::add_Tensor::call(at::Tensor const&)", "libtorch_cpu.so"), USER);
	EXPECT("… nn.Conv2d.forward, 2 frames\nModel.step (train.py:7)\n",
	       PYTHON("Conv2d._conv_forward", PACKAGES "torch/nn/modules/conv.py"),
	       PYTHON("Conv2d.forward", PACKAGES "torch/nn/modules/conv.py"), USER);
	EXPECT("… caching allocator, 1 frame\nModel.step (train.py:7)\n",
	       NATIVE("c10::cuda::CUDACachingAllocator::Native::malloc(long)", "libc10_cuda.so"),
	       USER);
}

static void only_the_interpreter_is_missing_after_the_script(void **state)
{
	(void)state;
	EXPECT("cuMemAlloc_v2+0x1 [libcuda.so.1]\n"
	       "Model.step (train.py:7)\n"
	       "<module> (train.py:7)\n",
	       MALLOC, USER, PYTHON("<module>", "/home/user/train.py"),
	       MARK("[callers not found]"));
}

static void frames_that_pass_a_call_on_have_no_line(void **state)
{
	(void)state;
	EXPECT("cuMemAlloc_v2+0x1 [libcuda.so.1]\n"
	       "… aten::empty, 1 frame\n"
	       "Model.step (train.py:7)\n"
	       "… transformers.Trainer.train, 2 frames\n"
	       "Model.step (train.py:7)\n"
	       "[callers not found]\n",
	       MALLOC, NATIVE("at::_ops::empty_memory_format::call()", "libtorch_cpu.so"), USER,
	       PYTHON("Module._call_impl", PACKAGES "torch/nn/modules/module.py"),
	       PYTHON("Trainer.train", PACKAGES "transformers/trainer.py"), USER,
	       PYTHON("Thread.run", "/usr/lib/python3.11/threading.py"),
	       NATIVE("start_thread", "libc.so.6"), MARK("[callers not found]"));
}

static void what_made_the_call_has_a_line_in_any_case(void **state)
{
	(void)state;
	EXPECT("cuMemAlloc_v2+0x1 [libcuda.so.1]\n"
	       "… ctypes, 2 frames\n"
	       "Model.step (train.py:7)\n"
	       "… transformers.Trainer.train, 1 frame\n"
	       "embed+0x1 [server]\n",
	       MALLOC, NATIVE(NULL, "libffi.so.8"), NATIVE(NULL, "_ctypes.cpython-312.so"), USER,
	       PYTHON("Trainer.train", PACKAGES "transformers/trainer.py"),
	       NATIVE("embed", "server"));
}

static void a_long_stack_is_cut_in_the_middle(void **state)
{
	struct stack_frame frames[4096];
	const struct stack stack = {.count = 4096, .frames = frames};
	struct folded_line lines[FOLDED_LINES];

	(void)state;
	for (size_t i = 0; i < 4096; i++)
		frames[i] = (struct stack_frame)NATIVE("f", "server");
	assert_int_equal(folded_stack__lines(&stack, lines), FOLDED_LINES);
	assert_int_equal(lines[FOLDED_LINES - 3].kind, FOLDED_REST);
	assert_int_equal(lines[FOLDED_LINES - 3].first, FOLDED_LINES - 3);
	assert_int_equal(lines[FOLDED_LINES - 3].count, 4096 - FOLDED_LINES + 1);
	assert_int_equal(lines[FOLDED_LINES - 1].first, 4095);
	/* Lines between the program's own go first. */
	for (size_t i = 1; i < 4096; i += 2)
		frames[i] = (struct stack_frame)PYTHON("run", PACKAGES "click/core.py");
	assert_int_equal(folded_stack__lines(&stack, lines), FOLDED_FRAMEWORK_LINES);
	for (size_t i = 2; i < FOLDED_FRAMEWORK_LINES; i++)
		assert_int_not_equal(lines[i].kind, FOLDED_RUN);
	assert_int_equal(lines[5].kind, FOLDED_REST);
	assert_int_equal(lines[5].first + lines[5].count, 4091);
	assert_int_equal(lines[6].first, 4092);
	assert_int_equal(lines[7].first, 4094);
}

static void long_and_hostile_names_stay_on_their_line(void **state)
{
	const size_t size = ROUNDS(1 << 16);
	char *name = malloc(size);
	struct stack_frame frames[] = {
		MALLOC,
		NATIVE(name, "libtorch_cpu.so"),
		PYTHON(name, PACKAGES "torch/a.py"),
		PYTHON(name, "/home/user/train.py"),
		PYTHON("main", name),
		NATIVE("a::b", name),
		NATIVE(NULL, name),
		MARK(name),
	};
	const struct stack stack = {.count = sizeof(frames) / sizeof(*frames), .frames = frames};
	char *text;

	(void)state;
	assert_non_null(name);
	for (int c = 1; c < 256; c++) {
		memset(name, c, size - 1);
		name[size - 1] = '\0';
		text = print(&stack, false);
		assert_narrow(text);
		for (const char *at = text; *at; at++)
			assert_true(*at == '\n' || (unsigned char)*at >= ' ');
		free(text);
	}
	free(name);
}

static void all_frames_are_as_frame_text_has_them(void **state)
{
	const struct stack_frame frames[] = {
		MALLOC, NATIVE("at::_ops::relu::call(at::Tensor const&)", "libtorch_cpu.so"), USER};
	const struct stack stack = {.count = 3, .frames = frames};
	char *text = print(&stack, true);

	(void)state;
	assert_string_equal(text, "                cuMemAlloc_v2+0x1 [libcuda.so.1]\n"
				  "                at::_ops::relu::call(at::Tensor const&)+0x1 "
				  "[libtorch_cpu.so]\n"
				  "                Model.step (train.py:7)\n");
	free(text);
	text = print(NULL, false);
	assert_string_equal(text, "                [stack not known]\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_stacks),
		cmocka_unit_test(a_short_stack_without_a_framework_is_as_it_is),
		cmocka_unit_test(of_pytorch),
		cmocka_unit_test(of_other_frameworks),
		cmocka_unit_test(a_library_of_no_table_is_named),
		cmocka_unit_test(a_tensor_has_no_call_of_its_own),
		cmocka_unit_test(only_the_interpreter_is_missing_after_the_script),
		cmocka_unit_test(frames_that_pass_a_call_on_have_no_line),
		cmocka_unit_test(what_made_the_call_has_a_line_in_any_case),
		cmocka_unit_test(a_long_stack_is_cut_in_the_middle),
		cmocka_unit_test(long_and_hostile_names_stay_on_their_line),
		cmocka_unit_test(all_frames_are_as_frame_text_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
