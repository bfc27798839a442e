// SPDX-License-Identifier: BSD-2-Clause
// -e: families, names, patterns, exclusions, the default, mistakes.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "growth_of_time.h"
#include "no_valgrind.h"
#include "trace/selection.h"

static struct trace_selection *selection_of(enum api_mode api, const char *const *texts)
{
	struct trace_selection *selection = trace_selection__new(api);
	struct error err = {.text = ""};

	assert_non_null(selection);
	for (; *texts; texts++) {
		if (trace_selection__add(selection, *texts, &err))
			fail_msg("%s: %s", *texts, err.text);
	}
	return selection;
}

#define SELECTION(...) selection_of(API_AUTO, (const char *const[]){__VA_ARGS__, NULL})

static const struct api_function *row(const char *symbol)
{
	int found = api__find(symbol, API_NEWEST);

	if (found < 0)
		fail_msg("%s is not in the table", symbol);
	return &api_functions[found];
}

/* Names with a ! in front must not be selected. */
static void expect(struct trace_selection *selection, const char *const *names)
{
	for (; *names; names++) {
		const char *name = *names + (**names == '!');

		if (trace_selection__wants(selection, row(name)) != (**names != '!'))
			fail_msg("%s is %swanted", name, **names == '!' ? "" : "not ");
	}
	trace_selection__free(selection);
}

#define EXPECT(selection, ...) expect(selection, (const char *const[]){__VA_ARGS__, NULL})

static void test_default(void **state)
{
	(void)state;
	EXPECT(selection_of(API_AUTO, (const char *const[]){NULL}), "cudaMalloc", "cudaFree",
	       "cuMemAlloc_v2", "cudaMemGetInfo", "cudaMemcpy", "cudaMemcpy_ptds",
	       "cuMemcpyHtoD_v2", "cudaMemset", "cudaLaunchKernel", "cudaLaunchKernel_ptsz",
	       "cuLaunchKernelEx", "cudaGraphLaunch", "cudaStreamSynchronize", "cudaStreamQuery",
	       "cudaEventQuery", "cudaStreamCreate", "cudaEventRecord", "cudaSetDevice",
	       "cudaDeviceReset", "cuCtxSetCurrent", "cuCtxPushCurrent_v2", "cuCtxDestroy_v2",
	       "cuDevicePrimaryCtxRetain", "cudaDeviceSetLimit", "cudaDeviceEnablePeerAccess",
	       "!cudaGetDevice", "!cudaGetDeviceCount", "!cudaGetDeviceProperties_v2",
	       "!cuCtxGetCurrent", "!cuCtxGetDevice", "!cudaGetLastError", "!cudaPeekAtLastError",
	       "!cudaDeviceGetAttribute", "!cuDeviceGetAttribute", "!cuPointerGetAttribute",
	       "!cudaPointerGetAttributes", "!cudaFuncGetAttributes", "!cuGetProcAddress_v2",
	       "!cudaDeviceCanAccessPeer", "!cuDeviceTotalMem_v2",
	       "!cudaOccupancyMaxActiveBlocksPerMultiprocessor", "!cudaStreamIsCapturing",
	       "!cudaStreamGetCaptureInfo_ptsz", "!cudaThreadExchangeStreamCaptureMode",
	       "!__cudaLaunchKernel", "!__cudaPushCallConfiguration", "!cuModuleLoad",
	       "!cuLibraryLoadData", "!cudaGraphCreate", "!cuDevSmResourceSplitByCount",
	       "!cuDeviceComputeCapability", "!cudaChooseDevice", "!__cudaPopCallConfiguration",
	       "!cudaDeviceGetMemPool", "cudaDeviceSetMemPool", "!cuCtxGetLimit", "!cuCtxSetLimit",
	       "!cudaGetErrorString", "!cudaGLMapBufferObject");
}

static void test_families(void **state)
{
	(void)state;
	EXPECT(SELECTION("memory"), "cudaMalloc", "cudaPointerGetAttributes", "!cudaMemcpy",
	       "!cudaLaunchKernel");
	EXPECT(SELECTION("launch,copy"), "cudaLaunchKernel", "cudaMemcpy", "!cudaMalloc",
	       "!__cudaLaunchKernel");
	EXPECT(SELECTION("sync", "stream", "event"), "cudaStreamQuery", "cudaStreamCreate",
	       "cudaEventCreate", "!cudaMalloc");
	EXPECT(SELECTION("device"), "cudaGetDevice", "cudaSetDevice", "!cuCtxSetCurrent");
	EXPECT(SELECTION("context"), "cuCtxSetCurrent", "cuCtxGetCurrent", "!cudaSetDevice");
	EXPECT(SELECTION("module"), "cuModuleLoad", "cuLibraryLoadData", "cuModuleGetFunction",
	       "!cudaMalloc");
	EXPECT(SELECTION("graph"), "cudaGraphCreate", "!cudaMalloc");
	EXPECT(SELECTION("errors"), "cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorString",
	       "cudaGetErrorName", "cuGetErrorName", "cuGetErrorString", "!cudaDriverGetVersion",
	       "!cudaMalloc");
	EXPECT(SELECTION("all"), "cudaMalloc", "cudaGetDevice", "cudaGLMapBufferObject",
	       "cuProfilerStart", "__cudaLaunchKernel");
}

static void test_names(void **state)
{
	(void)state;
	EXPECT(SELECTION("cudaMalloc"), "cudaMalloc", "!cudaMallocHost", "!cudaFree");
	EXPECT(SELECTION("cudaMemcpyAsync"), "cudaMemcpyAsync", "cudaMemcpyAsync_ptsz",
	       "!cudaMemcpy");
	EXPECT(SELECTION("cudaMemcpyAsync_ptsz"), "!cudaMemcpyAsync", "cudaMemcpyAsync_ptsz");
	EXPECT(SELECTION("cu*Async"), "cudaMemcpyAsync", "cuMemAllocAsync", "cuMemAllocAsync_ptsz",
	       "!cudaMalloc");
	EXPECT(SELECTION("cudaM?lloc"), "cudaMalloc", "!cudaMallocHost");
	EXPECT(SELECTION("*"), "cudaMalloc", "__cudaLaunchKernel");
	EXPECT(SELECTION("__cudaLaunchKernel"), "__cudaLaunchKernel", "__cudaLaunchKernel_ptsz",
	       "!cudaLaunchKernel");
}

static void test_exclusions(void **state)
{
	(void)state;
	EXPECT(SELECTION("!cudaMalloc"), "!cudaMalloc", "cudaFree", "cudaLaunchKernel",
	       "!cudaGetDevice");
	EXPECT(SELECTION("!memory"), "!cudaMalloc", "cudaLaunchKernel");
	EXPECT(SELECTION("memory,!cudaFree*"), "cudaMalloc", "!cudaFree", "!cudaFreeHost",
	       "!cudaLaunchKernel");
	EXPECT(SELECTION("memory", "!cudaFree*,cudaFree"), "cudaMalloc", "cudaFree",
	       "!cudaFreeHost");
	EXPECT(SELECTION("!all,cudaMalloc"), "cudaMalloc", "!cudaFree");
	EXPECT(SELECTION("cudaMalloc,!all"), "!cudaMalloc");
	EXPECT(SELECTION("!cudaMalloc,cudaGetDevice"), "!cudaMalloc", "cudaGetDevice", "cudaFree");
}

static void test_layers(void **state)
{
	static const char *const all[] = {"all", NULL};

	(void)state;
	EXPECT(selection_of(API_RUNTIME, all), "cudaMalloc", "!cuMemAlloc_v2");
	EXPECT(selection_of(API_DRIVER, all), "!cudaMalloc", "cuMemAlloc_v2");
	EXPECT(selection_of(API_BOTH, all), "cudaMalloc", "cuMemAlloc_v2");
	EXPECT(selection_of(API_AUTO, all), "cudaMalloc", "cuMemAlloc_v2");
}

static bool wants_symbol(struct trace_selection *selection, const char *symbol, enum layer layer)
{
	bool wanted = trace_selection__wants_symbol(selection, symbol, layer);

	trace_selection__free(selection);
	return wanted;
}

static bool wants_row(struct trace_selection *selection, const char *symbol)
{
	bool wanted = trace_selection__wants(selection, &api_functions[api__find(symbol, 13)]);

	assert_true(!wanted || trace_selection__wants_libraries(selection));
	trace_selection__free(selection);
	return wanted;
}

/* Libraries above CUDA are traced only if they are named. */
static void test_libraries(void **state)
{
	static const char *const none[] = {NULL}, *const nccl[] = {"nccl*", NULL};

	(void)state;
	assert_false(wants_row(selection_of(API_AUTO, none), "cublasCreate_v2"));
	assert_false(wants_row(SELECTION("all"), "cublasCreate_v2"));
	assert_false(wants_row(SELECTION("cu*"), "cublasCreate_v2"));
	assert_false(wants_row(SELECTION("*Create*"), "cublasCreate_v2"));
	assert_true(wants_row(SELECTION("cublasCreate"), "cublasCreate_v2"));
	assert_true(wants_row(SELECTION("cub*"), "cublasCreate_v2"));
	assert_true(wants_row(SELECTION("memory,nccl*"), "ncclCommSplit"));
	assert_false(wants_row(selection_of(API_DRIVER, nccl), "ncclCommSplit"));
}

/* Functions that the table does not have. */
static void test_symbols(void **state)
{
	static const char *const none[] = {NULL}, *const all[] = {"all", NULL};

	(void)state;
	assert_false(wants_symbol(selection_of(API_AUTO, none), "cuNew", LAYER_DRIVER));
	assert_false(wants_symbol(SELECTION("memory"), "cuMemNew", LAYER_DRIVER));
	assert_false(wants_symbol(SELECTION("!cuOld"), "cuNew", LAYER_DRIVER));
	assert_true(wants_symbol(SELECTION("all"), "cuNew", LAYER_DRIVER));
	assert_false(wants_symbol(SELECTION("all,!cuN*"), "cuNew", LAYER_DRIVER));
	assert_true(wants_symbol(SELECTION("cuNew"), "cuNew", LAYER_DRIVER));
	assert_true(wants_symbol(SELECTION("cuNew"), "cuNew_ptsz", LAYER_DRIVER));
	assert_false(wants_symbol(SELECTION("cuNew"), "cuNewer", LAYER_DRIVER));
	assert_true(wants_symbol(SELECTION("cu*New"), "cudaSomeNew", LAYER_RUNTIME));
	assert_false(wants_symbol(selection_of(API_RUNTIME, all), "cuNew", LAYER_DRIVER));
	assert_true(wants_symbol(selection_of(API_DRIVER, all), "cuNew", LAYER_DRIVER));
}

static void expect_mistake(const char *text, const char *message)
{
	struct trace_selection *selection = trace_selection__new(API_AUTO);
	struct error err = {.text = ""};

	assert_int_equal(trace_selection__add(selection, text, &err), -EINVAL);
	assert_string_equal(err.text, message);
	trace_selection__free(selection);
}

static void test_mistakes(void **state)
{
	static const char missing[] =
		"a word is missing: families, names and patterns, separated by commas";

	(void)state;
	expect_mistake("", missing);
	expect_mistake("memory,,copy", missing);
	expect_mistake("!", missing);
	expect_mistake("memory,", missing);
	expect_mistake("memroy",
		       "'memroy' is neither a family nor a function; did you mean memory?");
	expect_mistake("Malloc",
		       "'Malloc' is neither a family nor a function; did you mean cudaMalloc?");
	expect_mistake("CUDAMALLOC",
		       "'CUDAMALLOC' is neither a family nor a function; did you mean cudaMalloc?");
	expect_mistake(" xyzzy",
		       "' xyzzy' is neither a family nor a function; the families are "
		       "memory, launch, copy, sync, "
		       "stream, event, device, context, module, graph, nccl, errors, all");
	expect_mistake(
		"cuda[M]alloc",
		"'cuda[M]alloc' is neither a family nor a function; the families are "
		"memory, launch, "
		"copy, sync, stream, event, device, context, module, graph, nccl, errors, all");
}

/* A name that begins with cu may be from a newer library, but can be requested. */
static void test_unknown(void **state)
{
	struct trace_selection *selection =
		SELECTION("cudaMaloc,memory,cuNo*",
			  "cudaMalloc,!cuQqqqqqqqqqqqqqqqqqqq,cuNewThing,cuda*Async");
	struct trace_functions *functions = trace_functions__new(false);
	size_t at = 0;

	(void)state;
	assert_non_null(functions);
	assert_true(trace_functions__add(functions, "cuNewThing_ptsz", LAYER_DRIVER) >= 0);
	assert_string_equal(trace_selection__unknown(selection, functions, &at), "cudaMaloc");
	assert_string_equal(trace_selection__unknown(selection, functions, &at), "cuNo*");
	assert_string_equal(trace_selection__unknown(selection, functions, &at),
			    "cuQqqqqqqqqqqqqqqqqqqq");
	assert_null(trace_selection__unknown(selection, functions, &at));
	assert_string_equal(trace_selection__like("cudaMaloc"), "cudaMalloc");
	assert_null(trace_selection__like("cudaMallo?"));
	assert_null(trace_selection__like("cuQqqqqqqqqqqqqqqqqqqq"));
	trace_functions__free(functions);
	trace_selection__free(selection);
}

static void go_through_unknown(size_t names)
{
	struct trace_selection *selection = trace_selection__new(API_AUTO);
	struct trace_functions *functions = trace_functions__new(false);
	size_t at = 0, count = 0;
	struct error error;

	assert_non_null(selection);
	assert_non_null(functions);
	for (size_t i = 0; i < names; i++)
		assert_int_equal(trace_selection__add(selection, "cudaMaloc", &error), 0);
	while (trace_selection__unknown(selection, functions, &at))
		count++;
	assert_int_equal(count, names);
	trace_functions__free(functions);
	trace_selection__free(selection);
}

static void test_many_unknown(void **state)
{
	(void)state;
	not_under_valgrind();
	assert_linear("unknown names", go_through_unknown, 125);
}

/* Words that select nothing now: an error, except names that a newer library could have. */
static void test_check(void **state)
{
	static const struct {
		const char *text;
		bool ok;
	} cases[] = {
		{"sync", true},
		{"sync,!sync", false},
		{"!all", false},
		{"all,!cu*,!__cu*", false},
		{"cudaMalloc,!cuda*", false},
		{"!cudaMalloc", true},
		{"cuda*Zzz", true},
		{"cudaMaloc", true},
		{"!all,cuFutureThing", true},
		{"!all,!cuFutureThing", false},
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct trace_selection *selection = SELECTION(cases[i].text);

		if ((trace_selection__check(selection, &err) == 0) != cases[i].ok)
			fail_msg("%s", cases[i].text);
		trace_selection__free(selection);
	}
}

static void test_check_names(void **state)
{
	struct trace_functions *functions = trace_functions__new(false);
	struct trace_selection *mistyped = SELECTION("cudaMaloc"),
			       *not_alone = SELECTION("cudaMaloc,sync"),
			       *new = SELECTION("cuFutureThing"), *pattern = SELECTION("cuda*Zzz");
	struct error err = {.text = ""};

	(void)state;
	assert_non_null(functions);
	assert_int_equal(trace_selection__check_names(mistyped, functions, &err), -EINVAL);
	assert_string_equal(err.text,
			    "gpuprobe knows no function cudaMaloc, and no library found has it; "
			    "did you mean cudaMalloc?");
	assert_int_equal(trace_selection__check_names(not_alone, functions, &err), 0);
	assert_int_equal(trace_selection__check_names(new, functions, &err), 0);
	assert_int_equal(trace_selection__check_names(pattern, functions, &err), 0);
	assert_true(trace_functions__add(functions, "cudaMaloc", LAYER_RUNTIME) >= 0);
	assert_int_equal(trace_selection__check_names(mistyped, functions, &err), 0);
	trace_selection__free(mistyped);
	trace_selection__free(not_alone);
	trace_selection__free(new);
	trace_selection__free(pattern);
	trace_functions__free(functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),	  cmocka_unit_test(test_families),
		cmocka_unit_test(test_names),	  cmocka_unit_test(test_exclusions),
		cmocka_unit_test(test_libraries), cmocka_unit_test(test_layers),
		cmocka_unit_test(test_symbols),	  cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_unknown),	  cmocka_unit_test(test_many_unknown),
		cmocka_unit_test(test_check),	  cmocka_unit_test(test_check_names),
	};

	return cmocka_run_group_tests_name("trace selection", tests, NULL, NULL);
}
