/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA API as data, as userspace sees it: generated at build time from
 * the TSV files in api/ (functions.tsv, errors.tsv) by api/generate.c.
 * Rows are numbered by their place in the table; that number is the cookie
 * of every probe site and the `row` in every BPF map key.
 */
#ifndef MODEL_API_H
#define MODEL_API_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/function.h"

struct api_argument {
	const char *name;
	const char *type;  /* C type, e.g. "size_t", "void **" */
	uint8_t place;	   /* PLACE_* of function.h; PLACE_NONE where it is split or by reference */
	uint8_t size;	   /* bytes it occupies; more than 8: on the stack from `place` on */
};

struct api_function {
	const char *symbol; /* as exported, variants included: "cuMemcpyHtoD_v2_ptds" */
	const char *base;   /* the name people use: "cuMemcpyHtoD_v2" for its _ptds form */
	const char *family; /* "memory", "launch", … as in functions.tsv */
	struct function_desc desc;
	const struct api_argument *arguments;
	uint8_t argument_count;
};

extern const struct api_function api_functions[];
extern const size_t api_function_count;

/* The row of `symbol`, or -1. Binary search: api_functions is sorted by symbol (strcmp). */
int api__find(const char *symbol);

/*
 * The name of an error code in a layer ("cudaErrorMemoryAllocation",
 * "CUDA_ERROR_OUT_OF_MEMORY"), or NULL when the table has none.
 */
const char *api__error_name(enum layer layer, int code);

#endif
