// SPDX-License-Identifier: BSD-2-Clause
// The plans of all functions: that they fit the limits, keep what is shown,
// and that the types and structures of the table are understood.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../sim/include/cuda_driver_types.h"
#include "../../sim/include/cuda_runtime_types.h"
#include "trace/steps.h"

struct state {
	struct trace_functions *plain, *with_args;
};

static int set_up(void **state)
{
	static struct state both;

	both.plain = trace_functions__new(false);
	both.with_args = trace_functions__new(true);
	*state = &both;
	return both.plain && both.with_args ? 0 : -1;
}

static int tear_down(void **state)
{
	struct state *both = *state;

	trace_functions__free(both->plain);
	trace_functions__free(both->with_args);
	return 0;
}

/* All that is kept of a call at the most, but for kernel arguments and the stack. */
static size_t payload_of(const struct trace_plan *plan)
{
	size_t size = plan->words * 8u + (plan->flags & TRACE_PLAN_KERNEL ? 8 : 0), i;

	for (i = 0; i < plan->reads; i++)
		size += 2 + (plan->read[i].kind == TRACE_READ_BYTES ? plan->read[i].size : TRACE_STRING_SIZE + 1);
	return size;
}

static void check_limits(const struct trace_function *function)
{
	const struct trace_plan *plan = &function->plan;
	size_t i;

	assert_true(plan->words <= TRACE_WORDS);
	assert_true(plan->reads <= TRACE_READS);
	assert_true(payload_of(plan) <= TRACE_PAYLOAD_MAX);
	assert_true(function->step_count < TRACE_FIELDS_MAX);
	for (i = 0; i < plan->reads; i++) {
		assert_true(plan->read[i].word < plan->words);
		if (plan->read[i].kind == TRACE_READ_BYTES)
			assert_in_range(plan->read[i].size, 1, TRACE_BLOCK_MAX);
		else
			assert_int_equal(plan->read[i].size, 0);
		assert_non_null(function->block[i].name);
	}
	if (plan->flags & TRACE_PLAN_KERNEL)
		assert_true(plan->kernel_word < plan->words);
	else
		assert_int_equal(plan->kernel_word, TRACE_NO_WORD);
	if (plan->flags & TRACE_PLAN_ARGS) {
		assert_true(plan->args_word < plan->words);
		assert_true(plan->extra_word == TRACE_NO_WORD || plan->extra_word < plan->words);
	}
}

/* Every step's bytes are among what the plan keeps; a box has several fields. */
static void check_steps(const struct trace_function *function)
{
	const struct trace_plan *plan = &function->plan;
	const struct trace_step *step = function->steps, *end = step + function->step_count;

	for (; step < end; step++) {
		assert_non_null(step->name);
		assert_true(step->unit > 0);
		if (step->block == STEP_FROM_WORDS) {
			assert_true(step->offset + step->size <= plan->words * 8u);
			continue;
		}
		assert_true(step->block < plan->reads);
		if (plan->read[step->block].kind == TRACE_READ_BYTES)
			assert_true(step->offset + step->size <= plan->read[step->block].size);
	}
}

static void test_all_rows(void **state)
{
	const struct state *both = *state;
	uint32_t row;

	assert_int_equal(trace_functions__count(both->plain), api_function_count);
	for (row = 0; row < api_function_count; row++) {
		const struct trace_function *plain = trace_functions__at(both->plain, row);

		assert_string_equal(trace_function__symbol(plain), api_functions[row].symbol);
		assert_int_equal(trace_function__plan(plain)->layer, api_functions[row].desc.layer);
		check_limits(plain);
		check_steps(plain);
		check_limits(trace_functions__at(both->with_args, row));
		assert_false(plain->plan.flags & TRACE_PLAN_ARGS);
	}
	assert_null(trace_functions__at(both->plain, row));
}

/* Every argument of a call that is no launch is shown, or what it points to. */
static void test_all_arguments(void **state)
{
	const struct state *both = *state;
	uint32_t row;
	unsigned int i, j;

	for (row = 0; row < api_function_count; row++) {
		const struct api_function *api = &api_functions[row];
		const struct trace_function *function = trace_functions__at(both->plain, row);

		if (function->operation == OP_LAUNCH)
			continue;
		for (i = 0; i < api->argument_count; i++) {
			uint8_t word = api->arguments[i].word;
			bool shown = word == PLACE_NONE;

			for (j = 0; j < function->step_count && !shown; j++) {
				const struct trace_step *step = &function->steps[j];

				shown = step->block == STEP_FROM_WORDS ?
						step->offset / 8 == word && step->form != FORM_UNKNOWN :
						function->plan.read[step->block].word == word;
			}
			if (!shown)
				fail_msg("%s.%s is not shown", api->symbol, api->arguments[i].name);
		}
	}
}

static const struct trace_plan *plan_of(const struct trace_functions *functions, const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	if (row < 0)
		fail_msg("%s is not in the table", symbol);
	return trace_function__plan(trace_functions__at(functions, (uint32_t)row));
}

static void test_launches(void **state)
{
	static const struct {
		const char *symbol;
		uint8_t words, words_with_args, kernel, args, extra;
	} launches[] = {
		{"cudaLaunchKernel", 8, 8, 0, 5, TRACE_NO_WORD},
		{"cudaLaunchKernel_ptsz", 8, 8, 0, 5, TRACE_NO_WORD},
		{"__cudaLaunchKernel", 8, 8, 0, 5, TRACE_NO_WORD},
		{"cudaLaunchCooperativeKernel", 8, 8, 0, 5, TRACE_NO_WORD},
		{"cudaLaunchKernelExC", 2, 3, 1, 2, TRACE_NO_WORD},
		{"cuLaunchKernel", 9, 11, 0, 9, 10},
		{"cuLaunchCooperativeKernel_ptsz", 9, 10, 0, 9, TRACE_NO_WORD},
		{"cuLaunchKernelEx", 2, 4, 1, 2, 3},
		{"cuLaunch", 1, 1, 0, TRACE_NO_WORD, TRACE_NO_WORD},
	};
	const struct state *both = *state;
	size_t i;

	for (i = 0; i < sizeof(launches) / sizeof(launches[0]); i++) {
		const struct trace_plan *plain = plan_of(both->plain, launches[i].symbol);
		const struct trace_plan *with_args = plan_of(both->with_args, launches[i].symbol);

		assert_int_equal(plain->flags, TRACE_PLAN_KERNEL);
		assert_int_equal(plain->words, launches[i].words);
		assert_int_equal(plain->args_word, TRACE_NO_WORD);
		assert_int_equal(with_args->words, launches[i].words_with_args);
		assert_int_equal(with_args->kernel_word, launches[i].kernel);
		assert_int_equal(with_args->args_word, launches[i].args);
		assert_int_equal(with_args->extra_word, launches[i].extra);
	}
}

/* After which calls a kernel's handle may mean another kernel. */
static void test_ends(void **state)
{
	static const char *const ends[] = {
		"cuModuleUnload", "cuLibraryUnload", "cudaLibraryUnload", "cuCtxDestroy_v2", "cudaDeviceReset",
		"cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxRelease_v2", "cuGreenCtxDestroy"};
	static const char *const others[] = {"cudaMalloc", "cudaStreamDestroy", "cuCtxCreate_v2", "cuCtxSetCurrent"};
	const struct state *both = *state;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		assert_int_equal(plan_of(both->plain, ends[i])->flags, TRACE_PLAN_ENDS);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(plan_of(both->plain, others[i])->flags, 0);
}

static void test_returns(void **state)
{
	static const struct {
		const char *symbol;
		enum trace_returns returns;
	} functions[] = {
		{"cudaMalloc", TRACE_RETURNS_ERROR},
		{"cudaGetLastError", TRACE_RETURNS_EARLIER},
		{"cudaPeekAtLastError", TRACE_RETURNS_EARLIER},
		{"cudaGetErrorString", TRACE_RETURNS_VALUE},
		{"cudaGetErrorName", TRACE_RETURNS_VALUE},
		{"__cudaRegisterFatBinary", TRACE_RETURNS_VALUE},
		{"__cudaRegisterFunction", TRACE_RETURNS_NOTHING},
		{"cudaCreateChannelDesc", TRACE_RETURNS_NOTHING},
		{"cuGetErrorString", TRACE_RETURNS_ERROR},
	};
	const struct state *both = *state;
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_int_equal(plan_of(both->plain, functions[i].symbol)->returns, functions[i].returns);
}

/* Functions that the table does not know. */
static void test_add(void **state)
{
	struct trace_functions *functions = trace_functions__new(false);
	char symbol[32] = "cuSomethingNew";
	const struct trace_function *added;
	int row;

	(void)state;
	assert_non_null(functions);
	row = trace_functions__add(functions, symbol, LAYER_DRIVER);
	assert_int_equal(row, api_function_count);
	assert_int_equal(trace_functions__add(functions, symbol, LAYER_DRIVER), row);
	assert_int_equal(trace_functions__add(functions, symbol, LAYER_RUNTIME), row + 1);
	strcpy(symbol, "overwritten");
	added = trace_functions__at(functions, (uint32_t)row);
	assert_string_equal(trace_function__symbol(added), "cuSomethingNew");
	assert_int_equal(trace_function__operation(added), OP_NONE);
	assert_int_equal(trace_function__layer(added), LAYER_DRIVER);
	assert_int_equal(trace_function__returns(added), TRACE_RETURNS_ERROR);
	assert_int_equal(trace_function__plan(added)->words, 6);
	assert_int_equal(added->step_count, 6);
	while (trace_functions__count(functions) < MAX_FUNCTIONS) {
		snprintf(symbol, sizeof(symbol), "cuNew%zu", trace_functions__count(functions));
		assert_true(trace_functions__add(functions, symbol, LAYER_DRIVER) > row);
	}
	assert_int_equal(trace_functions__add(functions, "cuOneMore", LAYER_DRIVER), -ENOSPC);
	assert_ptr_equal(trace_functions__at(functions, (uint32_t)row), added);
	trace_functions__free(functions);
	trace_functions__free(NULL);
}

/*
 * Structures of which the address alone is shown. A type that is not here and
 * is not understood has to be decided on: a number or a handle (trace/type.c),
 * an enumeration (api/enums.tsv), a structure (trace/layout.c), or this list.
 */
static const char *const address_only[] = {
	"CUDA_ARRAY_SPARSE_PROPERTIES",
	"CUDA_BATCH_MEM_OP_NODE_PARAMS",
	"CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC",
	"CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS",
	"CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS",
	"CUDA_EXT_SEM_SIGNAL_NODE_PARAMS",
	"CUDA_EXT_SEM_WAIT_NODE_PARAMS",
	"CUDA_LAUNCH_PARAMS",
	"CUDA_MEMCPY3D_BATCH_OP",
	"CUDA_RESOURCE_VIEW_DESC",
	"CUDA_TEXTURE_DESC",
	"CUarrayMapInfo",
	"CUcheckpointCheckpointArgs",
	"CUcheckpointLockArgs",
	"CUcheckpointRestoreArgs",
	"CUcheckpointUnlockArgs",
	"CUctxCreateParams",
	"CUdevResource",
	"CUdevprop",
	"CUexecAffinityParam",
	"CUgraphEdgeData",
	"CUkernelNodeAttrValue",
	"CUmemAccessDesc",
	"CUmemDecompressParams",
	"CUmemPoolPtrExportData",
	"CUmemcpyAttributes",
	"CUstreamAttrValue",
	"CUstreamBatchMemOpParams",
	"CUtensorMap",
	"cudaArraySparseProperties",
	"cudaDeviceProp",
	"cudaExternalMemoryMipmappedArrayDesc",
	"cudaExternalSemaphoreSignalNodeParams",
	"cudaExternalSemaphoreSignalParams",
	"cudaExternalSemaphoreWaitNodeParams",
	"cudaExternalSemaphoreWaitParams",
	"cudaGraphEdgeData",
	"cudaLaunchAttributeValue",
	"cudaLaunchParams",
	"cudaMemAccessDesc",
	"cudaMemPoolPtrExportData",
	"cudaMemcpy3DBatchOp",
	"cudaMemcpyAttributes",
	"cudaResourceViewDesc",
	"cudaTextureDesc",
	"cudaTextureDesc_v2",
	"surfaceReference",
	"textureReference",
	"void",
};

static bool is_address_only(const char *type)
{
	size_t i, length;

	for (i = 0; i < sizeof(address_only) / sizeof(address_only[0]); i++) {
		const char *at = strstr(type, address_only[i]);

		length = strlen(address_only[i]);
		if (at && (at == type || at[-1] == ' ') && at[length] == ' ')
			return true;
	}
	return false;
}

static void test_types(void **state)
{
	const struct api_argument *argument;
	enum type_reading reading;
	struct trace_type type;
	size_t row, i;

	(void)state;
	for (row = 0; row < api_function_count; row++) {
		for (i = 0; i < api_functions[row].argument_count; i++) {
			argument = &api_functions[row].arguments[i];
			reading = trace_type__of(argument->type, PASSING_BY_TYPE, &type);
			if (type.sort == SORT_UNKNOWN ? !is_address_only(argument->type) :
							reading == READING_NONE && type.size != argument->size)
				fail_msg("%s.%s: %s", api_functions[row].symbol, argument->name, argument->type);
			if (strstr(argument->type, "enum "))
				assert_int_equal(type.sort, SORT_WORD);
		}
	}
}

static void test_readings(void **state)
{
	static const struct {
		const char *type;
		enum api_passing passing;
		enum type_reading reading;
		enum trace_form form;
		uint8_t size;
	} types[] = {
		{"size_t", 0, READING_NONE, FORM_UNSIGNED, 8},
		{"int *", 0, READING_AT_RETURN, FORM_SIGNED, 4},
		{"int *", PASSING_ADDRESS, READING_ADDRESS, FORM_SIGNED, 4},
		{"size_t *", PASSING_GIVEN, READING_AT_ENTRY, FORM_UNSIGNED, 8},
		{"const size_t *", 0, READING_ADDRESS, FORM_UNSIGNED, 8},
		{"void **", 0, READING_AT_RETURN, FORM_ADDRESS, 8},
		{"void *const *", 0, READING_ADDRESS, FORM_ADDRESS, 8},
		{"const void *const *", 0, READING_ADDRESS, FORM_ADDRESS, 8},
		{"const char *", 0, READING_AT_ENTRY, FORM_TEXT, 1},
		{"char *", 0, READING_AT_RETURN, FORM_TEXT, 1},
		{"const char **", 0, READING_TEXT_BEHIND, FORM_TEXT, 8},
		{"const CUgraphNode **", 0, READING_AT_RETURN, FORM_ADDRESS, 8},
		{"const CUuuid *", 0, READING_AT_ENTRY, FORM_BYTES, 16},
		{"double *", 0, READING_AT_RETURN, FORM_REAL, 8},
		{"struct cudaExtent", 0, READING_NONE, FORM_UNSIGNED, 24},
		{"CUdeviceptr_v1 *", 0, READING_AT_RETURN, FORM_ADDRESS, 4},
	};
	struct trace_type type;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (trace_type__of(types[i].type, types[i].passing, &type) != types[i].reading ||
		    type.form != types[i].form || type.size != types[i].size)
			fail_msg("%s: form %u of %u bytes", types[i].type, type.form, type.size);
	}
}

/* As in the headers of CUDA 13.0, of what the simulator has no type for. */
struct external_buffer {
	unsigned long long offset, size;
	unsigned int flags;
};

union external_handle {
	int fd;
	struct {
		void *handle;
		const void *name;
	} win32;
};

struct external_memory {
	int type;
	union external_handle handle;
	unsigned long long size;
	unsigned int flags;
};

struct external_semaphore {
	int type;
	union external_handle handle;
	unsigned int flags;
};

struct multicast {
	unsigned int numDevices;
	size_t size;
	unsigned long long handleTypes, flags;
};

struct resource {
	int resType;
};

/* clang-format off */
#define AT(type, name, structure, member) { type, name, offsetof(structure, member) }
/* clang-format on */

static const struct {
	const char *type, *name;
	size_t offset;
} members[] = {
	AT("CUDA_ARRAY3D_DESCRIPTOR", "Width", CUDA_ARRAY3D_DESCRIPTOR, Width),
	AT("CUDA_ARRAY3D_DESCRIPTOR", "Height", CUDA_ARRAY3D_DESCRIPTOR, Height),
	AT("CUDA_ARRAY3D_DESCRIPTOR", "Depth", CUDA_ARRAY3D_DESCRIPTOR, Depth),
	AT("CUDA_ARRAY3D_DESCRIPTOR", "Format", CUDA_ARRAY3D_DESCRIPTOR, Format),
	AT("CUDA_ARRAY3D_DESCRIPTOR", "NumChannels", CUDA_ARRAY3D_DESCRIPTOR, NumChannels),
	AT("CUDA_ARRAY3D_DESCRIPTOR", "Flags", CUDA_ARRAY3D_DESCRIPTOR, Flags),
	AT("CUDA_ARRAY3D_DESCRIPTOR_v1", "Width", CUDA_ARRAY3D_DESCRIPTOR_v1, Width),
	AT("CUDA_ARRAY3D_DESCRIPTOR_v1", "Height", CUDA_ARRAY3D_DESCRIPTOR_v1, Height),
	AT("CUDA_ARRAY3D_DESCRIPTOR_v1", "Depth", CUDA_ARRAY3D_DESCRIPTOR_v1, Depth),
	AT("CUDA_ARRAY3D_DESCRIPTOR_v1", "Format", CUDA_ARRAY3D_DESCRIPTOR_v1, Format),
	AT("CUDA_ARRAY3D_DESCRIPTOR_v1", "NumChannels", CUDA_ARRAY3D_DESCRIPTOR_v1, NumChannels),
	AT("CUDA_ARRAY3D_DESCRIPTOR_v1", "Flags", CUDA_ARRAY3D_DESCRIPTOR_v1, Flags),
	AT("CUDA_ARRAY_DESCRIPTOR", "Width", CUDA_ARRAY_DESCRIPTOR, Width),
	AT("CUDA_ARRAY_DESCRIPTOR", "Height", CUDA_ARRAY_DESCRIPTOR, Height),
	AT("CUDA_ARRAY_DESCRIPTOR", "Format", CUDA_ARRAY_DESCRIPTOR, Format),
	AT("CUDA_ARRAY_DESCRIPTOR", "NumChannels", CUDA_ARRAY_DESCRIPTOR, NumChannels),
	AT("CUDA_ARRAY_DESCRIPTOR_v1", "Width", CUDA_ARRAY_DESCRIPTOR_v1, Width),
	AT("CUDA_ARRAY_DESCRIPTOR_v1", "Height", CUDA_ARRAY_DESCRIPTOR_v1, Height),
	AT("CUDA_ARRAY_DESCRIPTOR_v1", "Format", CUDA_ARRAY_DESCRIPTOR_v1, Format),
	AT("CUDA_ARRAY_DESCRIPTOR_v1", "NumChannels", CUDA_ARRAY_DESCRIPTOR_v1, NumChannels),
	AT("CUDA_ARRAY_MEMORY_REQUIREMENTS", "size", CUDA_ARRAY_MEMORY_REQUIREMENTS, size),
	AT("CUDA_ARRAY_MEMORY_REQUIREMENTS", "alignment", CUDA_ARRAY_MEMORY_REQUIREMENTS, alignment),
	AT("CUDA_EXTERNAL_MEMORY_BUFFER_DESC", "offset", struct external_buffer, offset),
	AT("CUDA_EXTERNAL_MEMORY_BUFFER_DESC", "size", struct external_buffer, size),
	AT("CUDA_EXTERNAL_MEMORY_BUFFER_DESC", "flags", struct external_buffer, flags),
	AT("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "type", struct external_memory, type),
	AT("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "size", struct external_memory, size),
	AT("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "flags", struct external_memory, flags),
	AT("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC", "type", struct external_semaphore, type),
	AT("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC", "flags", struct external_semaphore, flags),
	AT("CUDA_GRAPH_INSTANTIATE_PARAMS", "flags", CUDA_GRAPH_INSTANTIATE_PARAMS, flags),
	AT("CUDA_GRAPH_INSTANTIATE_PARAMS", "hErrNode_out", CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out),
	AT("CUDA_GRAPH_INSTANTIATE_PARAMS", "result_out", CUDA_GRAPH_INSTANTIATE_PARAMS, result_out),
	AT("CUDA_HOST_NODE_PARAMS", "fn", CUDA_HOST_NODE_PARAMS, fn),
	AT("CUDA_HOST_NODE_PARAMS", "userData", CUDA_HOST_NODE_PARAMS, userData),
	AT("CUDA_KERNEL_NODE_PARAMS", "func", CUDA_KERNEL_NODE_PARAMS, func),
	AT("CUDA_KERNEL_NODE_PARAMS", "gridDim", CUDA_KERNEL_NODE_PARAMS, gridDimX),
	AT("CUDA_KERNEL_NODE_PARAMS", "blockDim", CUDA_KERNEL_NODE_PARAMS, blockDimX),
	AT("CUDA_KERNEL_NODE_PARAMS", "sharedMemBytes", CUDA_KERNEL_NODE_PARAMS, sharedMemBytes),
	AT("CUDA_KERNEL_NODE_PARAMS_v1", "func", CUDA_KERNEL_NODE_PARAMS_v1, func),
	AT("CUDA_KERNEL_NODE_PARAMS_v1", "gridDim", CUDA_KERNEL_NODE_PARAMS_v1, gridDimX),
	AT("CUDA_KERNEL_NODE_PARAMS_v1", "blockDim", CUDA_KERNEL_NODE_PARAMS_v1, blockDimX),
	AT("CUDA_KERNEL_NODE_PARAMS_v1", "sharedMemBytes", CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes),
	AT("CUDA_MEMSET_NODE_PARAMS", "dst", CUDA_MEMSET_NODE_PARAMS, dst),
	AT("CUDA_MEMSET_NODE_PARAMS", "pitch", CUDA_MEMSET_NODE_PARAMS, pitch),
	AT("CUDA_MEMSET_NODE_PARAMS", "value", CUDA_MEMSET_NODE_PARAMS, value),
	AT("CUDA_MEMSET_NODE_PARAMS", "elementSize", CUDA_MEMSET_NODE_PARAMS, elementSize),
	AT("CUDA_MEMSET_NODE_PARAMS", "width", CUDA_MEMSET_NODE_PARAMS, width),
	AT("CUDA_MEMSET_NODE_PARAMS", "height", CUDA_MEMSET_NODE_PARAMS, height),
	AT("CUDA_MEM_ALLOC_NODE_PARAMS", "bytesize", CUDA_MEM_ALLOC_NODE_PARAMS, bytesize),
	AT("CUDA_MEM_ALLOC_NODE_PARAMS", "dptr", CUDA_MEM_ALLOC_NODE_PARAMS, dptr),
	AT("CUDA_RESOURCE_DESC", "resType", struct resource, resType),
	AT("CUgraphExecUpdateResultInfo", "result", CUgraphExecUpdateResultInfo, result),
	AT("CUgraphExecUpdateResultInfo", "errorNode", CUgraphExecUpdateResultInfo, errorNode),
	AT("CUgraphExecUpdateResultInfo", "errorFromNode", CUgraphExecUpdateResultInfo, errorFromNode),
	AT("CUgraphNodeParams", "type", CUgraphNodeParams, type),
	AT("CUlaunchConfig", "gridDim", CUlaunchConfig, gridDimX),
	AT("CUlaunchConfig", "blockDim", CUlaunchConfig, blockDimX),
	AT("CUlaunchConfig", "sharedMemBytes", CUlaunchConfig, sharedMemBytes),
	AT("CUlaunchConfig", "hStream", CUlaunchConfig, hStream),
	AT("CUlaunchConfig", "numAttrs", CUlaunchConfig, numAttrs),
	AT("CUmemAllocationProp", "type", CUmemAllocationProp, type),
	AT("CUmemAllocationProp", "requestedHandleTypes", CUmemAllocationProp, requestedHandleTypes),
	AT("CUmemAllocationProp", "location.type", CUmemAllocationProp, location.type),
	AT("CUmemAllocationProp", "location.id", CUmemAllocationProp, location.id),
	AT("CUmemLocation", "type", CUmemLocation, type),
	AT("CUmemLocation", "id", CUmemLocation, id),
	AT("CUmemPoolProps", "allocType", CUmemPoolProps, allocType),
	AT("CUmemPoolProps", "handleTypes", CUmemPoolProps, handleTypes),
	AT("CUmemPoolProps", "location.type", CUmemPoolProps, location.type),
	AT("CUmemPoolProps", "location.id", CUmemPoolProps, location.id),
	AT("CUmemPoolProps", "maxSize", CUmemPoolProps, maxSize),
	AT("CUmulticastObjectProp", "numDevices", struct multicast, numDevices),
	AT("CUmulticastObjectProp", "size", struct multicast, size),
	AT("CUmulticastObjectProp", "handleTypes", struct multicast, handleTypes),
	AT("CUmulticastObjectProp", "flags", struct multicast, flags),
	AT("cudaArrayMemoryRequirements", "size", struct cudaArrayMemoryRequirements, size),
	AT("cudaArrayMemoryRequirements", "alignment", struct cudaArrayMemoryRequirements, alignment),
	AT("cudaChannelFormatDesc", "x", struct cudaChannelFormatDesc, x),
	AT("cudaChannelFormatDesc", "y", struct cudaChannelFormatDesc, y),
	AT("cudaChannelFormatDesc", "z", struct cudaChannelFormatDesc, z),
	AT("cudaChannelFormatDesc", "w", struct cudaChannelFormatDesc, w),
	AT("cudaChannelFormatDesc", "f", struct cudaChannelFormatDesc, f),
	AT("cudaExtent", "width", struct cudaExtent, width),
	AT("cudaExtent", "height", struct cudaExtent, height),
	AT("cudaExtent", "depth", struct cudaExtent, depth),
	AT("cudaExternalMemoryBufferDesc", "offset", struct external_buffer, offset),
	AT("cudaExternalMemoryBufferDesc", "size", struct external_buffer, size),
	AT("cudaExternalMemoryBufferDesc", "flags", struct external_buffer, flags),
	AT("cudaExternalMemoryHandleDesc", "type", struct external_memory, type),
	AT("cudaExternalMemoryHandleDesc", "size", struct external_memory, size),
	AT("cudaExternalMemoryHandleDesc", "flags", struct external_memory, flags),
	AT("cudaExternalSemaphoreHandleDesc", "type", struct external_semaphore, type),
	AT("cudaExternalSemaphoreHandleDesc", "flags", struct external_semaphore, flags),
	AT("cudaFuncAttributes", "sharedSizeBytes", struct cudaFuncAttributes, sharedSizeBytes),
	AT("cudaFuncAttributes", "constSizeBytes", struct cudaFuncAttributes, constSizeBytes),
	AT("cudaFuncAttributes", "localSizeBytes", struct cudaFuncAttributes, localSizeBytes),
	AT("cudaFuncAttributes", "maxThreadsPerBlock", struct cudaFuncAttributes, maxThreadsPerBlock),
	AT("cudaFuncAttributes", "numRegs", struct cudaFuncAttributes, numRegs),
	AT("cudaFuncAttributes", "ptxVersion", struct cudaFuncAttributes, ptxVersion),
	AT("cudaFuncAttributes", "binaryVersion", struct cudaFuncAttributes, binaryVersion),
	AT("cudaGraphExecUpdateResultInfo", "result", cudaGraphExecUpdateResultInfo, result),
	AT("cudaGraphExecUpdateResultInfo", "errorNode", cudaGraphExecUpdateResultInfo, errorNode),
	AT("cudaGraphExecUpdateResultInfo", "errorFromNode", cudaGraphExecUpdateResultInfo, errorFromNode),
	AT("cudaGraphInstantiateParams", "flags", cudaGraphInstantiateParams, flags),
	AT("cudaGraphInstantiateParams", "errNode_out", cudaGraphInstantiateParams, errNode_out),
	AT("cudaGraphInstantiateParams", "result_out", cudaGraphInstantiateParams, result_out),
	AT("cudaGraphNodeParams", "type", struct cudaGraphNodeParams, type),
	AT("cudaHostNodeParams", "fn", struct cudaHostNodeParams, fn),
	AT("cudaHostNodeParams", "userData", struct cudaHostNodeParams, userData),
	AT("cudaKernelNodeParams", "func", struct cudaKernelNodeParams, func),
	AT("cudaKernelNodeParams", "gridDim", struct cudaKernelNodeParams, gridDim),
	AT("cudaKernelNodeParams", "blockDim", struct cudaKernelNodeParams, blockDim),
	AT("cudaKernelNodeParams", "sharedMemBytes", struct cudaKernelNodeParams, sharedMemBytes),
	AT("cudaLaunchConfig_t", "gridDim", cudaLaunchConfig_t, gridDim),
	AT("cudaLaunchConfig_t", "blockDim", cudaLaunchConfig_t, blockDim),
	AT("cudaLaunchConfig_t", "dynamicSmemBytes", cudaLaunchConfig_t, dynamicSmemBytes),
	AT("cudaLaunchConfig_t", "stream", cudaLaunchConfig_t, stream),
	AT("cudaLaunchConfig_t", "numAttrs", cudaLaunchConfig_t, numAttrs),
	AT("cudaMemAllocNodeParams", "bytesize", struct cudaMemAllocNodeParams, bytesize),
	AT("cudaMemAllocNodeParams", "dptr", struct cudaMemAllocNodeParams, dptr),
	AT("cudaMemLocation", "type", struct cudaMemLocation, type),
	AT("cudaMemLocation", "id", struct cudaMemLocation, id),
	AT("cudaMemPoolProps", "allocType", struct cudaMemPoolProps, allocType),
	AT("cudaMemPoolProps", "handleTypes", struct cudaMemPoolProps, handleTypes),
	AT("cudaMemPoolProps", "location.type", struct cudaMemPoolProps, location.type),
	AT("cudaMemPoolProps", "location.id", struct cudaMemPoolProps, location.id),
	AT("cudaMemPoolProps", "maxSize", struct cudaMemPoolProps, maxSize),
	AT("cudaMemsetParams", "dst", struct cudaMemsetParams, dst),
	AT("cudaMemsetParams", "pitch", struct cudaMemsetParams, pitch),
	AT("cudaMemsetParams", "value", struct cudaMemsetParams, value),
	AT("cudaMemsetParams", "elementSize", struct cudaMemsetParams, elementSize),
	AT("cudaMemsetParams", "width", struct cudaMemsetParams, width),
	AT("cudaMemsetParams", "height", struct cudaMemsetParams, height),
	AT("cudaPitchedPtr", "ptr", struct cudaPitchedPtr, ptr),
	AT("cudaPitchedPtr", "pitch", struct cudaPitchedPtr, pitch),
	AT("cudaPitchedPtr", "xsize", struct cudaPitchedPtr, xsize),
	AT("cudaPitchedPtr", "ysize", struct cudaPitchedPtr, ysize),
	AT("cudaPointerAttributes", "type", struct cudaPointerAttributes, type),
	AT("cudaPointerAttributes", "device", struct cudaPointerAttributes, device),
	AT("cudaPointerAttributes", "devicePointer", struct cudaPointerAttributes, devicePointer),
	AT("cudaPointerAttributes", "hostPointer", struct cudaPointerAttributes, hostPointer),
	AT("cudaResourceDesc", "resType", struct resource, resType),
};

static void test_layouts(void **state)
{
	const struct trace_layout *layout;
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		layout = trace_layout__find(members[i].type);
		if (!layout)
			fail_msg("%s has no layout", members[i].type);
		for (j = 0; j < layout->count && strcmp(layout->members[j].name, members[i].name) != 0; j++)
			;
		if (j == layout->count || layout->members[j].offset != members[i].offset)
			fail_msg("%s.%s", members[i].type, members[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_rows),
		cmocka_unit_test(test_all_arguments),
		cmocka_unit_test(test_launches),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_readings),
		cmocka_unit_test(test_layouts),
	};

	return cmocka_run_group_tests_name("trace plan", tests, set_up, tear_down);
}
