// SPDX-License-Identifier: BSD-2-Clause
// Words and sizes of NCCL's functions, data types, reductions and results.
#include "nccl/event.h"

#define OWN_OP 5 /* this and greater ones come from ncclRedOpCreate* */

static const char *const functions[NCCL_FUNCTIONS] = {
	[NCCL_ALL_REDUCE] = "all_reduce",
	[NCCL_BROADCAST] = "broadcast",
	[NCCL_REDUCE] = "reduce",
	[NCCL_ALL_GATHER] = "all_gather",
	[NCCL_REDUCE_SCATTER] = "reduce_scatter",
	[NCCL_ALL_TO_ALL] = "all_to_all",
	[NCCL_GATHER] = "gather",
	[NCCL_SCATTER] = "scatter",
	[NCCL_BCAST] = "broadcast",
	[NCCL_SEND] = "send",
	[NCCL_RECV] = "recv",
	[NCCL_INIT_RANK] = "init",
	[NCCL_INIT_ALL] = "init_all",
	[NCCL_SPLIT] = "split",
	[NCCL_SHRINK] = "shrink",
	[NCCL_GROW] = "grow",
	[NCCL_FINALIZE] = "finalize",
	[NCCL_DESTROY] = "destroy",
	[NCCL_ABORT] = "abort",
	[NCCL_GROUP_START] = "group_start",
	[NCCL_GROUP_END] = "group_end",
	[NCCL_GROUP_SIMULATE_END] = "group_simulate_end",
	[NCCL_GET_ASYNC_ERROR] = "get_async_error",
	[NCCL_OTHER] = "other",
	[NCCL_FOUND] = "found",
	[NCCL_MADE] = "made",
	[NCCL_WAIT] = "wait",
};

static const struct {
	const char *word;
	uint32_t bytes;
} datatypes[] = {
	{"int8", 1}, {"uint8", 1}, {"int32", 4}, {"uint32", 4}, {"int64", 8},	{"uint64", 8},
	{"fp16", 2}, {"fp32", 4},  {"fp64", 8},	 {"bf16", 2},	{"fp8e4m3", 1}, {"fp8e5m2", 1},
};

static const char *const ops[OWN_OP] = {"sum", "prod", "max", "min", "avg"};

static const char *const results[] = {
	"ncclSuccess",	     "ncclUnhandledCudaError", "ncclSystemError",
	"ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
	"ncclRemoteError",   "ncclInProgress",	       "ncclTimeout",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *nccl_function__word(enum nccl_function function)
{
	return (unsigned int)function < NCCL_FUNCTIONS ? functions[function] : "other";
}

const char *nccl_datatype__word(int32_t datatype)
{
	return datatype >= 0 && (size_t)datatype < COUNT(datatypes) ? datatypes[datatype].word :
								      NULL;
}

/* The size of an element of a data type; 0: unknown type. */
static uint32_t datatype_bytes(int32_t datatype)
{
	return datatype >= 0 && (size_t)datatype < COUNT(datatypes) ? datatypes[datatype].bytes : 0;
}

const char *nccl_op__word(int32_t op)
{
	return op >= 0 && op < OWN_OP ? ops[op] : "own";
}

const char *nccl_result__word(int32_t result)
{
	return result >= 0 && (size_t)result < COUNT(results) ? results[result] : NULL;
}

bool nccl_function__has_root(enum nccl_function function)
{
	return function == NCCL_BROADCAST || function == NCCL_BCAST || function == NCCL_REDUCE ||
	       function == NCCL_GATHER || function == NCCL_SCATTER;
}

bool nccl_function__has_op(enum nccl_function function)
{
	return function == NCCL_ALL_REDUCE || function == NCCL_REDUCE ||
	       function == NCCL_REDUCE_SCATTER;
}

bool nccl_function__nests(enum nccl_function outer, enum nccl_function inner)
{
	if (outer == NCCL_BCAST)
		return inner == NCCL_BROADCAST;
	if (outer == NCCL_INIT_ALL)
		return inner == NCCL_INIT_RANK || inner == NCCL_GROUP_START ||
		       inner == NCCL_GROUP_END || inner == NCCL_OTHER;
	return false;
}

/* Those whose count is one rank's part of the vector. */
static bool counts_parts(enum nccl_function function)
{
	return function == NCCL_ALL_GATHER || function == NCCL_REDUCE_SCATTER ||
	       function == NCCL_ALL_TO_ALL || function == NCCL_GATHER || function == NCCL_SCATTER;
}

uint64_t nccl_operation__bytes(const struct nccl_operation *operation, int32_t size)
{
	uint64_t bytes = datatype_bytes(operation->datatype);
	uint64_t parts = counts_parts(operation->function) ? (uint64_t)(size > 0 ? size : 0) : 1;

	if (__builtin_mul_overflow(bytes, operation->count, &bytes) ||
	    __builtin_mul_overflow(bytes, parts, &bytes))
		return UINT64_MAX;
	return bytes;
}

struct nccl_operation nccl_operation__plain(const struct nccl_operation *operation)
{
	struct nccl_operation plain = *operation;

	if (plain.function == NCCL_BCAST)
		plain.function = NCCL_BROADCAST;
	if (!nccl_function__has_root(plain.function))
		plain.root = 0;
	/* A program's own reductions have numbers that need not be the same in all ranks. */
	if (!nccl_function__has_op(plain.function))
		plain.op = 0;
	else if (plain.op > OWN_OP)
		plain.op = OWN_OP;
	return plain;
}

bool nccl_operation__equal(const struct nccl_operation *one, const struct nccl_operation *other)
{
	return one->function == other->function && one->count == other->count &&
	       one->datatype == other->datatype && one->op == other->op && one->root == other->root;
}
