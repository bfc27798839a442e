// SPDX-License-Identifier: BSD-2-Clause
// Frames of frameworks and libraries in stacks, see frameworks.h.
#include "output/frameworks.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "model/user_line.h"
#include "symbol/qualified_name.h"

#define FUNCTION_SIZE 512

/* How a frame is named. */
enum naming {
	LABEL,	   /* by the label alone */
	FUNCTION,  /* label and function: "cuBLAS: cublasCreate_v2" */
	COMPONENT, /* label and the last but one: "aten::" and at::_ops::conv2d::call */
};

/* The first row that matches applies. NULL matches any text, and if it is unknown. */
struct row {
	const char *function; /* fnmatch(3) pattern; C++: with namespaces, without arguments */
	const char *file; /* pattern of a native frame's object; part of a Python frame's path */
	enum framework_role role;
	enum naming naming;
	const char *label;
};

/* clang-format off */
static const struct row native_rows[] = {
	/* NVIDIA's libraries, also linked statically */
	{"cublasLt[A-Z]*", NULL, ROLE_LIBRARY, FUNCTION, "cuBLASLt: "},
	{NULL, "libcublasLt.*", ROLE_LIBRARY, FUNCTION, "cuBLASLt: "},
	{"cublas[A-Z]*", NULL, ROLE_LIBRARY, FUNCTION, "cuBLAS: "},
	{NULL, "libcublas.*", ROLE_LIBRARY, FUNCTION, "cuBLAS: "},
	{"cudnn[A-Z]*", NULL, ROLE_LIBRARY, FUNCTION, "cuDNN: "},
	{"cudnn_frontend::*", NULL, ROLE_LIBRARY, LABEL, "cuDNN"},
	{NULL, "libcudnn*", ROLE_LIBRARY, FUNCTION, "cuDNN: "},
	{"nccl[A-Z]*", NULL, ROLE_LIBRARY, FUNCTION, "NCCL: "},
	{NULL, "libnccl*", ROLE_LIBRARY, FUNCTION, "NCCL: "},
	{NULL, "libcufft*", ROLE_LIBRARY, FUNCTION, "cuFFT: "},
	{NULL, "libcusparse*", ROLE_LIBRARY, FUNCTION, "cuSPARSE: "},
	{NULL, "libcusolver*", ROLE_LIBRARY, FUNCTION, "cuSOLVER: "},
	{NULL, "libcurand*", ROLE_LIBRARY, FUNCTION, "cuRAND: "},
	{NULL, "libcutensor*", ROLE_LIBRARY, FUNCTION, "cuTENSOR: "},
	{NULL, "libnvrtc*", ROLE_LIBRARY, FUNCTION, "NVRTC: "},
	{NULL, "libnvJitLink*", ROLE_LIBRARY, FUNCTION, "nvJitLink: "},
	{NULL, "libnvshmem*", ROLE_LIBRARY, FUNCTION, "NVSHMEM: "},
	{NULL, "libnvinfer*", ROLE_LIBRARY, FUNCTION, "TensorRT: "},
	{NULL, "libonnxruntime*", ROLE_LIBRARY, FUNCTION, "ONNX Runtime: "},
	{NULL, "libcupti*", ROLE_LIBRARY, FUNCTION, "CUPTI: "},

	/* PyTorch */
	{"at::_ops::to_dtype*", NULL, ROLE_OPERATION, LABEL, "aten::to"},
	{"at::_ops::to_device*", NULL, ROLE_OPERATION, LABEL, "aten::to"},
	{"at::_ops::empty_memory_format::*", NULL, ROLE_OPERATION, LABEL, "aten::empty"},
	{"at::_ops::*::call", NULL, ROLE_OPERATION, COMPONENT, "aten::"},
	{"at::_ops::*::redispatch", NULL, ROLE_OPERATION, COMPONENT, "aten::"},
	{"torch::autograd::PyNode::apply", NULL, ROLE_OPERATION, LABEL,
	 "autograd engine: Python function"},
	{"torch::autograd::*::apply", NULL, ROLE_OPERATION, COMPONENT, "autograd engine: "},
	{"torch::autograd::*Engine::*", NULL, ROLE_INNER, LABEL, "autograd engine"},
	{"torch::autograd::Node::*", NULL, ROLE_INNER, LABEL, "autograd engine"},
	{"torch::nn::*", NULL, ROLE_API, FUNCTION, ""},
	{"torch::optim::*", NULL, ROLE_API, FUNCTION, ""},
	{"torch::jit::*", NULL, ROLE_INNER, LABEL, "TorchScript"},
	{"torch::inductor::*", NULL, ROLE_INNER, LABEL, "torch.compile"},
	{"c10d::*", NULL, ROLE_OPERATION, FUNCTION, ""},
	{"c10::cuda::CUDACachingAllocator::*", NULL, ROLE_ALLOCATOR, LABEL, "caching allocator"},
	{"c10::*CachingAllocator*", NULL, ROLE_ALLOCATOR, LABEL, "caching allocator"},
	{"at::cuda::setWorkspaceForHandle", NULL, ROLE_LIBRARY, LABEL, "cuBLAS workspace"},
	{"at::native::run_conv_plan", NULL, ROLE_LIBRARY, LABEL, "cuDNN"},
	{"at::*wrapper_*", NULL, ROLE_GLUE, LABEL, "PyTorch dispatcher"},
	{"at::redispatch::*", NULL, ROLE_GLUE, LABEL, "PyTorch dispatcher"},
	{"at::_ops::*", NULL, ROLE_GLUE, LABEL, "PyTorch dispatcher"},
	{"at::*", NULL, ROLE_INNER, FUNCTION, ""},
	{"c10::*", NULL, ROLE_GLUE, LABEL, "PyTorch dispatcher"},
	{"torch::*", NULL, ROLE_GLUE, LABEL, "PyTorch"},
	{NULL, "libtorch*", ROLE_GLUE, LABEL, "PyTorch"},
	{NULL, "libc10*", ROLE_GLUE, LABEL, "PyTorch"},

	/* JAX and TensorFlow, which share XLA */
	{"tsl::*BFC*", NULL, ROLE_ALLOCATOR, LABEL, "BFC allocator"},
	{"xla::*Allocator::*", NULL, ROLE_ALLOCATOR, LABEL, "XLA allocator"},
	{"stream_executor::*Alloc*", NULL, ROLE_ALLOCATOR, LABEL, "XLA allocator"},
	{"stream_executor::*", NULL, ROLE_INNER, FUNCTION, ""},
	{"xla::*Compile*", NULL, ROLE_LIBRARY, LABEL, "XLA: compile"},
	{"xla::*Execut*", NULL, ROLE_LIBRARY, LABEL, "XLA: execute"},
	{"xla::*BufferFrom*", NULL, ROLE_LIBRARY, LABEL, "XLA: copy to the device"},
	{"*::PjitFunction::*", NULL, ROLE_OPERATION, LABEL, "JAX: jit dispatch"},
	{"tensorflow::*Allocator*", NULL, ROLE_ALLOCATOR, LABEL, "BFC allocator"},
	{"tensorflow::*Eager*", NULL, ROLE_OPERATION, LABEL, "TensorFlow: eager operation"},
	{"TFE_*", NULL, ROLE_OPERATION, LABEL, "TensorFlow: eager operation"},
	{"tensorflow::*Executor*", NULL, ROLE_OPERATION, LABEL, "TensorFlow: graph executor"},
	{"tensorflow::*Compute*", NULL, ROLE_INNER, FUNCTION, ""},
	{"tensorflow::*", NULL, ROLE_GLUE, LABEL, "TensorFlow"},
	{"xla::*", NULL, ROLE_GLUE, LABEL, "XLA"},
	{"tsl::*", NULL, ROLE_GLUE, LABEL, "XLA"},
	{"jax::*", NULL, ROLE_GLUE, LABEL, "JAX"},
	{"mlir::*", NULL, ROLE_GLUE, LABEL, "MLIR"},
	{NULL, "libtensorflow*", ROLE_GLUE, LABEL, "TensorFlow"},
	{NULL, "_pywrap_tensorflow*", ROLE_GLUE, LABEL, "TensorFlow"},
	{NULL, "libjax*", ROLE_GLUE, LABEL, "JAX"},
	{NULL, "_jax.*", ROLE_GLUE, LABEL, "JAX"},
	{NULL, "xla_extension*", ROLE_GLUE, LABEL, "XLA"},
	{NULL, "xla_cuda*", ROLE_GLUE, LABEL, "XLA"},

	/* CuPy (Cython mangles its names) and Triton */
	{"*4cupy*memory*", NULL, ROLE_ALLOCATOR, LABEL, "CuPy memory pool"},
	{"*4cupy*", NULL, ROLE_INNER, LABEL, "CuPy"},
	{NULL, "__triton_launcher*", ROLE_LIBRARY, LABEL, "Triton: launch"},
	{NULL, "libtriton*", ROLE_LIBRARY, LABEL, "Triton: compile"},

	{0},
};

/* What is no framework: a stack of the program and of these alone needs no folding. */
static const struct row native_runtime_rows[] = {
	{NULL, "libcudart.*", ROLE_INNER, FUNCTION, "CUDA runtime: "},
	{NULL, "libcuda.*", ROLE_INNER, FUNCTION, "CUDA driver: "},
	{"absl::*", NULL, ROLE_GLUE, LABEL, "Abseil"},
	{"Eigen::*", NULL, ROLE_GLUE, LABEL, "Eigen"},
	{"pybind11::*", NULL, ROLE_GLUE, LABEL, "Python binding"},
	{"nanobind::*", NULL, ROLE_GLUE, LABEL, "Python binding"},
	{NULL, "libffi*", ROLE_GLUE, LABEL, "ctypes"},
	{NULL, "_ctypes.*", ROLE_GLUE, LABEL, "ctypes"},
	{NULL, "libpython*", ROLE_GLUE, LABEL, "Python interpreter"},
	{NULL, "python*", ROLE_GLUE, LABEL, "Python interpreter"},
	{"std::*", NULL, ROLE_GLUE, LABEL, "C++ runtime"},
	{NULL, "libstdc++.*", ROLE_GLUE, LABEL, "C++ runtime"},
	{NULL, "libc++*", ROLE_GLUE, LABEL, "C++ runtime"},
	{NULL, "libgcc_s.*", ROLE_GLUE, LABEL, "C++ runtime"},
	{NULL, "lib[gi]omp*", ROLE_GLUE, LABEL, "OpenMP"},
	{NULL, "libomp*", ROLE_GLUE, LABEL, "OpenMP"},
	{NULL, "libtbb*", ROLE_GLUE, LABEL, "TBB"},
	{NULL, "libc.so*", ROLE_GLUE, LABEL, "C library"},
	{NULL, "libc-*.so", ROLE_GLUE, LABEL, "C library"},
	{NULL, "libc.musl*", ROLE_GLUE, LABEL, "C library"},
	{NULL, "libpthread*", ROLE_GLUE, LABEL, "C library"},
	{NULL, "ld-*", ROLE_GLUE, LABEL, "C library"},
	{NULL, "[[]vdso]", ROLE_GLUE, LABEL, "kernel"},
	{"_start", NULL, ROLE_GLUE, LABEL, "C library"},
	{0},
};

/* For installed files. Before version 3.11 Python does not record a method's class. */
static const struct row python_rows[] = {
	{"*_call_impl", "/torch/nn/modules/module.py", ROLE_GLUE, LABEL, "nn.Module call"},
	{"forward", "/torch/nn/modules/", ROLE_GLUE, LABEL, "nn.Module call"},
	{NULL, "/torch/nn/modules/", ROLE_API, FUNCTION, "nn."},
	{NULL, "/torch/nn/parallel/", ROLE_API, FUNCTION, "nn."},
	{NULL, "/torch/nn/functional.py", ROLE_API, FUNCTION, "nn.functional."},
	{NULL, "/torch/nn/utils/", ROLE_API, FUNCTION, "nn.utils."},
	{"*wrapper", "/torch/optim/", ROLE_GLUE, LABEL, "torch.optim"},
	{"*_use_grad", "/torch/optim/", ROLE_GLUE, LABEL, "torch.optim"},
	{NULL, "/torch/optim/", ROLE_API, FUNCTION, "torch.optim."},
	{NULL, "/torch/utils/_contextlib.py", ROLE_GLUE, LABEL, "PyTorch"},
	{NULL, "/torch/autograd/", ROLE_GLUE, LABEL, "autograd engine"},
	{NULL, "/torch/amp/", ROLE_GLUE, LABEL, "autocast"},
	{NULL, "/torch/_ops.py", ROLE_GLUE, LABEL, "PyTorch dispatcher"},
	{NULL, "/torch/_dynamo/convert_frame.py", ROLE_OPERATION, LABEL, "torch.compile: compile"},
	{NULL, "/torch/_inductor/", ROLE_OPERATION, LABEL, "torch.compile: run"},
	{NULL, "/torchinductor_", ROLE_OPERATION, LABEL, "torch.compile: run"},
	{NULL, "/torch/_dynamo/", ROLE_GLUE, LABEL, "torch.compile"},
	{NULL, "/torch/_functorch/", ROLE_GLUE, LABEL, "torch.compile"},
	{"<module>", "/torch/distributed/", ROLE_GLUE, LABEL, "torchrun"},

	{NULL, "/jax/_src/pjit.py", ROLE_OPERATION, LABEL, "JAX: jit dispatch"},
	{NULL, "/jax/_src/compiler.py", ROLE_LIBRARY, LABEL, "XLA: compile"},
	{NULL, "/jax/_src/traceback_util.py", ROLE_GLUE, LABEL, "JAX"},
	{NULL, "/jax/_src/profiler.py", ROLE_GLUE, LABEL, "JAX"},

	{NULL, "/tensorflow/python/eager/polymorphic_function/", ROLE_OPERATION, LABEL,
	 "TensorFlow: tf.function"},
	{NULL, "/tensorflow/python/eager/", ROLE_OPERATION, LABEL,
	 "TensorFlow: eager operation"},
	{"*error_handler", "/traceback_utils.py", ROLE_GLUE, LABEL, "TensorFlow"},

	{NULL, "/triton/compiler/", ROLE_LIBRARY, LABEL, "Triton: compile"},
	{NULL, "/triton/backends/", ROLE_LIBRARY, LABEL, "Triton: launch"},

	{0},
};

static const struct row python_runtime_rows[] = {
	{"<module>", "<string>", ROLE_OWN, LABEL, ""}, /* python -c */
	{NULL, "<frozen importlib", ROLE_GLUE, LABEL, "import"},
	{NULL, "<frozen runpy>", ROLE_GLUE, LABEL, "Python"},
	{"*_bootstrap*", "/threading.py", ROLE_GLUE, LABEL, "Python thread"},
	{"*run", "/threading.py", ROLE_GLUE, LABEL, "Python thread"},
	{NULL, "/concurrent/futures/", ROLE_GLUE, LABEL, "Python executor"},
	{NULL, "/multiprocessing/process.py", ROLE_GLUE, LABEL, "Python process"},
	{NULL, "/multiprocessing/popen_", ROLE_GLUE, LABEL, "Python process"},
	{NULL, "/multiprocessing/spawn.py", ROLE_GLUE, LABEL, "Python process"},
	{NULL, "/multiprocessing/context.py", ROLE_GLUE, LABEL, "Python process"},
	{NULL, "/contextlib.py", ROLE_GLUE, LABEL, "Python"},
	{NULL, "/functools.py", ROLE_GLUE, LABEL, "Python"},
	{0},
};
/* clang-format on */

/* fnmatch takes its time, and most patterns begin with a letter. */
static bool matches(const char *pattern, const char *text)
{
	if (!pattern)
		return true;
	return text && (*text == *pattern || strchr("*[", *pattern)) && !fnmatch(pattern, text, 0);
}

static bool is_native(const struct row *row, const char *function, const char *object)
{
	return matches(row->function, function) && matches(row->file, object);
}

static bool is_python(const struct row *row, const char *function, const char *file)
{
	return strstr(file, row->file) && matches(row->function, function);
}

/* Writes the name. Without a function (NULL) the label loses its separator. */
static void name(struct framework_frame *known, const char *label, const char *function)
{
	size_t length = strlen(label);

	known->exact = function;
	while (!function && length && strchr(":. ", label[length - 1]))
		length--;
	snprintf(known->name, sizeof(known->name), "%.*s%s", (int)length, label,
		 function ? function : "");
}

/* "conv2d" of "at::_ops::conv2d::call", "add" of "at::_ops::add_Tensor::call", an overload. */
static void name_component(struct framework_frame *known, const char *label, const char *function)
{
	const char *end = function + strlen(function), *start;
	char component[FRAMEWORK_NAME_SIZE];

	while (end > function && strncmp(end, "::", 2))
		end--;
	start = end;
	while (start > function && start[-1] != ':')
		start--;
	snprintf(component, sizeof(component), "%.*s", (int)(end - start), start);
	for (char *at = component; strstr(label, "::") && *at; at++)
		if (at[0] == '_' && at[1] >= 'A' && at[1] <= 'Z')
			*at = '\0';
	name(known, label, component);
}

/* Applies the first row that matches. Returns whether there is one. */
static bool apply(struct framework_frame *known, const struct row *row, const char *function,
		  const char *file,
		  bool (*is)(const struct row *row, const char *function, const char *file))
{
	while (row->label && !is(row, function, file))
		row++;
	if (!row->label)
		return false;
	known->role = row->role;
	if (row->naming == COMPONENT && function)
		name_component(known, row->label, function);
	else
		name(known, row->label, row->naming == FUNCTION ? function : NULL);
	return true;
}

/* "flash_attn: mha_fwd" of flash_attn.cpython-312-x86_64-linux-gnu.so, which is in no table. */
static void apply_library(struct framework_frame *known, const struct stack_frame *frame,
			  const char *function)
{
	const char *object = frame->object ? frame->object : "unknown code";
	char label[FRAMEWORK_NAME_SIZE / 2];

	snprintf(label, sizeof(label), "%.*s: ", (int)strcspn(object, "."), object);
	known->role = function ? ROLE_LIBRARY : ROLE_INNER;
	name(known, label, function);
}

static void classify_native(const struct stack_frame *frame, bool python,
			    struct framework_frame *known)
{
	char buffer[FUNCTION_SIZE];
	const char *function = frame->function ? buffer : NULL;

	if (frame->function)
		qualified_name__write(frame->function, buffer, sizeof(buffer));
	known->foreign = apply(known, native_rows, function, frame->object, is_native);
	if (!known->foreign &&
	    !apply(known, native_runtime_rows, function, frame->object, is_native) && python &&
	    !user_line__is_own(frame))
		apply_library(known, frame, function);
}

/* The package or module that an installed file belongs to: "transformers", "threading". */
static const char *find_package(const char *file, int *length)
{
	const char *package = strstr(file, "-packages/");

	if (package)
		package += strlen("-packages/");
	else if ((package = strstr(file, "/python3")))
		package += 1 + strcspn(package + 1, "/") + 1;
	if (!package || !*package)
		return NULL;
	*length = (int)strcspn(package, "/.");
	return package;
}

/* "transformers.Trainer.train" */
static void apply_package(struct framework_frame *known, const struct stack_frame *frame)
{
	char label[FRAMEWORK_NAME_SIZE / 2];
	int length;
	const char *package = find_package(frame->file, &length);

	snprintf(label, sizeof(label), "%.*s.", package ? length : 0, package ? package : "");
	known->role = ROLE_API;
	name(known, package ? label : "", frame->function);
}

static void classify_python(const struct stack_frame *frame, struct framework_frame *known)
{
	if (!frame->file || !user_line__is_installed(frame->file))
		return;
	known->foreign = apply(known, python_rows, frame->function, frame->file, is_python);
	if (known->foreign ||
	    apply(known, python_runtime_rows, frame->function, frame->file, is_python))
		return;
	known->foreign = strstr(frame->file, "-packages/");
	apply_package(known, frame);
}

void frameworks__classify(const struct stack_frame *frame, bool python,
			  struct framework_frame *known)
{
	*known = (struct framework_frame){0};
	if (frame->kind == FRAME_NATIVE)
		classify_native(frame, python, known);
	else if (frame->kind == FRAME_PYTHON)
		classify_python(frame, known);
}
