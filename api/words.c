// SPDX-License-Identifier: BSD-2-Clause
// The words of functions.tsv and the sizes of its types; see words.h.
#include "words.h"

#include <stddef.h>
#include <string.h>

#include "gpuprobe/trace.h"

struct word {
	const char *text; /* NULL ends a list */
	int value;
};

static const struct word layers[] = {
	{"runtime", LAYER_RUNTIME},
	{"driver", LAYER_DRIVER},
	{"library", LAYER_LIBRARY},
	{NULL, 0},
};

static const struct word operations[] = {
	{"-", OP_NONE},
	{"alloc", OP_ALLOC},
	{"free", OP_FREE},
	{"copy", OP_COPY},
	{"set", OP_SET},
	{"launch", OP_LAUNCH},
	{"graph_launch", OP_GRAPH_LAUNCH},
	{"wait", OP_WAIT},
	{"query", OP_QUERY},
	{"event_record", OP_EVENT_RECORD},
	{"create", OP_CREATE},
	{"destroy", OP_DESTROY},
	{"context", OP_CONTEXT},
	{"device", OP_DEVICE},
	{"get_kernel", OP_GET_KERNEL},
	{"virtual", OP_VIRTUAL},
	{"pool", OP_POOL},
	{"capture", OP_CAPTURE},
	{"graph", OP_GRAPH},
	{"host_function", OP_HOST_FUNCTION},
	{"launch_list", OP_LAUNCH_LIST},
	{"ask", OP_ASK},
	{NULL, 0},
};
_Static_assert(sizeof(operations) / sizeof(operations[0]) == OP_COUNT + 1, "a word for each");

static const struct word memory_kinds[] = {
	{"device", MEMORY_DEVICE},
	{"managed", MEMORY_MANAGED},
	{"pool", MEMORY_POOL},
	{"host", MEMORY_HOST},
	{"registered", MEMORY_REGISTERED},
	{"array", MEMORY_ARRAY},
	{"physical", MEMORY_PHYSICAL},
	{"imported", MEMORY_IMPORTED},
	{"reserved", MEMORY_RESERVED},
	{NULL, 0},
};

static const struct word object_kinds[] = {
	{"stream", OBJECT_STREAM},     {"event", OBJECT_EVENT},
	{"module", OBJECT_MODULE},     {"library", OBJECT_LIBRARY},
	{"graph", OBJECT_GRAPH},       {"graph_exec", OBJECT_GRAPH_EXEC},
	{"pool", OBJECT_POOL},	       {"cublas", OBJECT_CUBLAS},
	{"cublaslt", OBJECT_CUBLASLT}, {"cudnn", OBJECT_CUDNN},
	{"cusparse", OBJECT_CUSPARSE}, {"cusolver", OBJECT_CUSOLVER},
	{"cufft", OBJECT_CUFFT},       {"curand", OBJECT_CURAND},
	{"nccl", OBJECT_NCCL},	       {NULL, 0},
};

static const struct word copy_kinds[] = {
	{"h2h", COPY_H2H},
	{"h2d", COPY_H2D},
	{"d2h", COPY_D2H},
	{"d2d", COPY_D2D},
	{"default", COPY_DEFAULT},
	{"p2p", COPY_P2P},
	{"by_argument", COPY_BY_ARGUMENT},
	{"by_params", COPY_BY_PARAMS},
	{NULL, 0},
};

static const struct word set_kinds[] = {
	{"set", COPY_SET},
	{NULL, 0},
};

static const struct word context_changes[] = {
	{"set", CONTEXT_SET},
	{"push", CONTEXT_PUSH},
	{"pop", CONTEXT_POP},
	{"create", CONTEXT_CREATE},
	{"destroy", CONTEXT_DESTROY},
	{"reset", CONTEXT_RESET},
	{"retain", CONTEXT_RETAIN},
	{"release", CONTEXT_RELEASE},
	{"green", CONTEXT_GREEN},
	{"derive", CONTEXT_DERIVE},
	{"attach", CONTEXT_ATTACH},
	{"detach", CONTEXT_DETACH},
	{NULL, 0},
};

static const struct word device_facts[] = {
	{"uuid", DEVICE_UUID},
	{"current", DEVICE_CURRENT},
	{NULL, 0},
};

static const struct word virtual_changes[] = {
	{"map", VIRTUAL_MAP},	    {"unmap", VIRTUAL_UNMAP},	      {"retain", VIRTUAL_RETAIN},
	{"import", VIRTUAL_IMPORT}, {"multicast", VIRTUAL_MULTICAST}, {NULL, 0},
};

static const struct word pool_changes[] = {
	{"trim", POOL_TRIM}, {"set", POOL_SET},
	{"get", POOL_GET},   {"current", POOL_CURRENT},
	{"told", POOL_TOLD}, {"default", POOL_DEFAULT},
	{NULL, 0},
};

static const struct word capture_changes[] = {
	{"begin", CAPTURE_BEGIN}, {"begin_to", CAPTURE_BEGIN_TO}, {"end", CAPTURE_END},
	{"told", CAPTURE_TOLD},	  {"join", CAPTURE_JOIN},	  {NULL, 0},
};

static const struct word graph_changes[] = {
	{"add_kernel", GRAPH_ADD_KERNEL},
	{"add_child", GRAPH_ADD_CHILD},
	{"add_node", GRAPH_ADD_NODE},
	{"clone", GRAPH_CLONE},
	{"instantiate", GRAPH_INSTANTIATE},
	{"update", GRAPH_UPDATE},
	{"remove_node", GRAPH_REMOVE_NODE},
	{"enable_node", GRAPH_ENABLE_NODE},
	{"create", GRAPH_CREATE},
	{"destroy", GRAPH_DESTROY},
	{"destroy_exec", GRAPH_DESTROY_EXEC},
	{"add_other", GRAPH_ADD_OTHER},
	{"embedded", GRAPH_EMBEDDED},
	{NULL, 0},
};

static const struct word ask_kinds[] = {
	{"error", ASK_ERROR},
	{"getter", ASK_GETTER},
	{"count", ASK_COUNT},
	{"start", ASK_START},
	{NULL, 0},
};

static const struct word wait_scopes[] = {
	{"stream", WAIT_STREAM},
	{"event", WAIT_EVENT},
	{"context", WAIT_CONTEXT},
	{NULL, 0},
};

static const struct word copy_params[] = {
	{"memcpy2d", PARAMS_MEMCPY2D},
	{"memcpy3d", PARAMS_MEMCPY3D},
	{"memcpy3d_peer", PARAMS_MEMCPY3D_PEER},
	{"memcpy2d_v1", PARAMS_MEMCPY2D_V1},
	{"memcpy3d_v1", PARAMS_MEMCPY3D_V1},
	{"3d", PARAMS_3D},
	{"3d_peer", PARAMS_3D_PEER},
	{"sizes", PARAMS_SIZES},
	{"3d_batch", PARAMS_3D_BATCH},
	{"extent", PARAMS_EXTENT},
	{"array", PARAMS_ARRAY},
	{"array_v1", PARAMS_ARRAY_V1},
	{"array3d", PARAMS_ARRAY3D},
	{"array3d_v1", PARAMS_ARRAY3D_V1},
	{"channels", PARAMS_CHANNELS},
	{"pitched", PARAMS_PITCHED},
	{"buffer", PARAMS_BUFFER},
	{"external_array", PARAMS_EXTERNAL_ARRAY},
	{"physical", PARAMS_PHYSICAL},
	{NULL, 0},
};

static const struct word returns[] = {
	{"value", TRACE_RETURNS_VALUE},
	{"nothing", TRACE_RETURNS_NOTHING},
	{"earlier", TRACE_RETURNS_EARLIER},
	{"nccl", TRACE_RETURNS_NCCL},
	{NULL, 0},
};

static const struct word no_kinds[] = {
	{"-", 0},
	{NULL, 0},
};

static const struct word *const kinds[OP_COUNT] = {
	[OP_ALLOC] = memory_kinds,	[OP_FREE] = memory_kinds,
	[OP_COPY] = copy_kinds,		[OP_SET] = set_kinds,
	[OP_WAIT] = wait_scopes,	[OP_QUERY] = wait_scopes,
	[OP_CREATE] = object_kinds,	[OP_DESTROY] = object_kinds,
	[OP_CONTEXT] = context_changes, [OP_DEVICE] = device_facts,
	[OP_VIRTUAL] = virtual_changes, [OP_POOL] = pool_changes,
	[OP_CAPTURE] = capture_changes, [OP_GRAPH] = graph_changes,
	[OP_ASK] = ask_kinds,
};

static const char *const families[] = {"launch", "memory", "copy",    "sync",	"stream",
				       "event",	 "device", "context", "module", "library",
				       "graph",	 "nccl",   "other"};

static const char *const roles[ROLE_COUNT] = {
	[ROLE_OUT] = "out",	  [ROLE_SIZE] = "size",		[ROLE_WIDTH] = "width",
	[ROLE_HEIGHT] = "height", [ROLE_PITCHOUT] = "pitchout", [ROLE_PTR] = "ptr",
	[ROLE_DST] = "dst",	  [ROLE_SRC] = "src",		[ROLE_KIND] = "kind",
	[ROLE_STREAM] = "stream", [ROLE_EVENT] = "event",	[ROLE_CTX] = "ctx",
	[ROLE_DEVICE] = "device", [ROLE_FUNC] = "func",		[ROLE_CONFIG] = "config",
	[ROLE_GRIDX] = "gridx",	  [ROLE_GRIDY] = "gridy",	[ROLE_GRIDZ] = "gridz",
	[ROLE_BLOCKX] = "blockx", [ROLE_BLOCKY] = "blocky",	[ROLE_BLOCKZ] = "blockz",
	[ROLE_SHMEM] = "shmem",	  [ROLE_ARGS] = "args",		[ROLE_GRAPHEXEC] = "graphexec",
	[ROLE_MODULE] = "module", [ROLE_NAME] = "name",		[ROLE_POOL] = "pool",
	[ROLE_GRAPH] = "graph",	  [ROLE_CHILD] = "child",	[ROLE_FLAGS] = "flags",
	[ROLE_HANDLE] = "handle", [ROLE_PARAMS] = "params",	[ROLE_ELEMENTS] = "elements",
	[ROLE_EXTENT] = "extent", [ROLE_OFFSET] = "offset",
};

/*
 * Sizes by the x86-64 ABI. Pointers and "enum X" need no entry. The names here are typedefs of
 * integers, enumerations, handles and pointers to functions, and the few structures that are passed
 * by value.
 */
/* clang-format off */
static const struct word type_sizes[] = {
	{"unsigned char", 1},
	{"unsigned short", 2},
	{"CUaddress_mode", 4}, {"CUarray_format", 4}, {"CUcoredumpSettings", 4},
	{"CUdevResourceType", 4}, {"CUdevice", 4}, {"CUdevice_P2PAttribute", 4},
	{"CUdevice_attribute", 4}, {"CUdeviceptr_v1", 4}, {"CUexecAffinityType", 4},
	{"CUfilter_mode", 4}, {"CUflushGPUDirectRDMAWritesScope", 4},
	{"CUflushGPUDirectRDMAWritesTarget", 4}, {"CUfunc_cache", 4},
	{"CUfunction_attribute", 4}, {"CUgraphMem_attribute", 4}, {"CUjitInputType", 4},
	{"CUkernelNodeAttrID", 4}, {"CUlimit", 4},
	{"CUmemAllocationGranularity_flags", 4}, {"CUmemAllocationHandleType", 4},
	{"CUmemAllocationType", 4}, {"CUmemPool_attribute", 4},
	{"CUmemRangeHandleType", 4}, {"CUmem_advise", 4}, {"CUmem_range_attribute", 4},
	{"CUmulticastGranularity_flags", 4}, {"CUoutput_mode", 4},
	{"CUpointer_attribute", 4}, {"CUresult", 4}, {"CUsharedconfig", 4},
	{"CUstreamAttrID", 4}, {"CUstreamCaptureMode", 4}, {"CUtensorMapDataType", 4},
	{"CUtensorMapFloatOOBfill", 4}, {"CUtensorMapIm2ColWideMode", 4},
	{"CUtensorMapInterleave", 4}, {"CUtensorMapL2promotion", 4},
	{"CUtensorMapSwizzle", 4}, {"cudaError_t", 4}, {"cudaLaunchAttributeID", 4},
	{"cuuint32_t", 4}, {"float", 4}, {"int", 4}, {"unsigned int", 4},
	{"ncclDataType_t", 4}, {"ncclRedOp_t", 4}, {"ncclResult_t", 4},
	{"ncclScalarResidence_t", 4},
	{"CUarray", 8}, {"CUasyncCallback", 8}, {"CUasyncCallbackHandle", 8},
	{"CUcontext", 8}, {"CUdevResourceDesc", 8}, {"CUdeviceptr", 8}, {"CUevent", 8},
	{"CUexternalMemory", 8}, {"CUexternalSemaphore", 8}, {"CUfunction", 8},
	{"CUgraph", 8}, {"CUgraphExec", 8}, {"CUgraphNode", 8},
	{"CUgraphicsResource", 8}, {"CUgreenCtx", 8}, {"CUhostFn", 8}, {"CUkernel", 8},
	{"CUlibrary", 8}, {"CUlinkState", 8}, {"CUlogsCallback", 8},
	{"CUlogsCallbackHandle", 8}, {"CUmemGenericAllocationHandle", 8},
	{"CUmemLocation", 8}, {"CUmemoryPool", 8}, {"CUmipmappedArray", 8},
	{"CUmodule", 8}, {"CUoccupancyB2DSize", 8}, {"CUstream", 8},
	{"CUstreamCallback", 8}, {"CUsurfObject", 8}, {"CUsurfref", 8},
	{"CUtexObject", 8}, {"CUtexref", 8}, {"CUuserObject", 8},
	{"cudaArray_const_t", 8}, {"cudaArray_t", 8}, {"cudaAsyncCallback", 8},
	{"cudaAsyncCallbackHandle_t", 8}, {"cudaEvent_t", 8},
	{"cudaExternalMemory_t", 8}, {"cudaExternalSemaphore_t", 8},
	{"cudaGraphExec_t", 8}, {"cudaGraphNode_t", 8}, {"cudaGraph_t", 8},
	{"cudaGraphicsResource_t", 8}, {"cudaHostFn_t", 8}, {"cudaKernel_t", 8},
	{"cudaLibrary_t", 8}, {"cudaLogsCallbackHandle", 8}, {"cudaLogsCallback_t", 8},
	{"cudaMemPool_t", 8}, {"cudaMipmappedArray_const_t", 8},
	{"cudaMipmappedArray_t", 8}, {"cudaStreamCallback_t", 8}, {"cudaStream_t", 8},
	{"cudaSurfaceObject_t", 8}, {"cudaTextureObject_t", 8}, {"cudaUserObject_t", 8},
	{"cuuint64_t", 8}, {"size_t", 8}, {"struct cudaMemLocation", 8},
	{"unsigned long long", 8},
	{"cublasHandle_t", 8}, {"cublasLtHandle_t", 8}, {"cublasXtHandle_t", 8},
	{"cudnnHandle_t", 8}, {"curandGenerator_t", 8}, {"cusolverDnHandle_t", 8},
	{"cusolverMgHandle_t", 8}, {"cusolverRfHandle_t", 8}, {"cusolverSpHandle_t", 8},
	{"cusparseHandle_t", 8}, {"ncclComm_t", 8}, {"ncclWindow_t", 8},
	{"dim3", 12},
	{"struct cudaExtent", 24},
	{"struct cudaPitchedPtr", 32},
	{"CUipcEventHandle", 64}, {"CUipcMemHandle", 64}, {"cudaIpcEventHandle_t", 64},
	{"cudaIpcMemHandle_t", 64},
	{"ncclUniqueId", 128},
	{NULL, 0},
};
/* clang-format on */

static int find(const struct word *list, const char *text)
{
	for (; list->text; list++) {
		if (strcmp(list->text, text) == 0)
			return list->value;
	}
	return -1;
}

int word__layer(const char *word)
{
	return find(layers, word);
}

int word__operation(const char *word)
{
	return find(operations, word);
}

int word__kind(enum operation operation, const char *word)
{
	return find(kinds[operation] ? kinds[operation] : no_kinds, word);
}

int word__params(const char *word)
{
	return find(copy_params, word);
}

int word__returns(const char *word)
{
	return find(returns, word);
}

int word__role(const char *word)
{
	int role;

	for (role = 0; role < ROLE_COUNT; role++) {
		if (strcmp(roles[role], word) == 0)
			return role;
	}
	return -1;
}

const char *word__family(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (strcmp(families[i], word) == 0)
			return families[i];
	}
	return NULL;
}

const char *word__of_operation(enum operation operation)
{
	return operations[operation].text;
}

const char *word__of_role(enum role role)
{
	return roles[role];
}

bool type__is_pointer(const char *type)
{
	return strchr(type, '*') != NULL;
}

int type__size(const char *type)
{
	if (type__is_pointer(type))
		return 8;
	if (strncmp(type, "enum ", 5) == 0 && type[5])
		return 4;
	return find(type_sizes, type);
}

int type__pointee_size(const char *type)
{
	size_t length = strlen(type);
	char pointee[64];

	if (!length || length >= sizeof(pointee) || type[length - 1] != '*')
		return -1;
	length--;
	while (length && type[length - 1] == ' ')
		length--;
	memcpy(pointee, type, length);
	pointee[length] = '\0';
	return type__size(pointee);
}
