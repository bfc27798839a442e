/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA API as data for userspace. api/generate.c generates it at build time from the TSV files
 * in api/ (functions.tsv, enums.tsv, errors.tsv, allocators.tsv). A row's number is its index in
 * the table; it is the cookie of every probe and the `row` of every BPF map key.
 */
#ifndef API_API_H
#define API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/function.h"
#include "gpuprobe/rate.h"
#include "gpuprobe/tensor.h"

/* How to read a pointer argument if its type does not say. */
enum api_passing {
	PASSING_BY_TYPE = 0,
	PASSING_ADDRESS, /* show only the address: an array, code */
	PASSING_GIVEN,	 /* the caller provides what it points to */
};

struct api_argument {
	const char *name;
	const char *type; /* C type, e.g. "size_t", "void **" */
	uint8_t location; /* LOCATION_* of function.h; LOCATION_NONE if split or by reference */
	uint8_t size;	  /* its size in bytes; more than 8: on the stack from `location` on */
	uint8_t word;	  /* its first register or slot, split or not; LOCATION_NONE in xmm */
	uint8_t passing;  /* enum api_passing */
};

struct api_function {
	const char *symbol; /* as exported, including variants: "cuMemcpyHtoD_v2_ptds" */
	const char *base;   /* the name without _ptds or _ptsz: "cuMemcpyHtoD_v2" */
	/*
	 * The name in text for people: without the version if <cuda.h> hides that; "cuMemAlloc_v1"
	 * for the function whose symbol has no version.
	 */
	const char *shown;
	const char *family; /* "memory", "launch", … as in functions.tsv */
	struct function_desc desc;
	const struct api_argument *arguments;
	/* LAYER_LIBRARY: how the names of the files begin that have it, "NAME,..."; else NULL */
	const char *libraries;
	uint8_t argument_count;
	uint8_t soname;	 /* the last soname major whose libraries have this form; 0: newest */
	uint8_t returns; /* enum trace_returns of gpuprobe/trace.h */
	bool unrecorded; /* it may have arguments that the table does not list */
};

extern const struct api_function api_functions[];
extern const size_t api_function_count;

/*
 * The family whose calls a row's tallies count. RATE_EXACT for kernels too: their tallies count the
 * sampled launches that were examined; launches themselves are counted by kernel.
 */
enum rate_family api__tally_family(uint16_t row);

/* One value of an enumeration. */
struct api_value {
	const char *type;
	const char *name;
	int value;
};

#define API_OPERANDS 8

/* The meanings of a probe point's operands, in their order. */
struct api_probe_operands {
	uint8_t count;
	uint8_t roles[API_OPERANDS]; /* enum tensor_role; TENSOR_ROLES: not used */
};

/* A static probe point at which a framework's allocator reports a piece of memory. */
struct api_probe {
	const char *allocator; /* "PyTorch" */
	const char *library;   /* how the file's name begins: "libc10_cuda.so" */
	const char *provider, *name;
	struct api_probe_operands operands;
	uint8_t action; /* enum tensor_action */
};

extern const struct api_probe api_probes[];
extern const size_t api_probe_count;

/* Whether a file of this base name may have an allocator of the table. */
bool api__has_allocator(const char *base);

/* The same for the functions by which an allocator says that memory ran out. */
bool api__has_exhaustion(const char *base);

/* Whether a file of this base name may have the function, one of LAYER_LIBRARY. */
bool api__is_in_library(const struct api_function *function, const char *base);

/* Whether a file of this base name may have functions of LAYER_LIBRARY. */
bool api__is_library(const char *base);

/* The soname major to use for a library whose major is unknown. */
#define API_NEWEST (-1)

/*
 * Returns the row of `symbol` for libraries of soname major `major` (13 for libcudart.so.13), or -1
 * if there is none. A row with a soname applies to that major and to earlier ones, down to the next
 * row; API_NEWEST selects the newest row. Binary search: api_functions is sorted by symbol
 * (strcmp), and rows of one symbol by soname, the newest last.
 */
int api__find(const char *symbol, int major);

/* The name to print for the function with this base name; `base` itself if the table has none. */
const char *api__shown(const char *base);

/*
 * Returns the values of the enumeration `type` ("cudaLimit", without the word enum) in order and
 * sets *count. NULL if the table does not have the type.
 */
const struct api_value *api__values(const char *type, size_t *count);

/*
 * The name of an error code of a layer ("cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY"),
 * or NULL if the table has none.
 */
const char *api__error_name(enum layer layer, int code);

#endif
