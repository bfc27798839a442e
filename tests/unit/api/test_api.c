// SPDX-License-Identifier: BSD-2-Clause
// The generated table of the CUDA API, compared with facts from other sources.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"

#define SP(n) (LOCATION_STACK + (n) / 8 - 1) /* the slot of sp+n */

/* The form of a function in libraries with this soname major. */
static const struct api_function *get_of(const char *symbol, int major)
{
	int row = api__find(symbol, major);

	if (row < 0)
		fail_msg("%s of major %d is not in the table", symbol, major);
	assert_string_equal(api_functions[row].symbol, symbol);
	return &api_functions[row];
}

static const struct api_function *get(const char *symbol)
{
	return get_of(symbol, API_NEWEST);
}

static uint8_t location(const char *symbol, enum role role)
{
	return get(symbol)->desc.location[role];
}

static bool has(const struct api_function *f, enum role role)
{
	return f->desc.location[role] != LOCATION_NONE;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* By symbol, then soname, the newest form last. */
static int compare_forms(const struct api_function *a, const struct api_function *b)
{
	int order = strcmp(a->symbol, b->symbol);

	if (order)
		return order;
	return (a->soname ? a->soname : 256) - (b->soname ? b->soname : 256);
}

/* Whether the newest library has no form of the function. */
static bool is_gone(const struct api_function *f)
{
	return api__find(f->symbol, 99) < 0;
}

static void test_sorted(void **state)
{
	size_t i, runtime = 0, library = 0, older = 0, gone = 0;

	(void)state;
	for (i = 0; i < api_function_count; i++) {
		const struct api_function *f = &api_functions[i];

		if (i)
			assert_true(compare_forms(f - 1, f) < 0);
		/* Every row is found, as the form of its last major. */
		assert_int_equal(api__find(f->symbol, f->soname ? f->soname : 99), i);
		runtime += f->desc.layer == LAYER_RUNTIME;
		library += f->desc.layer == LAYER_LIBRARY;
		older += f->soname && i + 1 < api_function_count &&
			 strcmp(f[1].symbol, f->symbol) == 0;
		gone += is_gone(f);
	}
	assert_int_equal(api_function_count, 1201);
	assert_int_equal(runtime, 485);
	assert_int_equal(library, 79);
	/* 22 older forms, and the 41 functions that libcudart.so.13 does not export. */
	assert_int_equal(older, 22);
	assert_int_equal(gone, 41);
	assert_true(api_function_count <= MAX_FUNCTIONS);
}

/* The names that pip and Debian packages give these files. */
static void test_libraries(void **state)
{
	(void)state;
	assert_true(api__is_library("libcublas.so.12"));
	assert_true(api__is_library("libcublasLt.so.13"));
	assert_true(api__is_library("libcudnn.so.9"));
	assert_true(api__is_library("libcudnn_graph.so.9"));
	assert_true(api__is_library("libnccl.so.2"));
	assert_true(api__is_library("libtorch_cuda.so"));
	assert_true(api__is_library("libcufft.so.12.0.0.61"));
	assert_false(api__is_library("libcudnn_ops.so.9"));
	assert_false(api__is_library("libcudart.so.13"));
	assert_false(api__is_library("libcublas"));
	assert_false(api__is_library(""));
	assert_true(api__is_in_library(get("ncclCommDestroy"), "libtorch_cuda.so"));
	assert_false(api__is_in_library(get("ncclCommDestroy"), "libcublas.so.12"));
	assert_false(api__is_in_library(get("cublasLtCreate"), "libcublas.so.12"));
	assert_false(api__is_in_library(get("cudaMalloc"), "libnccl.so.2"));
	assert_string_equal(get("cublasCreate_v2")->shown, "cublasCreate");
}

static void test_find_nothing(void **state)
{
	(void)state;
	assert_int_equal(api__find("", API_NEWEST), -1);
	assert_int_equal(api__find("cuda", API_NEWEST), -1);
	assert_int_equal(api__find("cudaMallo", API_NEWEST), -1);
	assert_int_equal(api__find("cudaMallocX", 12), -1);
	assert_int_equal(api__find("zzz", 13), -1);
}

/*
 * Arguments that cudart 12 (and 11) pass elsewhere than 13, by the headers of CUDA 12.9 and 11.8.
 */
static void test_forms(void **state)
{
	static const struct {
		const char *symbol;
		int major;
		enum role role;
		uint8_t location;
		size_t arguments;
	} cases[] = {
		{"cudaMemcpyBatchAsync", 12, ROLE_STREAM, SP(24), 9},
		{"cudaMemcpyBatchAsync", 13, ROLE_STREAM, SP(16), 8},
		{"cudaMemcpyBatchAsync_ptsz", 12, ROLE_STREAM, SP(24), 9},
		{"cudaMemcpyBatchAsync_ptsz", 14, ROLE_STREAM, SP(16), 8},
		{"cudaMemcpy3DBatchAsync", 12, ROLE_STREAM, 4, 5},
		{"cudaMemcpy3DBatchAsync", 13, ROLE_STREAM, 3, 4},
		{"cudaMemPrefetchAsync", 11, ROLE_STREAM, 3, 4},
		{"cudaMemPrefetchAsync", 12, ROLE_STREAM, 3, 4},
		{"cudaMemPrefetchAsync_ptsz", 12, ROLE_STREAM, 3, 4},
		{"cudaMemPrefetchAsync", 13, ROLE_STREAM, 4, 5},
		{"cudaStreamGetCaptureInfo", 12, ROLE_STREAM, 0, 3},
		{"cudaStreamGetCaptureInfo", 13, ROLE_STREAM, 0, 7},
		{"cudaStreamUpdateCaptureDependencies", 12, ROLE_STREAM, 0, 4},
		{"cudaStreamUpdateCaptureDependencies", 13, ROLE_STREAM, 0, 5},
		/* cudaMemLocation is 8 bytes by value, in one register. */
		{"cudaMemPrefetchAsync_v2_ptsz", 12, ROLE_STREAM, 4, 5},
		{"cudaStreamGetCaptureInfo_v2_ptsz", 12, ROLE_GRAPH, 3, 6},
		{"cudaStreamGetCaptureInfo_v3_ptsz", 12, ROLE_GRAPH, 3, 7},
		{"cudaStreamUpdateCaptureDependencies_v2_ptsz", 12, ROLE_STREAM, 0, 5},
		{"cudaSignalExternalSemaphoresAsync_v2_ptsz", 12, ROLE_STREAM, 3, 4},
		{"cudaWaitExternalSemaphoresAsync_v2_ptsz", 12, ROLE_STREAM, 3, 4},
		{"cudaGraphAddNode", 12, ROLE_STREAM, LOCATION_NONE, 5},
		{"cudaGraphAddNode", 13, ROLE_STREAM, LOCATION_NONE, 6},
		{"cudaGraphGetEdges", 12, ROLE_STREAM, LOCATION_NONE, 4},
		{"cudaGraphGetEdges", 13, ROLE_STREAM, LOCATION_NONE, 5},
		{"cudaGraphInstantiate", 11, ROLE_STREAM, LOCATION_NONE, 5},
		{"cudaGraphInstantiate", 12, ROLE_STREAM, LOCATION_NONE, 3},
		{"cudaGraphInstantiate", 13, ROLE_STREAM, LOCATION_NONE, 3},
		{"cudaGraphExecUpdate", 11, ROLE_STREAM, LOCATION_NONE, 4},
		{"cudaGraphExecUpdate", 12, ROLE_STREAM, LOCATION_NONE, 3},
		{"cudaGetDriverEntryPoint", 11, ROLE_STREAM, LOCATION_NONE, 3},
		{"cudaGetDriverEntryPoint", 12, ROLE_STREAM, LOCATION_NONE, 4},
		{"cudaMalloc", 11, ROLE_SIZE, 1, 2},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct api_function *f = get_of(cases[i].symbol, cases[i].major);

		if (f->desc.location[cases[i].role] != cases[i].location ||
		    f->argument_count != cases[i].arguments)
			fail_msg("%s of major %d", cases[i].symbol, cases[i].major);
	}
	assert_string_equal(get_of("cudaMemAdvise", 12)->arguments[3].type, "int");
	assert_int_equal(get("cudaStreamGetCaptureInfo_v3_ptsz")->arguments[6].location, SP(8));
	assert_string_equal(get_of("cudaGraphKernelNodeCopyAttributes", 12)->arguments[0].name,
			    "hSrc");
	assert_string_equal(get("cudaGraphKernelNodeCopyAttributes")->arguments[0].name, "hDst");
	/* Unknown major: the newest form, even if that is an old one. */
	assert_ptr_equal(get("cudaMemcpyBatchAsync"), get_of("cudaMemcpyBatchAsync", 13));
	assert_int_equal(get("cudaThreadSynchronize")->desc.operation, OP_WAIT);
	/* Removed with 12 and with 13. */
	get_of("cudaBindTexture", 11);
	assert_int_equal(api__find("cudaBindTexture", 12), -1);
	get_of("cudaThreadSynchronize", 11);
	get_of("cudaThreadSynchronize", 12);
	assert_int_equal(api__find("cudaThreadSynchronize", 13), -1);
	assert_int_equal(api__find("cudaMemPrefetchAsync_v2_ptsz", 13), -1);
	/* Libraries older than the table's oldest major use its oldest form. */
	assert_ptr_equal(get_of("cudaGraphInstantiate", 10), get_of("cudaGraphInstantiate", 11));
}

static void test_launches(void **state)
{
	const struct api_function *f = get("cudaLaunchKernel");

	(void)state;
	assert_int_equal(f->desc.operation, OP_LAUNCH);
	assert_int_equal(f->desc.location[ROLE_FUNC], 0);
	assert_int_equal(f->desc.location[ROLE_STREAM], SP(16));
	assert_int_equal(f->desc.location[ROLE_SHMEM], SP(8));
	assert_int_equal(f->desc.location[ROLE_ARGS], 5);
	assert_int_equal(f->desc.location[ROLE_GRIDX], 1);
	assert_int_equal(f->desc.location[ROLE_GRIDY], LOCATION_NONE);
	assert_int_equal(f->desc.location[ROLE_GRIDZ], 2 | LOCATION_32);
	assert_int_equal(f->desc.location[ROLE_BLOCKX], 3);
	assert_int_equal(f->desc.location[ROLE_BLOCKZ], 4 | LOCATION_32);

	f = get("cuLaunchKernel");
	assert_int_equal(f->desc.location[ROLE_FUNC], 0);
	assert_int_equal(f->desc.location[ROLE_GRIDX], 1 | LOCATION_32);
	assert_int_equal(f->desc.location[ROLE_BLOCKY], 5 | LOCATION_32);
	assert_int_equal(f->desc.location[ROLE_BLOCKZ], SP(8) | LOCATION_32);
	assert_int_equal(f->desc.location[ROLE_SHMEM], SP(16) | LOCATION_32);
	assert_int_equal(f->desc.location[ROLE_STREAM], SP(24));

	assert_int_equal(location("cuLaunchKernelEx", ROLE_FUNC), 1);
	assert_int_equal(location("cuLaunchKernelEx", ROLE_CONFIG), 0);
	assert_int_equal(location("cudaLaunchKernelExC", ROLE_FUNC), 1);
	assert_int_equal(location("cuLaunchGridAsync", ROLE_STREAM), 3);
	assert_int_equal(location("cuGraphLaunch", ROLE_GRAPHEXEC), 0);
	assert_int_equal(location("cuGraphLaunch", ROLE_STREAM), 1);
	/* It jumps into cudaLaunchKernel, so one launch would count twice. */
	assert_int_equal(get("__cudaLaunchKernel")->desc.operation, OP_NONE);
	assert_int_equal(get("__cudaLaunchKernel_ptsz")->desc.operation, OP_NONE);
}

static void test_memory(void **state)
{
	const struct api_function *f = get("cuMemAlloc");

	(void)state;
	assert_int_equal(f->desc.operation, OP_ALLOC);
	assert_int_equal(f->desc.kind, MEMORY_DEVICE);
	assert_int_equal(f->desc.location[ROLE_OUT], 0);
	assert_int_equal(f->desc.location[ROLE_SIZE], 1 | LOCATION_32);
	assert_int_equal(f->desc.flags, FUNCTION_OUT_32);
	assert_int_equal(get("cuMemAllocPitch")->desc.flags, FUNCTION_OUT_32);
	assert_int_equal(get("cuMemAllocHost")->desc.flags, 0);
	assert_int_equal(get("cuMemAlloc_v2")->desc.flags, 0);
	assert_int_equal(location("cuMemAlloc_v2", ROLE_SIZE), 1);
	assert_int_equal(location("cuMemFree", ROLE_PTR), 0 | LOCATION_32);
	assert_int_equal(location("cuMemFree_v2", ROLE_PTR), 0);

	f = get("cuMemAllocPitch_v2");
	assert_int_equal(f->desc.location[ROLE_PITCHOUT], 1);
	assert_int_equal(f->desc.location[ROLE_HEIGHT], 3);
	assert_int_equal(get("cuMemAllocManaged")->desc.kind, MEMORY_MANAGED);
	assert_int_equal(get("cuMemHostAlloc")->desc.kind, MEMORY_HOST);
	assert_int_equal(get("cudaFreeHost")->desc.kind, MEMORY_HOST);

	f = get("cuMemAllocFromPoolAsync_ptsz");
	assert_int_equal(f->desc.kind, MEMORY_POOL);
	assert_int_equal(f->desc.flags, FUNCTION_ASYNC | FUNCTION_PER_THREAD);
	assert_int_equal(f->desc.location[ROLE_STREAM], 3);
	assert_string_equal(f->base, "cuMemAllocFromPoolAsync");
	assert_string_equal(f->family, "memory");

	/* Sizes that are more than one number. */
	assert_int_equal(get("cudaMalloc3D")->desc.params, PARAMS_PITCHED);
	assert_int_equal(get("cudaMalloc3D")->desc.location[ROLE_EXTENT], SP(8));
	assert_int_equal(get("cudaMalloc3D")->arguments[1].size, 24);
	assert_int_equal(get("cudaMalloc3D")->arguments[1].location, SP(8));
}

static void test_copies(void **state)
{
	const struct api_function *f = get("cudaMemcpyAsync");

	(void)state;
	assert_int_equal(f->desc.operation, OP_COPY);
	assert_int_equal(f->desc.kind, COPY_BY_ARGUMENT);
	assert_int_equal(f->desc.location[ROLE_KIND], 3 | LOCATION_32);
	assert_int_equal(f->desc.location[ROLE_STREAM], 4);
	assert_int_equal(get("cuMemcpyHtoD_v2")->desc.kind, COPY_H2D);
	assert_int_equal(get("cuMemcpyAtoHAsync_v2_ptsz")->desc.kind, COPY_D2H);
	assert_int_equal(get("cuMemcpyDtoA_v2")->desc.kind, COPY_D2D);
	assert_int_equal(get("cuMemcpyPeerAsync")->desc.kind, COPY_P2P);
	assert_int_equal(get("cuMemcpy_ptds")->desc.kind, COPY_DEFAULT);
	assert_int_equal(location("cuMemcpyHtoD", ROLE_SIZE), 2 | LOCATION_32);
	assert_int_equal(location("cuMemcpyHtoD", ROLE_DST), 0 | LOCATION_32);
	assert_int_equal(location("cuMemcpyHtoD", ROLE_SRC), 1);
	assert_int_equal(location("cuMemcpyPeerAsync", ROLE_STREAM), 5);
	assert_int_equal(location("cuMemcpyAtoA_v2", ROLE_SIZE), 4);
	/* A symbol's host address and an array's handle are not addresses of the bytes. */
	assert_int_equal(location("cudaMemcpyToSymbol", ROLE_DST), LOCATION_NONE);
	assert_int_equal(location("cuMemcpyHtoA_v2", ROLE_DST), LOCATION_NONE);

	f = get("cuMemsetD2D16Async");
	assert_int_equal(f->desc.operation, OP_SET);
	assert_int_equal(f->desc.kind, COPY_SET);
	assert_int_equal(f->desc.unit, 2);
	assert_int_equal(f->desc.location[ROLE_WIDTH], 3);
	assert_int_equal(f->desc.location[ROLE_HEIGHT], 4);
	f = get("cudaMemset3DAsync_ptsz");
	assert_int_equal(f->desc.operation, OP_SET);
	assert_int_equal(f->desc.params, PARAMS_EXTENT);
	/* After a cudaPitchedPtr of 32 bytes. */
	assert_int_equal(f->desc.location[ROLE_EXTENT], SP(40));
	assert_int_equal(f->desc.location[ROLE_STREAM], 1);
	assert_int_equal(get("cuMemsetD32_v2")->desc.unit, 4);
	assert_int_equal(get("cuMemsetD8_v2")->desc.unit, 1);
	assert_int_equal(get("cudaMemset2D")->desc.unit, 1);
}

/* The name that people see: as in <cuda.h>; another version shows its number. */
static void test_shown(void **state)
{
	static const char *const names[][2] = {
		{"cuMemAlloc_v2", "cuMemAlloc"},
		{"cuMemAlloc", "cuMemAlloc_v1"},
		{"cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD"},
		{"cuCtxCreate_v4", "cuCtxCreate"},
		{"cuCtxCreate_v3", "cuCtxCreate_v3"},
		{"cuCtxCreate", "cuCtxCreate_v1"},
		/* <cuda.h> has both. */
		{"cuCtxSynchronize", "cuCtxSynchronize"},
		{"cuCtxSynchronize_v2", "cuCtxSynchronize_v2"},
		{"cudaMalloc", "cudaMalloc"},
		{"cuLaunchKernel_ptsz", "cuLaunchKernel"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_string_equal(get(names[i][0])->shown, names[i][1]);
	assert_string_equal(api__shown("cuMemFree_v2"), "cuMemFree");
	assert_string_equal(api__shown("cuFromTomorrow_v2"), "cuFromTomorrow_v2");
	/* No two functions of a layer have the same shown name, except forms of one. */
	for (size_t i = 0; i < api_function_count; i++)
		for (size_t j = i + 1; j < api_function_count; j++)
			if (!strcmp(api_functions[i].shown, api_functions[j].shown))
				assert_string_equal(api_functions[i].base, api_functions[j].base);
}

/* Exactly these query errors. A query changes nothing, so no other row has both. */
static void test_asks(void **state)
{
	static const char *const errors[] = {
		"cuGetErrorName",     "cuGetErrorString", "cudaGetErrorName",
		"cudaGetErrorString", "cudaGetLastError", "cudaPeekAtLastError",
	};
	static const char *const getters[] = {
		"cudaGetDevice",
		"cudaGetDeviceProperties",
		"cudaPointerGetAttributes",
		"cudaMemGetInfo",
		"cudaOccupancyMaxActiveBlocksPerMultiprocessor",
		"cudaFuncGetAttributes",
		"cudaStreamGetPriority",
		"cuCtxGetCurrent",
		"cuDeviceGetAttribute",
		"cuPointerGetAttribute",
		"cuMemGetInfo_v2",
		"cuDevicePrimaryCtxGetState",
		"cuStreamGetFlags_ptsz",
	};
	static const char *const no_asks[] = {
		"cudaSetDevice",       "cuFuncSetAttribute",   "cuModuleGetFunction",
		"cuStreamIsCapturing", "cuGetProcAddress_v2",  "cuMemPoolGetAttribute",
		"cuStreamQuery",       "cudaLibraryGetKernel",
	};
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		assert_int_equal(get(errors[i])->desc.operation, OP_ASK);
		assert_int_equal(get(errors[i])->desc.kind, ASK_ERROR);
	}
	for (size_t i = 0; i < sizeof(getters) / sizeof(*getters); i++) {
		assert_int_equal(get(getters[i])->desc.operation, OP_ASK);
		assert_int_equal(get(getters[i])->desc.kind, ASK_GETTER);
	}
	assert_int_equal(get("cudaGetDeviceCount")->desc.kind, ASK_COUNT);
	assert_int_equal(get("cuDeviceGetCount")->desc.kind, ASK_COUNT);
	assert_int_equal(get("cuInit")->desc.kind, ASK_START);
	assert_int_equal(get("cudaInitDevice")->desc.kind, ASK_START);
	for (size_t i = 0; i < sizeof(no_asks) / sizeof(*no_asks); i++)
		assert_int_not_equal(get(no_asks[i])->desc.operation, OP_ASK);
	for (size_t i = 0; i < api_function_count; i++)
		found += api_functions[i].desc.operation == OP_ASK &&
			 api_functions[i].desc.kind == ASK_ERROR;
	assert_int_equal(found, sizeof(errors) / sizeof(*errors));
}

static void test_other_operations(void **state)
{
	(void)state;
	assert_int_equal(get("cuCtxSynchronize")->desc.kind, WAIT_CONTEXT);
	assert_int_equal(location("cuCtxSynchronize_v2", ROLE_CTX), 0);
	assert_int_equal(get("cudaThreadSynchronize")->desc.operation, OP_WAIT);
	assert_int_equal(get("cuEventSynchronize")->desc.kind, WAIT_EVENT);
	assert_int_equal(get("cudaStreamQuery_ptsz")->desc.operation, OP_QUERY);
	assert_int_equal(location("cuEventRecordWithFlags", ROLE_STREAM), 1);
	assert_int_equal(get("cuStreamDestroy_v2")->desc.operation, OP_DESTROY);
	assert_int_equal(get("cuStreamDestroy_v2")->desc.kind, OBJECT_STREAM);
	assert_int_equal(location("cuStreamDestroy_v2", ROLE_HANDLE), 0);
	assert_int_equal(get("cuCtxCreate_v4")->desc.kind, CONTEXT_CREATE);
	assert_int_equal(location("cuCtxCreate_v4", ROLE_DEVICE), 3 | LOCATION_32);
	assert_int_equal(get("cuCtxPopCurrent_v2")->desc.kind, CONTEXT_POP);
	assert_int_equal(location("cuModuleGetFunction", ROLE_NAME), 2);
	assert_int_equal(get("cuLibraryGetKernel")->desc.operation, OP_GET_KERNEL);
	assert_int_equal(get("cudaLibraryUnload")->desc.operation, OP_DESTROY);
	assert_int_equal(get("cudaLibraryUnload")->desc.kind, OBJECT_LIBRARY);
	assert_int_equal(get("cudaThreadExit")->desc.kind, CONTEXT_RESET);
	assert_int_equal(get("cudaSetDevice")->desc.kind, DEVICE_CURRENT);
	assert_int_equal(location("cuDevicePrimaryCtxRetain", ROLE_CTX), 0);
}

/*
 * Copies whose bytes are in a structure: which structure, where it is, and what gives the
 * direction.
 */
static void test_copy_params(void **state)
{
	static const struct {
		const char *symbol;
		enum copy_params params;
		uint8_t kind, at, elements, stream;
	} cases[] = {
		{"cuMemcpy2D_v2", PARAMS_MEMCPY2D, COPY_BY_PARAMS, 0, LOCATION_NONE, LOCATION_NONE},
		{"cuMemcpy2DUnaligned_v2", PARAMS_MEMCPY2D, COPY_BY_PARAMS, 0, LOCATION_NONE,
		 LOCATION_NONE},
		{"cuMemcpy2DAsync_v2", PARAMS_MEMCPY2D, COPY_BY_PARAMS, 0, LOCATION_NONE, 1},
		{"cuMemcpy3D_v2_ptds", PARAMS_MEMCPY3D, COPY_BY_PARAMS, 0, LOCATION_NONE,
		 LOCATION_NONE},
		{"cuMemcpy3DPeerAsync", PARAMS_MEMCPY3D_PEER, COPY_P2P, 0, LOCATION_NONE, 1},
		{"cudaMemcpy3D", PARAMS_3D, COPY_BY_PARAMS, 0, LOCATION_NONE, LOCATION_NONE},
		{"cudaMemcpy3DAsync", PARAMS_3D, COPY_BY_PARAMS, 0, LOCATION_NONE, 1},
		{"cudaMemcpy3DPeer", PARAMS_3D_PEER, COPY_P2P, 0, LOCATION_NONE, LOCATION_NONE},
		{"cuMemcpyBatchAsync", PARAMS_SIZES, COPY_DEFAULT, 2, 3, SP(24)},
		{"cuMemcpyBatchAsync_v2", PARAMS_SIZES, COPY_DEFAULT, 2, 3, SP(16)},
		{"cuMemcpy3DBatchAsync", PARAMS_3D_BATCH, COPY_DEFAULT, 1, 0, 4},
		{"cuMemcpy3DBatchAsync_v2", PARAMS_3D_BATCH, COPY_DEFAULT, 1, 0, 3},
		{"cudaMemcpyBatchAsync", PARAMS_SIZES, COPY_DEFAULT, 2, 3, SP(16)},
		{"cudaMemcpy3DBatchAsync_ptsz", PARAMS_3D_BATCH, COPY_DEFAULT, 1, 0, 3},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct function_desc *desc = &get(cases[i].symbol)->desc;

		assert_int_equal(desc->operation, OP_COPY);
		assert_int_equal(desc->params, cases[i].params);
		assert_int_equal(desc->kind, cases[i].kind);
		assert_int_equal(desc->location[ROLE_PARAMS], cases[i].at);
		assert_int_equal(desc->location[ROLE_ELEMENTS], cases[i].elements);
		assert_int_equal(desc->location[ROLE_STREAM], cases[i].stream);
	}
}

/* How a row gives the bytes, as bpf/copy/copy.bpf.h and bpf/copy/params.bpf.h read them. */
static bool has_amount(const struct api_function *f)
{
	switch (f->desc.params) {
	case PARAMS_NONE: return has(f, ROLE_SIZE) || (has(f, ROLE_WIDTH) && has(f, ROLE_HEIGHT));
	case PARAMS_EXTENT: return has(f, ROLE_EXTENT);
	case PARAMS_SIZES:
	case PARAMS_3D_BATCH: return has(f, ROLE_PARAMS) && has(f, ROLE_ELEMENTS);
	default: return has(f, ROLE_PARAMS);
	}
}

static bool has_alloc_amount(const struct api_function *f)
{
	switch (f->desc.params) {
	case PARAMS_NONE:
		return f->desc.kind == MEMORY_IMPORTED ||
		       (has_amount(f) && has(f, ROLE_PITCHOUT) == has(f, ROLE_WIDTH));
	case PARAMS_CHANNELS:
		return has(f, ROLE_PARAMS) &&
		       (has(f, ROLE_EXTENT) || (has(f, ROLE_WIDTH) && has(f, ROLE_HEIGHT)));
	case PARAMS_PITCHED: return has(f, ROLE_EXTENT);
	case PARAMS_PHYSICAL: return has(f, ROLE_PARAMS) && has(f, ROLE_SIZE);
	case PARAMS_EXTERNAL_ARRAY: return true;
	default: return has(f, ROLE_PARAMS);
	}
}

/* Every row that a BPF program serves has the fields that the program reads. */
static void check_row(const struct api_function *f)
{
	bool amount = has_amount(f);
	bool ok = true;

	switch (f->desc.operation) {
	case OP_ALLOC:
		ok = has_alloc_amount(f) &&
		     has(f, f->desc.kind == MEMORY_REGISTERED ? ROLE_PTR : ROLE_OUT);
		break;
	case OP_FREE: ok = has(f, ROLE_PTR) || has(f, ROLE_HANDLE); break;
	case OP_VIRTUAL: ok = has(f, ROLE_OUT) || (has(f, ROLE_PTR) && has(f, ROLE_SIZE)); break;
	case OP_POOL: ok = has(f, ROLE_POOL) || has(f, ROLE_OUT); break;
	case OP_COPY: ok = amount && has(f, ROLE_KIND) == (f->desc.kind == COPY_BY_ARGUMENT); break;
	case OP_SET: ok = amount && has(f, ROLE_PTR); break;
	case OP_LAUNCH: ok = has(f, ROLE_FUNC); break;
	case OP_EVENT_RECORD: ok = has(f, ROLE_EVENT); break;
	case OP_GET_KERNEL:
		ok = has(f, ROLE_OUT) && has(f, ROLE_NAME) && has(f, ROLE_MODULE);
		break;
	}
	if (!ok)
		fail_msg("%s lacks a role", f->symbol);
}

static void test_every_row(void **state)
{
	const struct api_function *f;
	bool async, per_thread;
	size_t i;

	(void)state;
	for (i = 0; i < api_function_count; i++) {
		f = &api_functions[i];
		check_row(f);
		per_thread = ends_with(f->symbol, "_ptds") || ends_with(f->symbol, "_ptsz");
		assert_int_equal(!!(f->desc.flags & FUNCTION_PER_THREAD), per_thread);
		assert_int_equal(strlen(f->symbol) - strlen(f->base), per_thread ? 5 : 0);
		if (f->desc.operation == OP_COPY || f->desc.operation == OP_SET) {
			async = strstr(f->symbol, "Async") != NULL;
			assert_int_equal(!!(f->desc.flags & FUNCTION_ASYNC), async);
			assert_int_equal(has(f, ROLE_STREAM), async);
		}
	}
}

/* A per-thread form differs from its plain form only in the flag. */
static void test_variants(void **state)
{
	const struct api_function *f, *plain;
	size_t i, variants = 0;

	(void)state;
	for (i = 0; i < api_function_count; i++) {
		f = &api_functions[i];
		if (strcmp(f->symbol, f->base) == 0)
			continue;
		plain = get_of(f->base, f->soname ? f->soname : API_NEWEST);
		assert_int_equal(f->soname, plain->soname);
		variants++;
		assert_string_equal(f->family, plain->family);
		assert_int_equal(f->desc.operation, plain->desc.operation);
		assert_int_equal(f->desc.kind, plain->desc.kind);
		assert_int_equal(f->desc.unit, plain->desc.unit);
		assert_memory_equal(f->desc.location, plain->desc.location,
				    sizeof(f->desc.location));
		assert_int_equal(f->argument_count, plain->argument_count);
	}
	assert_int_equal(variants, 178);
}

static void test_error_names(void **state)
{
	(void)state;
	assert_string_equal(api__error_name(LAYER_RUNTIME, 0), "cudaSuccess");
	assert_string_equal(api__error_name(LAYER_RUNTIME, 2), "cudaErrorMemoryAllocation");
	assert_string_equal(api__error_name(LAYER_DRIVER, 2), "CUDA_ERROR_OUT_OF_MEMORY");
	assert_string_equal(api__error_name(LAYER_RUNTIME, 600), "cudaErrorNotReady");
	assert_string_equal(api__error_name(LAYER_DRIVER, 999), "CUDA_ERROR_UNKNOWN");
	assert_null(api__error_name(LAYER_DRIVER, 9)); /* only a runtime code */
	assert_null(api__error_name(LAYER_RUNTIME, -1));
	assert_null(api__error_name(LAYER_RUNTIME, 123456));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_find_nothing),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_launches),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_copy_params),
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_asks),
		cmocka_unit_test(test_other_operations),
		cmocka_unit_test(test_every_row),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_error_names),
	};

	return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
