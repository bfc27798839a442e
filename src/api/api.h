/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA API as data, as userspace sees it: generated at build time from
 * the TSV files in api/ (functions.tsv, enums.tsv, errors.tsv) by api/generate.c.
 * Rows are numbered by their place in the table; that number is the cookie
 * of every probe site and the `row` in every BPF map key.
 */
#ifndef API_API_H
#define API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/function.h"
#include "gpuprobe/rate.h"

/* How an argument that is a pointer is to be understood, where its type does not tell. */
enum api_passing {
	PASSING_BY_TYPE = 0,
	PASSING_ADDRESS, /* the address is all there is to show: an array, code */
	PASSING_GIVEN,	 /* what it points to is given by the caller */
};

struct api_argument {
	const char *name;
	const char *type; /* C type, e.g. "size_t", "void **" */
	uint8_t place;	  /* PLACE_* of function.h; PLACE_NONE where it is split or by reference */
	uint8_t size;	  /* bytes it occupies; more than 8: on the stack from `place` on */
	uint8_t word;	  /* the first register or slot it is in, split or not; PLACE_NONE in xmm */
	uint8_t passing;  /* enum api_passing */
};

struct api_function {
	const char *symbol; /* as exported, variants included: "cuMemcpyHtoD_v2_ptds" */
	const char *base;   /* the name people use: "cuMemcpyHtoD_v2" for its _ptds form */
	const char *shown;  /* in text for people: without the version that <cuda.h> gives it; "cuMemAlloc_v1" of the one without */
	const char *family; /* "memory", "launch", … as in functions.tsv */
	struct function_desc desc;
	const struct api_argument *arguments;
	uint8_t argument_count;
	uint8_t soname;	 /* the last soname major whose libraries have it so; 0: the newest form */
	uint8_t returns; /* enum trace_returns of gpuprobe/trace.h */
	bool unrecorded; /* it may have arguments that the table does not know */
};

extern const struct api_function api_functions[];
extern const size_t api_function_count;

/*
 * The family whose calls the tallies of a row count. RATE_EXACT for kernels too: theirs are of launches that were
 * looked at, launches themselves are counted by kernel.
 */
enum rate_family api__tally_family(uint16_t row);

/* A value of an enumeration. */
struct api_value {
	const char *type;
	const char *name;
	int value;
};

/* The soname major of a library of which it is not known. */
#define API_NEWEST (-1)

/*
 * The row of `symbol` as libraries of soname major `major` have it (13 for
 * libcudart.so.13), or -1 where there is none. A row with a soname is for
 * that major and those before it, down to the next row; with API_NEWEST it is
 * the newest row. Binary search: api_functions is sorted by symbol (strcmp),
 * rows of one symbol by soname, the newest last.
 */
int api__find(const char *symbol, int major);

/* The name that people are shown of a function with that base name; `base` itself where the table has none. */
const char *api__shown(const char *base);

/*
 * The values of the enumeration `type` ("cudaLimit", without the word enum) in
 * their order, `*count` of them. NULL for a type that the table does not have.
 */
const struct api_value *api__values(const char *type, size_t *count);

/*
 * The name of an error code in a layer ("cudaErrorMemoryAllocation",
 * "CUDA_ERROR_OUT_OF_MEMORY"), or NULL when the table has none.
 */
const char *api__error_name(enum layer layer, int code);

#endif
