// SPDX-License-Identifier: BSD-2-Clause
// C types of the API table; see type.h.
#include "trace/type.h"

#include <stdlib.h>
#include <string.h>

struct plain_type {
	const char *name;
	uint8_t form;
	uint8_t size;
};

/* By name (strcmp). Handles that are not listed are typedefs of pointers: see is_handle(). */
static const struct plain_type plain_types[] = {
	{"CUdevice", FORM_SIGNED, 4},
	{"CUdeviceptr", FORM_ADDRESS, 8},
	{"CUdeviceptr_v1", FORM_ADDRESS, 4},
	{"CUipcEventHandle", FORM_BYTES, 64},
	{"CUipcMemHandle", FORM_BYTES, 64},
	{"CUlogIterator", FORM_UNSIGNED, 4},
	{"CUuuid", FORM_BYTES, 16},
	{"char", FORM_TEXT, 1},
	{"cudaIpcEventHandle_t", FORM_BYTES, 64},
	{"cudaIpcMemHandle_t", FORM_BYTES, 64},
	{"cudaLogIterator", FORM_UNSIGNED, 4},
	{"cudaUUID_t", FORM_BYTES, 16},
	{"cuuint32_t", FORM_UNSIGNED, 4},
	{"cuuint64_t", FORM_UNSIGNED, 8},
	{"dim3", FORM_DIM3, 12},
	{"double", FORM_REAL, 8},
	{"float", FORM_REAL, 4},
	{"int", FORM_SIGNED, 4},
	{"ncclUniqueId", FORM_BYTES, 128},
	{"size_t", FORM_UNSIGNED, 8},
	{"uint3", FORM_DIM3, 12},
	{"unsigned char", FORM_UNSIGNED, 1},
	{"unsigned int", FORM_UNSIGNED, 4},
	{"unsigned long long", FORM_UNSIGNED, 8},
	{"unsigned short", FORM_UNSIGNED, 2},
};

/* Typedefs of pointers, and numbers that are handles; by name (strcmp). */
static const char *const handles[] = {"CUarray",
				      "CUasyncCallback",
				      "CUasyncCallbackHandle",
				      "CUcontext",
				      "CUdevResourceDesc",
				      "CUevent",
				      "CUexternalMemory",
				      "CUexternalSemaphore",
				      "CUfunction",
				      "CUgraph",
				      "CUgraphConditionalHandle",
				      "CUgraphExec",
				      "CUgraphNode",
				      "CUgraphicsResource",
				      "CUgreenCtx",
				      "CUhostFn",
				      "CUkernel",
				      "CUlibrary",
				      "CUlinkState",
				      "CUlogsCallback",
				      "CUlogsCallbackHandle",
				      "CUmemGenericAllocationHandle",
				      "CUmemoryPool",
				      "CUmipmappedArray",
				      "CUmodule",
				      "CUoccupancyB2DSize",
				      "CUstream",
				      "CUstreamCallback",
				      "CUsurfObject",
				      "CUsurfref",
				      "CUtexObject",
				      "CUtexref",
				      "CUuserObject",
				      "cublasHandle_t",
				      "cublasLtHandle_t",
				      "cublasXtHandle_t",
				      "cudaArray_const_t",
				      "cudaArray_t",
				      "cudaAsyncCallback",
				      "cudaAsyncCallbackHandle_t",
				      "cudaEvent_t",
				      "cudaExternalMemory_t",
				      "cudaExternalSemaphore_t",
				      "cudaFunction_t",
				      "cudaGraphConditionalHandle",
				      "cudaGraphExec_t",
				      "cudaGraphNode_t",
				      "cudaGraph_t",
				      "cudaGraphicsResource_t",
				      "cudaHostFn_t",
				      "cudaKernel_t",
				      "cudaLibrary_t",
				      "cudaLogsCallbackHandle",
				      "cudaLogsCallback_t",
				      "cudaMemPool_t",
				      "cudaMipmappedArray_const_t",
				      "cudaMipmappedArray_t",
				      "cudaStreamCallback_t",
				      "cudaStream_t",
				      "cudaSurfaceObject_t",
				      "cudaTextureObject_t",
				      "cudaUserObject_t",
				      "cudnnHandle_t",
				      "curandGenerator_t",
				      "cusolverDnHandle_t",
				      "cusolverMgHandle_t",
				      "cusolverRfHandle_t",
				      "cusolverSpHandle_t",
				      "cusparseHandle_t",
				      "ncclComm_t",
				      "ncclWindow_t"};

static const struct api_value copy_kinds[] = {
	{"cudaMemcpyKind", "H2H", COPY_H2H},	     {"cudaMemcpyKind", "H2D", COPY_H2D},
	{"cudaMemcpyKind", "D2H", COPY_D2H},	     {"cudaMemcpyKind", "D2D", COPY_D2D},
	{"cudaMemcpyKind", "default", COPY_DEFAULT}, {"cudaMemcpyKind", "P2P", COPY_P2P},
};

/* P2P is the last kind and has no cudaMemcpyKind: it only follows from the function. */
#define COPY_KINDS_BY_VALUE (COPY_DEFAULT + 1)

const char *trace_type__copy_kind(int64_t kind)
{
	return kind >= 0 && kind <= COPY_P2P ? copy_kinds[kind].name : NULL;
}

static int compare_plain(const void *name, const void *entry)
{
	return strcmp(name, ((const struct plain_type *)entry)->name);
}

static int compare_handle(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

static bool is_handle(const char *name)
{
	return bsearch(name, handles, sizeof(handles) / sizeof(handles[0]), sizeof(handles[0]),
		       compare_handle);
}

/* A type's spelling in parts. */
struct spelling {
	char base[64]; /* without const, struct and enum */
	unsigned int stars;
	bool constant;	     /* the base is const */
	bool constant_array; /* T *const *: the caller gives the pointers */
};

static const char *skip_word(const char *type, const char *word)
{
	size_t length = strlen(word);

	return strncmp(type, word, length) == 0 && type[length] == ' ' ? type + length + 1 : type;
}

static void take_apart(const char *type, struct spelling *out)
{
	const char *rest = skip_word(type, "const");
	size_t length;

	memset(out, 0, sizeof(*out));
	out->constant = rest != type;
	rest = skip_word(skip_word(rest, "struct"), "enum");
	length = strcspn(rest, "*");
	type = rest + length;
	while (length && rest[length - 1] == ' ')
		length--;
	if (length >= sizeof(out->base))
		return;
	memcpy(out->base, rest, length);
	for (; *type; type++)
		out->stars += *type == '*';
	out->constant_array = strstr(rest, "*const") != NULL;
}

/* Finds the type that is left without the stars. */
static void find_base(const char *base, struct trace_type *out)
{
	const struct plain_type *plain;

	plain = bsearch(base, plain_types, sizeof(plain_types) / sizeof(plain_types[0]),
			sizeof(*plain), compare_plain);
	if (plain) {
		out->form = plain->form;
		out->size = plain->size;
	} else if (is_handle(base)) {
		out->form = FORM_ADDRESS;
		out->size = 8;
	} else if (strcmp(base, "cudaMemcpyKind") == 0) {
		*out = (struct trace_type){
			.sort = SORT_WORD,
			.form = FORM_SIGNED,
			.size = 4,
			.values = copy_kinds,
			.value_count = COPY_KINDS_BY_VALUE,
		};
	} else if (strcmp(base, "CUresult") == 0 || strcmp(base, "cudaError_t") == 0) {
		*out = (struct trace_type){
			.sort = SORT_RESULT,
			.form = FORM_SIGNED,
			.size = 4,
			.layer = base[2] == 'r' ? LAYER_DRIVER : LAYER_RUNTIME,
		};
	} else if ((out->values = api__values(base, &out->value_count))) {
		out->sort = SORT_WORD;
		out->form = FORM_SIGNED;
		out->size = 4;
	} else if ((out->layout = trace_layout__find(base))) {
		out->sort = SORT_STRUCTURE;
		out->size = out->layout->size;
	} else if ((out->box = copy_layout__find(base))) {
		out->sort = SORT_BOX;
		out->size = out->box->size;
	} else {
		out->sort = SORT_UNKNOWN;
	}
}

static enum type_reading read_pointer(const struct spelling *spelling,
				      const struct trace_type *base, enum api_passing passing)
{
	bool given = spelling->constant || passing == PASSING_GIVEN;

	if (passing == PASSING_ADDRESS || base->sort == SORT_UNKNOWN)
		return READING_ADDRESS;
	if (!given)
		return READING_AT_RETURN;
	if (base->sort == SORT_STRUCTURE || base->sort == SORT_BOX || passing == PASSING_GIVEN)
		return READING_AT_ENTRY;
	/* Pointers to const numbers and handles are arrays. */
	return base->form == FORM_TEXT || base->form == FORM_BYTES ? READING_AT_ENTRY :
								     READING_ADDRESS;
}

enum type_reading trace_type__of(const char *type, enum api_passing passing, struct trace_type *out)
{
	struct spelling spelling;

	memset(out, 0, sizeof(*out));
	take_apart(type, &spelling);
	if (spelling.stars < 2) {
		find_base(spelling.base, out);
		return spelling.stars ? read_pointer(&spelling, out, passing) : READING_NONE;
	}
	out->form = FORM_ADDRESS;
	out->size = 8;
	if (passing == PASSING_ADDRESS || spelling.constant_array)
		return READING_ADDRESS;
	if (spelling.constant && strcmp(spelling.base, "char") == 0) {
		out->form = FORM_TEXT;
		return READING_TEXT_BEHIND;
	}
	return READING_AT_RETURN;
}
