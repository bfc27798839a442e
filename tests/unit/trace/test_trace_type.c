// SPDX-License-Identifier: BSD-2-Clause
// Checks that the tracer understands the types and structures of the API table.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../sim/include/cuda_driver_types.h"
#include "../../../sim/include/cuda_runtime_types.h"
#include "trace/steps.h"

/*
 * Structures of which only the address is shown. Each type that is not here and is not understood
 * needs a decision: a number or a handle (trace/type.c), an enumeration (api/enums.tsv), a
 * structure (trace/layout.c), or this list.
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
			if (type.sort == SORT_UNKNOWN ?
				    !is_address_only(argument->type) :
				    reading == READING_NONE && type.size != argument->size)
				fail_msg("%s.%s: %s", api_functions[row].symbol, argument->name,
					 argument->type);
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

/* As in the headers of CUDA 13.0, for types that the simulator does not have. */
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
	AT("CUDA_ARRAY_MEMORY_REQUIREMENTS", "alignment", CUDA_ARRAY_MEMORY_REQUIREMENTS,
	   alignment),
	AT("CUDA_EXTERNAL_MEMORY_BUFFER_DESC", "offset", struct external_buffer, offset),
	AT("CUDA_EXTERNAL_MEMORY_BUFFER_DESC", "size", struct external_buffer, size),
	AT("CUDA_EXTERNAL_MEMORY_BUFFER_DESC", "flags", struct external_buffer, flags),
	AT("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "type", struct external_memory, type),
	AT("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "size", struct external_memory, size),
	AT("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "flags", struct external_memory, flags),
	AT("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC", "type", struct external_semaphore, type),
	AT("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC", "flags", struct external_semaphore, flags),
	AT("CUDA_GRAPH_INSTANTIATE_PARAMS", "flags", CUDA_GRAPH_INSTANTIATE_PARAMS, flags),
	AT("CUDA_GRAPH_INSTANTIATE_PARAMS", "hErrNode_out", CUDA_GRAPH_INSTANTIATE_PARAMS,
	   hErrNode_out),
	AT("CUDA_GRAPH_INSTANTIATE_PARAMS", "result_out", CUDA_GRAPH_INSTANTIATE_PARAMS,
	   result_out),
	AT("CUDA_HOST_NODE_PARAMS", "fn", CUDA_HOST_NODE_PARAMS, fn),
	AT("CUDA_HOST_NODE_PARAMS", "userData", CUDA_HOST_NODE_PARAMS, userData),
	AT("CUDA_KERNEL_NODE_PARAMS", "func", CUDA_KERNEL_NODE_PARAMS, func),
	AT("CUDA_KERNEL_NODE_PARAMS", "gridDim", CUDA_KERNEL_NODE_PARAMS, gridDimX),
	AT("CUDA_KERNEL_NODE_PARAMS", "blockDim", CUDA_KERNEL_NODE_PARAMS, blockDimX),
	AT("CUDA_KERNEL_NODE_PARAMS", "sharedMemBytes", CUDA_KERNEL_NODE_PARAMS, sharedMemBytes),
	AT("CUDA_KERNEL_NODE_PARAMS_v1", "func", CUDA_KERNEL_NODE_PARAMS_v1, func),
	AT("CUDA_KERNEL_NODE_PARAMS_v1", "gridDim", CUDA_KERNEL_NODE_PARAMS_v1, gridDimX),
	AT("CUDA_KERNEL_NODE_PARAMS_v1", "blockDim", CUDA_KERNEL_NODE_PARAMS_v1, blockDimX),
	AT("CUDA_KERNEL_NODE_PARAMS_v1", "sharedMemBytes", CUDA_KERNEL_NODE_PARAMS_v1,
	   sharedMemBytes),
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
	AT("CUgraphExecUpdateResultInfo", "errorFromNode", CUgraphExecUpdateResultInfo,
	   errorFromNode),
	AT("CUgraphNodeParams", "type", CUgraphNodeParams, type),
	AT("CUlaunchConfig", "gridDim", CUlaunchConfig, gridDimX),
	AT("CUlaunchConfig", "blockDim", CUlaunchConfig, blockDimX),
	AT("CUlaunchConfig", "sharedMemBytes", CUlaunchConfig, sharedMemBytes),
	AT("CUlaunchConfig", "hStream", CUlaunchConfig, hStream),
	AT("CUlaunchConfig", "numAttrs", CUlaunchConfig, numAttrs),
	AT("CUmemAllocationProp", "type", CUmemAllocationProp, type),
	AT("CUmemAllocationProp", "requestedHandleTypes", CUmemAllocationProp,
	   requestedHandleTypes),
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
	AT("cudaArrayMemoryRequirements", "alignment", struct cudaArrayMemoryRequirements,
	   alignment),
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
	AT("cudaFuncAttributes", "maxThreadsPerBlock", struct cudaFuncAttributes,
	   maxThreadsPerBlock),
	AT("cudaFuncAttributes", "numRegs", struct cudaFuncAttributes, numRegs),
	AT("cudaFuncAttributes", "ptxVersion", struct cudaFuncAttributes, ptxVersion),
	AT("cudaFuncAttributes", "binaryVersion", struct cudaFuncAttributes, binaryVersion),
	AT("cudaGraphExecUpdateResultInfo", "result", cudaGraphExecUpdateResultInfo, result),
	AT("cudaGraphExecUpdateResultInfo", "errorNode", cudaGraphExecUpdateResultInfo, errorNode),
	AT("cudaGraphExecUpdateResultInfo", "errorFromNode", cudaGraphExecUpdateResultInfo,
	   errorFromNode),
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
		for (j = 0;
		     j < layout->count && strcmp(layout->members[j].name, members[i].name) != 0;
		     j++)
			;
		if (j == layout->count || layout->members[j].offset != members[i].offset)
			fail_msg("%s.%s", members[i].type, members[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_readings),
		cmocka_unit_test(test_layouts),
	};

	return cmocka_run_group_tests_name("trace types", tests, NULL, NULL);
}
