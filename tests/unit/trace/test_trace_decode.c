// SPDX-License-Identifier: BSD-2-Clause
// From the tracer's events to fields: representative functions, every kind of structure, unreadable
// data, and events of every length.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../../sim/include/cuda_driver_types.h"
#include "../../../sim/include/cuda_runtime_types.h"
#include "both_functions.h"
#include "trace_event_builder.h"

/* A block: the data read at the address in a word. */
struct given {
	const void *data;
	uint16_t length;
};

/* clang-format off */
#define OBJECT(...) {&(__VA_ARGS__), sizeof(__VA_ARGS__)}
#define NUMBER(value) OBJECT((uint64_t){value})
#define INT(value) OBJECT((int32_t){value})
#define TEXT(value) {value, sizeof(value) - 1}
#define NOTHING {"", 0}
#define UNREADABLE {"", TRACE_UNREADABLE}
/* clang-format on */

struct example {
	const char *symbol;
	uint64_t word[TRACE_WORDS];
	struct given block[TRACE_READS]; /* in the order of plan.read[] */
	const char *fields;
	int32_t result;
	int soname;
};

#define F32(a, b) ((uint64_t)(uint32_t)(a) | (uint64_t)(b) << 32)
#define DIRT 0xdeadbeef00000000ull /* the upper half of a register that holds an int */

static const char text_300[300] = "a string that is longer than what is shown";

/* clang-format off */
static const struct example examples[] = {
	/* memory */
	{"cudaMalloc", {0x7ffc0, 1048576}, {NUMBER(0x7f8b00000000)}, .fields = "size=1048576 ptr=0x7f8b00000000"},
	{"cudaMalloc", {0x7ffc0, 1125899906842624}, {NOTHING}, .fields = "size=1125899906842624", .result = 2},
	{"cudaMalloc", {8, 64}, {UNREADABLE}, .fields = "size=64 ptr=<unreadable 0x8>"},
	{"cudaFree", {0x7f8b00000000}, {NOTHING}, .fields = "ptr=0x7f8b00000000"},
	{"cuMemAlloc", {0x10, DIRT | 4096}, {OBJECT((uint32_t){0x90000000})}, .fields = "size=4096 ptr=0x90000000"},
	{"cuMemAllocAsync_ptsz", {0x10, 4096, 0}, {NUMBER(0x302000000)}, .fields = "size=4096 stream=0x0 ptr=0x302000000"},
	{"cudaMallocPitch", {0x10, 0x20, 100, 7}, {NUMBER(0x700), NUMBER(512)},
	  .fields = "width=100 height=7 ptr=0x700 pitch=512 size=3584"},
	{"cudaMallocPitch", {0x10, 0x20, 100, 7}, {NOTHING, NOTHING}, .fields = "width=100 height=7", .result = 2},
	{"cudaMalloc3D", {0x10, 0, 0, 0, 0, 0, 100, 7, 3},
	  {OBJECT((struct cudaPitchedPtr){(void *)0x700, 512, 100, 7})},
	  .fields = "extent.width=100 extent.height=7 extent.depth=3 ptr=0x700 pitchedDevPtr.pitch=512 "
	  "pitchedDevPtr.xsize=100 pitchedDevPtr.ysize=7 size=10752"},
	{"cudaMallocArray", {0x10, 0x20, 64, 32, DIRT | 2},
	  {NUMBER(0xa77a), OBJECT((struct cudaChannelFormatDesc){8, 8, 8, 8, 1})},
	  .fields = "desc.x=8 desc.y=8 desc.z=8 desc.w=8 desc.f=cudaChannelFormatKindUnsigned width=64 height=32 flags=0x2 "
	  "ptr=0xa77a"},
	{"cuArrayCreate_v2", {0x10, 0x20}, {NUMBER(0xa77a), OBJECT((CUDA_ARRAY_DESCRIPTOR){64, 32, 0x20, 4})},
	  .fields = "pAllocateArray.Width=64 pAllocateArray.Height=32 pAllocateArray.Format=CU_AD_FORMAT_FLOAT "
	  "pAllocateArray.NumChannels=4 ptr=0xa77a"},
	{"cuMemCreate", {0x10, 2097152, 0x20, 0},
	  {NUMBER(0xc0de), OBJECT((CUmemAllocationProp){.type = 1, .requestedHandleTypes = 1, .location = {1, 3}})},
	  .fields = "size=2097152 prop.type=CU_MEM_ALLOCATION_TYPE_PINNED "
	  "prop.requestedHandleTypes=CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR "
	  "prop.location.type=CU_MEM_LOCATION_TYPE_DEVICE prop.location.id=3 flags=0x0 ptr=0xc0de"},
	{"cudaIpcOpenMemHandle", {0x10, DIRT | 1, 0, 0, 0, 0, 0x0706050403020100, 1, 2, 3, 4, 5, 6, 0xff00000000000000},
	  {NUMBER(0x700)},
	  .fields = "handle=0001020304050607010000000000000002000000000000000300000000000000"
	  "04000000000000000500000000000000060000000000000000000000000000ff flags=0x1 ptr=0x700"},
	{"cudaIpcGetMemHandle", {0x10, 0x700}, {OBJECT((struct {uint64_t at[8];}){{1}})},
	  .fields = "devPtr=0x700 handle=0100000000000000000000000000000000000000000000000000000000000000"
	  "0000000000000000000000000000000000000000000000000000000000000000"},
	{"cudaPointerGetAttributes", {0x10, 0x700},
	  {OBJECT((struct cudaPointerAttributes){.type = 2, .device = 0, .devicePointer = (void *)0x700})},
	  .fields = "ptr=0x700 attributes.type=cudaMemoryTypeDevice attributes.device=0 attributes.devicePointer=0x700 "
	  "attributes.hostPointer=0x0"},
	{"cudaMemAdvise", {0x700, 4096, 1, F32(1, 2)}, {NOTHING},
	  .fields = "devPtr=0x700 count=4096 advice=cudaMemAdviseSetReadMostly location.type=cudaMemLocationTypeDevice "
	  "location.id=2"},
	{"cudaMemPoolGetAccess", {0x10, 0xb0, 0x20}, {INT(3), OBJECT((struct cudaMemLocation){1, 1})},
	  .fields = "memPool=0xb0 location.type=cudaMemLocationTypeDevice location.id=1 flags=cudaMemAccessFlagsProtReadWrite"},
	/* copies and sets */
	{"cudaMemcpy", {0x7f8b00000000, 0x55d0c0, 1048576, DIRT | 1}, {NOTHING},
	  .fields = "dst=0x7f8b00000000 src=0x55d0c0 size=1048576 kind=H2D"},
	{"cudaMemcpy", {1, 2, 3, 77}, {NOTHING}, .fields = "dst=0x1 src=0x2 size=3 kind=77"},
	{"cudaMemcpyAsync_ptsz", {1, 2, 3, 4, 0x5}, {NOTHING}, .fields = "dst=0x1 src=0x2 size=3 kind=default stream=0x5"},
	{"cuMemcpyHtoD_v2", {0x700, 0x55, 64}, {NOTHING}, .fields = "dst=0x700 src=0x55 size=64 kind=H2D"},
	{"cuMemcpyPeer", {0x700, 0xc1, 0x800, 0xc2, 64}, {NOTHING},
	  .fields = "dst=0x700 dstContext=0xc1 src=0x800 srcContext=0xc2 size=64 kind=P2P"},
	{"cudaMemcpy2DAsync", {1, 128, 2, 256, 100, 7, 2, 9}, {NOTHING},
	  .fields = "dst=0x1 dpitch=128 src=0x2 spitch=256 width=100 height=7 size=700 kind=D2H stream=0x9"},
	{"cuMemcpy2D_v2", {0x10},
	  {OBJECT((CUDA_MEMCPY2D){.srcMemoryType = 1, .srcHost = (void *)0x55, .srcDevice = 0x99, .dstMemoryType = 2,
				    .dstHost = (void *)0x98, .dstDevice = 0x700, .WidthInBytes = 64, .Height = 4})},
	  .fields = "dst=0x700 src=0x55 size=256 kind=H2D"},
	{"cuMemcpy3D_v2", {0x10},
	  {OBJECT((CUDA_MEMCPY3D){.srcMemoryType = 3, .srcArray = (CUarray)0xa1, .dstMemoryType = 4, .dstDevice = 0x700,
				    .WidthInBytes = 64, .Height = 4, .Depth = 2})},
	  .fields = "dst=0x700 srcArray=0xa1 size=512 kind=default"},
	{"cuMemcpy3DPeer", {0x10},
	  {OBJECT((CUDA_MEMCPY3D){.srcMemoryType = 2, .srcDevice = 0x800, .dstMemoryType = 2, .dstDevice = 0x700,
				    .WidthInBytes = 64, .Height = 4, .Depth = 2})},
	  .fields = "dst=0x700 src=0x800 size=512 kind=P2P"},
	{"cudaMemcpy3D", {0x10},
	  {OBJECT((struct cudaMemcpy3DParms){.srcPtr = {(void *)0x55, 0, 0, 0}, .dstPtr = {(void *)0x700, 0, 0, 0},
					       .extent = {8, 4, 2}, .kind = 1})},
	  .fields = "dst=0x700 src=0x55 size=64 kind=H2D"},
	{"cudaMemcpy3DAsync", {0x10, 0x3},
	  {OBJECT((struct cudaMemcpy3DParms){.srcPtr = {(void *)0x55, 0, 0, 0}, .dstArray = (cudaArray_t)0xa1,
					       .extent = {8, 4, 2}, .kind = 1})},
	  .fields = "dstArray=0xa1 src=0x55 kind=H2D stream=0x3"},
	{"cudaMemcpy3D", {0x10}, {UNREADABLE}, .fields = "p=<unreadable 0x10>"},
	{"cudaMemcpy3D", {0}, {NOTHING}, .fields = "p=0x0", .result = 1},
	{"cudaMemcpyBatchAsync", {1, 2, 3, 4, 5, 6, 7, 8}, {NOTHING},
	  .fields = "dsts=0x1 srcs=0x2 sizes=0x3 count=4 attrs=0x5 attrsIdxs=0x6 numAttrs=7 stream=0x8 kind=default"},
	{"cuMemsetD2D32_v2", {0x700, 512, 0xff, 10, 3}, {NOTHING},
	  .fields = "ptr=0x700 dstPitch=512 ui=255 width=40 height=3 size=120"},
	{"cuMemsetD32_v2", {0x700, 0xff, 10}, {NOTHING}, .fields = "ptr=0x700 ui=255 size=40"},
	{"cudaMemset3D", {DIRT | 0xff, 0, 0, 0, 0, 0, 0x700, 512, 100, 7, 100, 7, 3}, {NOTHING},
	  .fields = "ptr=0x700 pitchedDevPtr.pitch=512 pitchedDevPtr.xsize=100 pitchedDevPtr.ysize=7 value=255 "
	  "extent.width=100 extent.height=7 extent.depth=3 size=2100"},
	/* launches */
	{"cudaLaunchKernel", {0xf, F32(4096, 1), DIRT | 1, F32(256, 1), 1, 0x99, 0, 0}, {NOTHING},
	  .fields = "grid=(4096,1,1) block=(256,1,1) shmem=0 stream=0x0"},
	{"cuLaunchKernel", {0xf, DIRT | 1, DIRT | 2, 3, 4, 5, DIRT | 6, DIRT | 7, 0x8}, {NOTHING},
	  .fields = "grid=(1,2,3) block=(4,5,6) shmem=7 stream=0x8"},
	{"cuLaunchKernelEx", {0x10, 0xf},
	  {OBJECT((CUlaunchConfig){1, 2, 3, 4, 5, 6, 7, (CUstream)0x8, NULL, 0})},
	  .fields = "grid=(1,2,3) block=(4,5,6) shmem=7 stream=0x8"},
	{"cudaLaunchKernelExC", {0x10, 0xf},
	  {OBJECT((cudaLaunchConfig_t){{1, 2, 3}, {4, 5, 6}, 7, (cudaStream_t)0x8, NULL, 0})},
	  .fields = "grid=(1,2,3) block=(4,5,6) shmem=7 stream=0x8"},
	{"cuLaunchKernelEx", {0x10, 0xf}, {UNREADABLE}, .fields = "config=<unreadable 0x10>"},
	{"cuLaunchGrid", {0xf, DIRT | 5, DIRT | 6}, {NOTHING}, .fields = "grid=(5,6,1)"},
	{"cuGraphAddKernelNode_v2", {0x10, 0x6, 0x30, 0, 0x20},
	  {NUMBER(0x40de), OBJECT((CUDA_KERNEL_NODE_PARAMS){(CUfunction)0xf, 1, 2, 3, 4, 5, 6, 7, NULL, NULL, NULL, NULL})},
	  .fields = "hGraph=0x6 dependencies=0x30 numDependencies=0 nodeParams.func=0xf nodeParams.gridDim=(1,2,3) "
	  "nodeParams.blockDim=(4,5,6) nodeParams.sharedMemBytes=7 phGraphNode=0x40de"},
	/* streams, events, devices */
	{"cudaStreamCreateWithPriority", {0x10, 1, 0xffffffff}, {NUMBER(0x57)},
	  .fields = "flags=0x1 priority=-1 stream=0x57"},
	{"cudaStreamDestroy", {0x57}, {NOTHING}, .fields = "stream=0x57"},
	{"cudaEventElapsedTime", {0x10, 0xe1, 0xe2}, {OBJECT((float){1.5f})}, .fields = "start=0xe1 end=0xe2 ms=1.5"},
	{"cudaStreamWaitEvent", {0x57, 0xe1, 0}, {NOTHING}, .fields = "stream=0x57 event=0xe1 flags=0x0"},
	{"cudaGetDevice", {0x10}, {INT(3)}, .fields = "device=3"},
	{"cudaSetDevice", {DIRT | 3}, {NOTHING}, .fields = "device=3"},
	{"cudaDeviceGetAttribute", {0x10, 75, 0}, {INT(9)},
	  .fields = "attr=cudaDevAttrComputeCapabilityMajor device=0 value=9"},
	{"cudaDeviceGetAttribute", {0x10, 123456, 0}, {NOTHING}, .fields = "attr=123456 device=0", .result = 1},
	{"cuDeviceGetUuid_v2", {0x10, 0}, {OBJECT((struct {uint8_t at[16];}){{0xab, 1}})},
	  .fields = "device=0 uuid=ab010000000000000000000000000000"},
	{"cuDeviceGetName", {0x10, 256, 0}, {TEXT("NVIDIA H200")}, .fields = "len=256 dev=0 name=\"NVIDIA H200\""},
	/* names, strings, other layouts of values */
	{"cuModuleGetFunction", {0x10, 0x20, 0x30}, {NUMBER(0xf), TEXT("_Z4vaddPf")},
	  .fields = "hmod=0x20 name=\"_Z4vaddPf\" hfunc=0xf"},
	{"cuModuleGetFunction", {0x10, 0x20, 0x30}, {NUMBER(0xf), UNREADABLE},
	  .fields = "hmod=0x20 name=<unreadable 0x30> hfunc=0xf"},
	{"cuModuleGetFunction", {0x10, 0x20, 0x30}, {NOTHING, NOTHING}, .fields = "hmod=0x20 name=\"\"", .result = 500},
	{"cuModuleGetFunction", {0x10, 0x20, 0}, {NOTHING, NOTHING}, .fields = "hmod=0x20 name=0x0", .result = 1},
	{"cuFuncGetName", {0x10, 0xf}, {TEXT("vadd")}, .fields = "hfunc=0xf name=\"vadd\""},
	{"cuGetErrorName", {DIRT | 2, 0x10}, {TEXT("CUDA_ERROR_OUT_OF_MEMORY")},
	  .fields = "error=CUDA_ERROR_OUT_OF_MEMORY pStr=\"CUDA_ERROR_OUT_OF_MEMORY\""},
	{"cudaGetErrorString", {2}, {NOTHING}, .fields = "error=cudaErrorMemoryAllocation"},
	{"cuTexRefSetMipmapLevelClamp", {0x7e}, {NOTHING},
	  .fields = "hTexRef=0x7e minMipmapLevelClamp=? maxMipmapLevelClamp=?"},
	{"cuParamSetf", {0xf, 8}, {NOTHING}, .fields = "hfunc=0xf offset=8 value=?"},
	{"cuModuleLoadDataEx", {0x10, 0x20, 2, 0x30, 0x40}, {NUMBER(0x60d)},
	  .fields = "image=0x20 numOptions=2 options=0x30 optionValues=0x40 module=0x60d"},
	{"cuGraphGetNodes", {0x6, 0x10, 0x20}, {NUMBER(5)}, .fields = "hGraph=0x6 nodes=0x10 numNodes=5"},
	{"cuGraphNodeSetEnabled", {0xe, 0x40de, DIRT | 1}, {NOTHING},
	  .fields = "hGraphExec=0xe hNode=0x40de isEnabled=1"},
	{"cuGraphAddNode_v2", {0x10, 0x6, 0, 0, 0, 0x20}, {NUMBER(0x40de), INT(2)},
	  .fields = "hGraph=0x6 dependencies=0x0 dependencyData=0x0 numDependencies=0 "
		    "nodeParams.type=CU_GRAPH_NODE_TYPE_MEMSET phGraphNode=0x40de"},
	{"cuGraphAddMemcpyNode", {0x10, 0x6, 0, 0, 0x20, 0xc}, {NUMBER(0x40de),
	  OBJECT((CUDA_MEMCPY3D){.srcMemoryType = 1, .srcHost = (void *)0x55, .dstMemoryType = 2, .dstDevice = 0x700,
				  .WidthInBytes = 64, .Height = 1, .Depth = 1})},
	  .fields = "hGraph=0x6 dependencies=0x0 numDependencies=0 dst=0x700 src=0x55 size=64 kind=H2D ctx=0xc "
		    "phGraphNode=0x40de"},
	{"cudaMemcpyToArray", {0xa1, 1, 2, 0x55, 64, 1}, {NOTHING},
	  .fields = "dstArray=0xa1 wOffset=1 hOffset=2 src=0x55 size=64 kind=H2D"},
	{"cudaDeviceSynchronize", {0}, {NOTHING}, .fields = ""},
	{"cudaGLMapBufferObject", {1, 2, 3, 4, 5, 6}, {NOTHING},
	  .fields = "arg0=0x1 arg1=0x2 arg2=0x3 arg3=0x4 arg4=0x5 arg5=0x6"},
	{"__cudaPopCallConfiguration", {0x10, 0x20, 0x30, 0x40},
	  {OBJECT((dim3){1, 2, 3}), OBJECT((dim3){4, 5, 6}), NUMBER(7)},
	  .fields = "stream=0x40 gridDim=(1,2,3) blockDim=(4,5,6) sharedMem=7"},
};
/* clang-format on */

/* The blocks of one side, each as large as the plan requests. */
static void add_blocks(struct event_builder *b, const struct trace_plan *plan,
		       const struct given *given, bool at_return)
{
	uint16_t length;
	uint8_t i;

	for (i = 0; i < plan->reads; i++) {
		if (plan->read[i].at_return != at_return)
			continue;
		length = given[i].length;
		if (plan->read[i].kind == TRACE_READ_BYTES && length != TRACE_UNREADABLE &&
		    length) {
			assert_true(length >= plan->read[i].size);
			length = plan->read[i].size;
		}
		event__block(b, given[i].data, length);
	}
}

static const struct trace_function *build(const struct trace_functions *functions,
					  const struct example *e, enum trace_record_type type,
					  struct event_builder *b)
{
	int row = api__find(e->symbol, e->soname ? e->soname : API_NEWEST);
	const struct trace_function *function;
	const struct trace_plan *plan;
	uint64_t no_handle = 0;

	if (row < 0)
		fail_msg("%s is not in the table", e->symbol);
	function = trace_functions__at(functions, (uint32_t)row);
	plan = trace_function__plan(function);
	event__begin(b, plan, (uint32_t)row, type, e->result);
	event__bytes(b, e->word, plan->words * 8u);
	if (plan->flags & TRACE_PLAN_KERNEL)
		event__bytes(b, &no_handle, sizeof(no_handle));
	add_blocks(b, plan, e->block, false);
	if (type != TRACE_ENTRY)
		add_blocks(b, plan, e->block, true);
	return function;
}

static void test_examples(void **state)
{
	const struct state *both = *state;
	const struct trace_function *function;
	struct event_builder b;
	static struct trace_line line;
	uint64_t handle;
	char text[4096];
	size_t i;

	for (i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		function = build(both->plain, &examples[i], TRACE_CALL, &b);
		trace_function__decode(function, &b.event, b.size, 0, false, &line, &handle);
		line__text(&line, text, sizeof(text));
		if (strcmp(text, examples[i].fields) != 0)
			fail_msg("%s:\n%s\nexpected:\n%s", examples[i].symbol, text,
				 examples[i].fields);
	}
}

/* The fields that have columns have them, and others do not. */
static void test_roles(void **state)
{
	static const struct {
		const char *name;
		enum trace_role role;
	} roles[] = {
		{"ptr", TRACE_PTR},	{"size", TRACE_SIZE},	  {"dst", TRACE_DST},
		{"src", TRACE_SRC},	{"grid", TRACE_GRID},	  {"block", TRACE_BLOCK},
		{"shmem", TRACE_SHMEM}, {"stream", TRACE_STREAM}, {"kind", TRACE_KIND},
	};
	const struct state *both = *state;
	const struct trace_function *function;
	struct event_builder b;
	static struct trace_line line;
	enum trace_role role;
	uint64_t handle;
	size_t i, j, k;

	for (i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		function = build(both->plain, &examples[i], TRACE_CALL, &b);
		trace_function__decode(function, &b.event, b.size, 0, false, &line, &handle);
		for (j = 0; j < line.field_count; j++) {
			role = TRACE_NO_ROLE;
			for (k = 0; k < sizeof(roles) / sizeof(roles[0]); k++) {
				if (strcmp(line.fields[j].name, roles[k].name) == 0)
					role = roles[k].role;
			}
			/* Its argument called stream is the address that receives one. */
			if (strcmp(examples[i].symbol, "__cudaPopCallConfiguration") == 0)
				role = TRACE_NO_ROLE;
			if (line.fields[j].role != role)
				fail_msg("%s.%s has role %u", examples[i].symbol,
					 line.fields[j].name, line.fields[j].role);
		}
	}
}

static void decode_example(const struct trace_functions *functions, const struct example *e,
			   enum trace_record_type type, const char *expected)
{
	struct event_builder b;
	static struct trace_line line;
	const struct trace_function *function = build(functions, e, type, &b);
	uint64_t handle;
	char text[4096];

	trace_function__decode(function, &b.event, b.size, 0, false, &line, &handle);
	line__text(&line, text, sizeof(text));
	assert_string_equal(text, expected);
}

/* At entry nothing has been returned yet; an unfinished call may or may not have blocks. */
static void test_entry(void **state)
{
	const struct example malloc_call = {
		"cudaMalloc", {0x10, 64}, {NUMBER(0x700)}, .fields = NULL};
	const struct state *both = *state;
	const struct trace_function *function;
	static struct trace_line line;
	struct event_builder b;
	uint64_t handle;

	decode_example(both->plain, &malloc_call, TRACE_ENTRY, "size=64");
	decode_example(both->plain, &malloc_call, TRACE_UNFINISHED, "size=64 ptr=0x700");

	/* Whatever follows an entry event is not a block. */
	function = build(both->plain, &malloc_call, TRACE_CALL, &b);
	b.event.type = TRACE_ENTRY;
	trace_function__decode(function, &b.event, b.size, 0, false, &line, &handle);
	assert_int_equal(line.field_count, 1);
}

/* A function's forms in older libraries are rows of their own. */
static void test_sonames(void **state)
{
	const struct example batch = {
		"cudaMemcpyBatchAsync", {1, 2, 3, 4, 5, 6, 7, 0x10, 9}, {NUMBER(5)}, .soname = 12};
	const struct state *both = *state;

	decode_example(both->plain, &batch, TRACE_CALL,
		       "dsts=0x1 srcs=0x2 sizes=0x3 count=4 attrs=0x5 attrsIdxs=0x6 numAttrs=7 "
		       "stream=0x9 kind=default "
		       "failIdx=5");
}

static void test_long_string(void **state)
{
	const struct state *both = *state;
	const struct trace_function *function;
	struct event_builder b;
	static struct trace_line line;
	uint64_t handle;
	uint16_t length;

	/* One byte more than is shown means that there is more. */
	for (length = TRACE_STRING_SIZE - 1; length <= TRACE_STRING_SIZE + 1; length++) {
		const struct example call = {
			"cuModuleGetFunction",
			{0x10, 0x20, 0x30},
			{NUMBER(0xf), {text_300, length}},
			.fields = NULL,
		};

		function = build(both->plain, &call, TRACE_CALL, &b);
		trace_function__decode(function, &b.event, b.size, 0, false, &line, &handle);
		assert_int_equal(line.field_count, 3);
		assert_string_equal(line.fields[1].name, "name");
		assert_int_equal(line.fields[1].cut, length > TRACE_STRING_SIZE);
		assert_int_equal(line.fields[1].length,
				 length < TRACE_STRING_SIZE ? length : TRACE_STRING_SIZE);
	}
}

/* Which kernel: the driver's handle if it was seen, otherwise the program's own word. */
static void test_handles(void **state)
{
	const struct example launch = {"cudaLaunchKernel", {0xf0}, {NOTHING}, .fields = NULL};
	const struct example copy = {"cudaMemcpy", {0xf0}, {NOTHING}, .fields = NULL};
	const struct state *both = *state;
	const struct trace_function *function;
	struct event_builder b;
	static struct trace_line line;
	uint64_t handle = 1, driver = 0xd0;

	function = build(both->plain, &launch, TRACE_CALL, &b);
	trace_function__decode(function, &b.event, b.size, 0, false, &line, &handle);
	assert_int_equal(handle, 0xf0);
	assert_int_equal(trace_function__launched(function, &b.event, b.size), 0xf0);
	memcpy(b.bytes + b.size - 8, &driver, 8);
	trace_function__decode(function, &b.event, b.size, 0, false, &line, &handle);
	assert_int_equal(handle, 0xd0);
	assert_int_equal(trace_function__launched(function, &b.event, b.size), 0xf0);
	assert_int_equal(trace_function__launched(function, &b.event, sizeof(b.event)), 0);

	function = build(both->plain, &copy, TRACE_CALL, &b);
	trace_function__decode(function, &b.event, b.size, 0, false, &line, &handle);
	assert_int_equal(handle, 0);
	assert_int_equal(trace_function__launched(function, &b.event, b.size), 0);
}

/*
 * An event with kernel arguments and a stack: the id follows the words, the block is between those
 * of entry and return.
 */
static void test_args_and_stack(void **state)
{
	static const uint64_t words[16] = {0xf, 1, 1, 1, 1, 1, 1, 0, 0, 0xa0, 0xe0};
	static const uint64_t args[] = {0x11, 0x22, 0x33}, stack = 0x123456789abcdef0;
	const struct state *both = *state;
	int row = api__find("cuLaunchKernel", API_NEWEST);
	const struct trace_function *function = trace_functions__at(both->with_args, (uint32_t)row);
	const struct trace_plan *plan = trace_function__plan(function);
	struct event_builder b;
	static struct trace_line line;
	uint64_t handle, none = 0;
	char text[512];

	assert_int_equal(plan->words, 11);
	assert_int_equal(plan->args_word, 9);
	assert_int_equal(plan->extra_word, 10);
	event__begin(&b, plan, (uint32_t)row, TRACE_CALL, 0);
	event__bytes(&b, words, plan->words * 8u);
	event__bytes(&b, &none, 8);
	event__bytes(&b, &stack, sizeof(stack));
	event__block(&b, args, sizeof(args));
	trace_function__decode(function, &b.event, b.size, 3, true, &line, &handle);
	line__text(&line, text, sizeof(text));
	assert_string_equal(text,
			    "grid=(1,1,1) block=(1,1,1) shmem=0 stream=0x0 args=0x11,0x22,0x33");
	assert_int_equal(line.fields[4].role, TRACE_ARGS);
	assert_true(trace_function__stack(function, &b.event, b.size) == stack);

	b.size = sizeof(b.event) + plan->words * 8u + 16;
	event__block(&b, "", TRACE_UNREADABLE);
	trace_function__decode(function, &b.event, b.size, 3, true, &line, &handle);
	line__text(&line, text, sizeof(text));
	assert_string_equal(text,
			    "grid=(1,1,1) block=(1,1,1) shmem=0 stream=0x0 args=<unreadable 0xa0>");
	/* A cut event has none. */
	assert_int_equal(
		trace_function__stack(function, &b.event, sizeof(b.event) + plan->words * 8u + 15),
		0);
	assert_int_equal(trace_function__stack(function, &b.event, 3), 0);
}

/* Decodes an event of every row, cut at every length, in memory that ends there. */
static void test_truncated(void **state)
{
	const struct state *both = *state;
	static struct trace_line line;
	static uint8_t noise[EVENT_MAX];
	uint64_t handle;
	uint8_t *exact;
	uint32_t row;
	size_t size, i;

	srand(1);
	for (i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)(rand() % 3 ? 0 : rand());
	for (row = 0; row < trace_functions__count(both->with_args); row++) {
		const struct trace_function *function = trace_functions__at(both->with_args, row);

		for (size = 0; size < 400; size += size < 256 ? 1 : 13) {
			exact = malloc(size ? size : 1);
			assert_non_null(exact);
			memcpy(exact, noise + row, size);
			if (size >= sizeof(struct trace_event))
				((struct trace_event *)(void *)exact)->words =
					(uint8_t)(row % 3 ? row % 17 : 255);
			trace_function__decode(function,
					       (const struct trace_event *)(const void *)exact,
					       size, row % 17, row % 2, &line, &handle);
			trace_function__launched(
				function, (const struct trace_event *)(const void *)exact, size);
			assert_true(line.field_count <= TRACE_FIELDS_MAX);
			for (i = 0; i < line.field_count; i++) {
				if (line.fields[i].form != FORM_TEXT &&
				    line.fields[i].form != FORM_BYTES)
					continue;
				assert_true((const uint8_t *)line.fields[i].text >= exact ||
					    !line.fields[i].length);
				assert_true((const uint8_t *)line.fields[i].text +
						    line.fields[i].length <=
					    exact + size);
			}
			free(exact);
		}
	}
}

/* A cut event gives the beginning of what the whole one gives. */
static void test_truncated_examples(void **state)
{
	const struct state *both = *state;
	static struct trace_line line;
	struct event_builder b;
	uint64_t handle;
	char whole[4096], part[4096];
	size_t i, size, fields;

	for (i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct trace_function *function =
			build(both->plain, &examples[i], TRACE_CALL, &b);

		trace_function__decode(function, &b.event, b.size, 0, false, &line, &handle);
		line__text(&line, whole, sizeof(whole));
		fields = line.field_count;
		for (size = 0; size < b.size; size++) {
			trace_function__decode(function, &b.event, size, 0, false, &line, &handle);
			line__text(&line, part, sizeof(part));
			assert_true(line.field_count <= fields);
			if (size < sizeof(b.event))
				assert_int_equal(line.field_count, 0);
		}
	}
}

static void test_results(void **state)
{
	const struct state *both = *state;
	const struct trace_function *runtime =
		trace_functions__at(both->plain, (uint32_t)api__find("cudaMalloc", -1));
	const struct trace_function *query =
		trace_functions__at(both->plain, (uint32_t)api__find("cuStreamQuery", -1));
	const struct trace_function *last =
		trace_functions__at(both->plain, (uint32_t)api__find("cudaGetLastError", -1));
	const struct trace_function *text =
		trace_functions__at(both->plain, (uint32_t)api__find("cudaGetErrorName", -1));

	assert_string_equal(trace_function__result_name(runtime, 2), "cudaErrorMemoryAllocation");
	assert_string_equal(trace_function__result_name(query, 600), "CUDA_ERROR_NOT_READY");
	assert_null(trace_function__result_name(runtime, 123456));
	assert_null(trace_function__result_name(text, 0));
	assert_true(trace_function__is_failure(runtime, 2));
	assert_false(trace_function__is_failure(runtime, 0));
	assert_false(trace_function__is_failure(query, 600));
	assert_string_equal(trace_function__result_name(last, 2), "cudaErrorMemoryAllocation");
	assert_false(trace_function__is_failure(last, 2));
	assert_int_equal(trace_function__returns(last), TRACE_RETURNS_EARLIER);
	assert_int_equal(trace_function__returns(text), TRACE_RETURNS_VALUE);
	assert_false(trace_function__is_failure(text, 77));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_entry),
		cmocka_unit_test(test_sonames),
		cmocka_unit_test(test_long_string),
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_args_and_stack),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_truncated_examples),
		cmocka_unit_test(test_results),
	};

	return cmocka_run_group_tests_name("trace decode", tests, set_up, tear_down);
}
