// SPDX-License-Identifier: BSD-2-Clause
// The structures of the API whose members are printed; see layout.h. Offsets are those of CUDA 13.0
// on x86-64; a unit test compares them with a compiler's.
#include "trace/layout.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define LAYOUT(type, size, members) {type, size, sizeof(members) / sizeof((members)[0]), members}
/* clang-format on */

static const struct trace_member driver_array3_d_descriptor[] = {
	{"Width", "size_t", 0},
	{"Height", "size_t", 8},
	{"Depth", "size_t", 16},
	{"Format", "CUarray_format", 24},
	{"NumChannels", "unsigned int", 28},
	{"Flags", "unsigned int", 32},
};

static const struct trace_member driver_array3_d_descriptor_v1[] = {
	{"Width", "unsigned int", 0},	     {"Height", "unsigned int", 4},
	{"Depth", "unsigned int", 8},	     {"Format", "CUarray_format", 12},
	{"NumChannels", "unsigned int", 16}, {"Flags", "unsigned int", 20},
};

static const struct trace_member driver_array_descriptor[] = {
	{"Width", "size_t", 0},
	{"Height", "size_t", 8},
	{"Format", "CUarray_format", 16},
	{"NumChannels", "unsigned int", 20},
};

static const struct trace_member driver_array_descriptor_v1[] = {
	{"Width", "unsigned int", 0},
	{"Height", "unsigned int", 4},
	{"Format", "CUarray_format", 8},
	{"NumChannels", "unsigned int", 12},
};

static const struct trace_member driver_array_memory_requirements[] = {
	{"size", "size_t", 0},
	{"alignment", "size_t", 8},
};

static const struct trace_member driver_external_memory_buffer_desc[] = {
	{"offset", "unsigned long long", 0},
	{"size", "unsigned long long", 8},
	{"flags", "unsigned int", 16},
};

static const struct trace_member driver_external_memory_handle_desc[] = {
	{"type", "CUexternalMemoryHandleType", 0},
	{"size", "unsigned long long", 24},
	{"flags", "unsigned int", 32},
};

static const struct trace_member driver_external_semaphore_handle_desc[] = {
	{"type", "CUexternalSemaphoreHandleType", 0},
	{"flags", "unsigned int", 24},
};

static const struct trace_member driver_graph_instantiate_params[] = {
	{"flags", "cuuint64_t", 0},
	{"hErrNode_out", "CUgraphNode", 16},
	{"result_out", "CUgraphInstantiateResult", 24},
};

static const struct trace_member driver_host_node_params[] = {
	{"fn", "void *", 0},
	{"userData", "void *", 8},
};

static const struct trace_member driver_kernel_node_params[] = {
	{"func", "CUfunction", 0},
	{"gridDim", "dim3", 8},
	{"blockDim", "dim3", 20},
	{"sharedMemBytes", "unsigned int", 32},
};

static const struct trace_member driver_kernel_node_params_v1[] = {
	{"func", "CUfunction", 0},
	{"gridDim", "dim3", 8},
	{"blockDim", "dim3", 20},
	{"sharedMemBytes", "unsigned int", 32},
};

static const struct trace_member driver_memset_node_params[] = {
	{"dst", "CUdeviceptr", 0},	     {"pitch", "size_t", 8},  {"value", "unsigned int", 16},
	{"elementSize", "unsigned int", 20}, {"width", "size_t", 24}, {"height", "size_t", 32},
};

static const struct trace_member driver_mem_alloc_node_params[] = {
	{"bytesize", "size_t", 104},
	{"dptr", "CUdeviceptr", 112},
};

static const struct trace_member driver_resource_desc[] = {
	{"resType", "CUresourcetype", 0},
};

static const struct trace_member driver_graph_exec_update_result_info[] = {
	{"result", "CUgraphExecUpdateResult", 0},
	{"errorNode", "CUgraphNode", 8},
	{"errorFromNode", "CUgraphNode", 16},
};

static const struct trace_member driver_graph_node_params[] = {
	{"type", "CUgraphNodeType", 0},
};

static const struct trace_member driver_launch_config[] = {
	{"gridDim", "dim3", 0},
	{"blockDim", "dim3", 12},
	{"sharedMemBytes", "unsigned int", 24},
	{"hStream", "CUstream", 32},
	{"numAttrs", "unsigned int", 48},
};

static const struct trace_member driver_mem_allocation_prop[] = {
	{"type", "CUmemAllocationType", 0},
	{"requestedHandleTypes", "CUmemAllocationHandleType", 4},
	{"location.type", "CUmemLocationType", 8},
	{"location.id", "int", 12},
};

static const struct trace_member driver_mem_location[] = {
	{"type", "CUmemLocationType", 0},
	{"id", "int", 4},
};

static const struct trace_member driver_mem_pool_props[] = {
	{"allocType", "CUmemAllocationType", 0},
	{"handleTypes", "CUmemAllocationHandleType", 4},
	{"location.type", "CUmemLocationType", 8},
	{"location.id", "int", 12},
	{"maxSize", "size_t", 24},
};

static const struct trace_member driver_multicast_object_prop[] = {
	{"numDevices", "unsigned int", 0},
	{"size", "size_t", 8},
	{"handleTypes", "unsigned long long", 16},
	{"flags", "unsigned long long", 24},
};

static const struct trace_member runtime_array_memory_requirements[] = {
	{"size", "size_t", 0},
	{"alignment", "size_t", 8},
};

static const struct trace_member runtime_channel_format_desc[] = {
	{"x", "int", 0},
	{"y", "int", 4},
	{"z", "int", 8},
	{"w", "int", 12},
	{"f", "cudaChannelFormatKind", 16},
};

static const struct trace_member runtime_extent[] = {
	{"width", "size_t", 0},
	{"height", "size_t", 8},
	{"depth", "size_t", 16},
};

static const struct trace_member runtime_external_memory_buffer_desc[] = {
	{"offset", "unsigned long long", 0},
	{"size", "unsigned long long", 8},
	{"flags", "unsigned int", 16},
};

static const struct trace_member runtime_external_memory_handle_desc[] = {
	{"type", "cudaExternalMemoryHandleType", 0},
	{"size", "unsigned long long", 24},
	{"flags", "unsigned int", 32},
};

static const struct trace_member runtime_external_semaphore_handle_desc[] = {
	{"type", "cudaExternalSemaphoreHandleType", 0},
	{"flags", "unsigned int", 24},
};

static const struct trace_member runtime_func_attributes[] = {
	{"sharedSizeBytes", "size_t", 0}, {"constSizeBytes", "size_t", 8},
	{"localSizeBytes", "size_t", 16}, {"maxThreadsPerBlock", "int", 24},
	{"numRegs", "int", 28},		  {"ptxVersion", "int", 32},
	{"binaryVersion", "int", 36},
};

static const struct trace_member runtime_graph_exec_update_result_info[] = {
	{"result", "cudaGraphExecUpdateResult", 0},
	{"errorNode", "cudaGraphNode_t", 8},
	{"errorFromNode", "cudaGraphNode_t", 16},
};

static const struct trace_member runtime_graph_instantiate_params[] = {
	{"flags", "unsigned long long", 0},
	{"errNode_out", "cudaGraphNode_t", 16},
	{"result_out", "cudaGraphInstantiateResult", 24},
};

static const struct trace_member runtime_graph_node_params[] = {
	{"type", "cudaGraphNodeType", 0},
};

static const struct trace_member runtime_host_node_params[] = {
	{"fn", "void *", 0},
	{"userData", "void *", 8},
};

static const struct trace_member runtime_kernel_node_params[] = {
	{"func", "void *", 0},
	{"gridDim", "dim3", 8},
	{"blockDim", "dim3", 20},
	{"sharedMemBytes", "unsigned int", 32},
};

static const struct trace_member runtime_launch_config_t[] = {
	{"gridDim", "dim3", 0},
	{"blockDim", "dim3", 12},
	{"dynamicSmemBytes", "size_t", 24},
	{"stream", "cudaStream_t", 32},
	{"numAttrs", "unsigned int", 48},
};

static const struct trace_member runtime_mem_alloc_node_params[] = {
	{"bytesize", "size_t", 104},
	{"dptr", "void *", 112},
};

static const struct trace_member runtime_mem_location[] = {
	{"type", "cudaMemLocationType", 0},
	{"id", "int", 4},
};

static const struct trace_member runtime_mem_pool_props[] = {
	{"allocType", "cudaMemAllocationType", 0},
	{"handleTypes", "cudaMemAllocationHandleType", 4},
	{"location.type", "cudaMemLocationType", 8},
	{"location.id", "int", 12},
	{"maxSize", "size_t", 24},
};

static const struct trace_member runtime_memset_params[] = {
	{"dst", "void *", 0},	       {"pitch", "size_t", 8},
	{"value", "unsigned int", 16}, {"elementSize", "unsigned int", 20},
	{"width", "size_t", 24},       {"height", "size_t", 32},
};

static const struct trace_member runtime_pitched_ptr[] = {
	{"ptr", "void *", 0},
	{"pitch", "size_t", 8},
	{"xsize", "size_t", 16},
	{"ysize", "size_t", 24},
};

static const struct trace_member runtime_pointer_attributes[] = {
	{"type", "cudaMemoryType", 0},
	{"device", "int", 4},
	{"devicePointer", "void *", 8},
	{"hostPointer", "void *", 16},
};

static const struct trace_member runtime_resource_desc[] = {
	{"resType", "cudaResourceType", 0},
};

/* Up to the name, which came with 2.27: what older programs have there is no part of it. */
static const struct trace_member nccl_config[] = {
	{"size", "size_t", 0},	 {"magic", "unsigned int", 8}, {"version", "unsigned int", 12},
	{"blocking", "int", 16}, {"commName", "void *", 48},
};

/* By type (strcmp). */
static const struct trace_layout layouts[] = {
	LAYOUT("CUDA_ARRAY3D_DESCRIPTOR", 36, driver_array3_d_descriptor),
	LAYOUT("CUDA_ARRAY3D_DESCRIPTOR_v1", 24, driver_array3_d_descriptor_v1),
	LAYOUT("CUDA_ARRAY_DESCRIPTOR", 24, driver_array_descriptor),
	LAYOUT("CUDA_ARRAY_DESCRIPTOR_v1", 16, driver_array_descriptor_v1),
	LAYOUT("CUDA_ARRAY_MEMORY_REQUIREMENTS", 16, driver_array_memory_requirements),
	LAYOUT("CUDA_EXTERNAL_MEMORY_BUFFER_DESC", 20, driver_external_memory_buffer_desc),
	LAYOUT("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", 36, driver_external_memory_handle_desc),
	LAYOUT("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC", 28, driver_external_semaphore_handle_desc),
	LAYOUT("CUDA_GRAPH_INSTANTIATE_PARAMS", 28, driver_graph_instantiate_params),
	LAYOUT("CUDA_HOST_NODE_PARAMS", 16, driver_host_node_params),
	LAYOUT("CUDA_KERNEL_NODE_PARAMS", 36, driver_kernel_node_params),
	LAYOUT("CUDA_KERNEL_NODE_PARAMS_v1", 36, driver_kernel_node_params_v1),
	LAYOUT("CUDA_MEMSET_NODE_PARAMS", 40, driver_memset_node_params),
	LAYOUT("CUDA_MEM_ALLOC_NODE_PARAMS", 120, driver_mem_alloc_node_params),
	LAYOUT("CUDA_RESOURCE_DESC", 4, driver_resource_desc),
	LAYOUT("CUgraphExecUpdateResultInfo", 24, driver_graph_exec_update_result_info),
	LAYOUT("CUgraphNodeParams", 4, driver_graph_node_params),
	LAYOUT("CUlaunchConfig", 52, driver_launch_config),
	LAYOUT("CUmemAllocationProp", 16, driver_mem_allocation_prop),
	LAYOUT("CUmemLocation", 8, driver_mem_location),
	LAYOUT("CUmemPoolProps", 32, driver_mem_pool_props),
	LAYOUT("CUmulticastObjectProp", 32, driver_multicast_object_prop),
	LAYOUT("cudaArrayMemoryRequirements", 16, runtime_array_memory_requirements),
	LAYOUT("cudaChannelFormatDesc", 20, runtime_channel_format_desc),
	LAYOUT("cudaExtent", 24, runtime_extent),
	LAYOUT("cudaExternalMemoryBufferDesc", 20, runtime_external_memory_buffer_desc),
	LAYOUT("cudaExternalMemoryHandleDesc", 36, runtime_external_memory_handle_desc),
	LAYOUT("cudaExternalSemaphoreHandleDesc", 28, runtime_external_semaphore_handle_desc),
	LAYOUT("cudaFuncAttributes", 40, runtime_func_attributes),
	LAYOUT("cudaGraphExecUpdateResultInfo", 24, runtime_graph_exec_update_result_info),
	LAYOUT("cudaGraphInstantiateParams", 28, runtime_graph_instantiate_params),
	LAYOUT("cudaGraphNodeParams", 4, runtime_graph_node_params),
	LAYOUT("cudaHostNodeParams", 16, runtime_host_node_params),
	LAYOUT("cudaKernelNodeParams", 36, runtime_kernel_node_params),
	LAYOUT("cudaLaunchConfig_t", 52, runtime_launch_config_t),
	LAYOUT("cudaMemAllocNodeParams", 120, runtime_mem_alloc_node_params),
	LAYOUT("cudaMemLocation", 8, runtime_mem_location),
	LAYOUT("cudaMemPoolProps", 32, runtime_mem_pool_props),
	LAYOUT("cudaMemsetParams", 40, runtime_memset_params),
	LAYOUT("cudaPitchedPtr", 32, runtime_pitched_ptr),
	LAYOUT("cudaPointerAttributes", 24, runtime_pointer_attributes),
	LAYOUT("cudaResourceDesc", 4, runtime_resource_desc),
	LAYOUT("ncclConfig_t", 56, nccl_config),
};

static int compare(const void *type, const void *layout)
{
	return strcmp(type, ((const struct trace_layout *)layout)->type);
}

const struct trace_layout *trace_layout__find(const char *type)
{
	return bsearch(type, layouts, sizeof(layouts) / sizeof(layouts[0]), sizeof(layouts[0]),
		       compare);
}
