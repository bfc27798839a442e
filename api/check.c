// SPDX-License-Identifier: BSD-2-Clause
// Checks of a row of functions.tsv beyond its spelling: the BPF programs rely on them.
#include "row.h"

#include <ctype.h>
#include <string.h>

#include "gpuprobe/trace.h"
#include "words.h"

#define BIT(n) (1ull << (n))

/* Roles that a call of the operation must have. */
static const uint64_t needed_roles[OP_COUNT] = {
	[OP_SET] = BIT(ROLE_PTR),
	[OP_LAUNCH] = BIT(ROLE_FUNC),
	[OP_GRAPH_LAUNCH] = BIT(ROLE_GRAPHEXEC) | BIT(ROLE_STREAM),
	[OP_EVENT_RECORD] = BIT(ROLE_EVENT), /* without a stream: it covers a whole context */
	[OP_CREATE] = BIT(ROLE_OUT),
	[OP_DESTROY] = BIT(ROLE_HANDLE),
	[OP_GET_KERNEL] = BIT(ROLE_OUT) | BIT(ROLE_NAME) | BIT(ROLE_MODULE),
	[OP_CAPTURE] = BIT(ROLE_STREAM),
	[OP_HOST_FUNCTION] = BIT(ROLE_STREAM),
	[OP_LAUNCH_LIST] = BIT(ROLE_PARAMS) | BIT(ROLE_ELEMENTS),
};

static const uint64_t capture_roles[CAPTURE_CHANGES] = {
	[CAPTURE_BEGIN_TO] = BIT(ROLE_GRAPH),
	[CAPTURE_END] = BIT(ROLE_OUT),
	[CAPTURE_TOLD] = BIT(ROLE_OUT),
	[CAPTURE_JOIN] = BIT(ROLE_EVENT),
};

static const uint64_t graph_roles[GRAPH_CHANGES] = {
	[GRAPH_ADD_KERNEL] = BIT(ROLE_OUT) | BIT(ROLE_GRAPH),
	[GRAPH_ADD_CHILD] = BIT(ROLE_OUT) | BIT(ROLE_GRAPH) | BIT(ROLE_CHILD),
	[GRAPH_ADD_NODE] = BIT(ROLE_OUT) | BIT(ROLE_GRAPH) | BIT(ROLE_PARAMS),
	[GRAPH_ADD_OTHER] = BIT(ROLE_OUT) | BIT(ROLE_GRAPH),
	[GRAPH_CLONE] = BIT(ROLE_OUT) | BIT(ROLE_GRAPH),
	[GRAPH_INSTANTIATE] = BIT(ROLE_OUT) | BIT(ROLE_GRAPH),
	[GRAPH_UPDATE] = BIT(ROLE_GRAPHEXEC) | BIT(ROLE_GRAPH),
	[GRAPH_REMOVE_NODE] = BIT(ROLE_HANDLE),
	[GRAPH_ENABLE_NODE] = BIT(ROLE_GRAPHEXEC) | BIT(ROLE_HANDLE) | BIT(ROLE_FLAGS),
	[GRAPH_CREATE] = BIT(ROLE_OUT),
	[GRAPH_DESTROY] = BIT(ROLE_GRAPH),
	[GRAPH_DESTROY_EXEC] = BIT(ROLE_GRAPHEXEC),
	[GRAPH_EMBEDDED] = BIT(ROLE_OUT) | BIT(ROLE_HANDLE),
};

/* Roles that are dereferenced, and roles that are numbers. */
static const uint64_t pointer_roles = BIT(ROLE_OUT) | BIT(ROLE_PITCHOUT) | BIT(ROLE_CONFIG) |
				      BIT(ROLE_ARGS) | BIT(ROLE_NAME) | BIT(ROLE_PARAMS);
static const uint64_t number_roles =
	BIT(ROLE_SIZE) | BIT(ROLE_WIDTH) | BIT(ROLE_HEIGHT) | BIT(ROLE_KIND) | BIT(ROLE_GRIDX) |
	BIT(ROLE_GRIDY) | BIT(ROLE_GRIDZ) | BIT(ROLE_BLOCKX) | BIT(ROLE_BLOCKY) | BIT(ROLE_BLOCKZ) |
	BIT(ROLE_SHMEM) | BIT(ROLE_FLAGS) | BIT(ROLE_ELEMENTS) | BIT(ROLE_OFFSET);

static bool has(const struct table_function *function, enum role role)
{
	return function->desc.location[role] != LOCATION_NONE;
}

static int need(const struct table_function *function, const struct row *row, enum role role)
{
	if (has(function, role))
		return 0;
	return row__fail(row, "%s without the role %s",
			 word__of_operation(function->desc.operation), word__of_role(role));
}

/* Functions of libraries need their library's name, those of CUDA must not have one. */
static int check_library(const struct table_function *function, const struct row *row)
{
	bool is_library = function->desc.layer == LAYER_LIBRARY;

	if (is_library == (function->libraries != NULL))
		return 0;
	return row__fail(row, "%s %s the flag library=", function->symbol,
			 is_library ? "needs" : "must not have");
}

/* The prefix of a symbol must match its layer: cuX, or cudaX and __cudaX; neither for libraries. */
static int check_layer(const struct table_function *function, const struct row *row)
{
	const char *symbol = function->symbol;
	bool runtime = strncmp(symbol, "cuda", 4) == 0 || strncmp(symbol, "__cuda", 6) == 0;
	bool driver = strncmp(symbol, "cu", 2) == 0 && isupper((unsigned char)symbol[2]);

	if (function->desc.layer == LAYER_RUNTIME ? runtime :
	    function->desc.layer == LAYER_DRIVER  ? driver :
						    !runtime && !driver)
		return 0;
	return row__fail(row, "%s is not a symbol of that layer", symbol);
}

static int check_per_thread(const struct table_function *function, const struct row *row)
{
	bool suffix = function->symbol[function__base_length(function->symbol)] != '\0';
	bool flag = function->desc.flags & FUNCTION_PER_THREAD;

	if (suffix == flag)
		return 0;
	return row__fail(row, "%s %s the flag per_thread", function->symbol,
			 suffix ? "needs" : "must not have");
}

/* Only libcudart has a soname that changes; libcuda has versions in its symbols. */
static int check_soname(const struct table_function *function, const struct row *row)
{
	if (!function->soname || function->desc.layer == LAYER_RUNTIME)
		return 0;
	return row__fail(row, "the flag soname= is for the runtime only");
}

static uint64_t roles_of_kind(const struct function_desc *desc)
{
	switch (desc->operation) {
	case OP_CAPTURE: return capture_roles[desc->kind];
	case OP_GRAPH: return graph_roles[desc->kind];
	default: return 0;
	}
}

static int check_needed(const struct table_function *function, const struct row *row)
{
	uint64_t needed = needed_roles[function->desc.operation] | roles_of_kind(&function->desc);
	unsigned int role;
	int rc = 0;

	for (role = 0; role < ROLE_COUNT && !rc; role++) {
		if (needed & BIT(role))
			rc = need(function, row, (enum role)role);
	}
	return rc;
}

/* The parameter structure must be known, and for arrays of structures also the length. */
static int check_params(const struct table_function *function, const struct row *row)
{
	bool array =
		function->desc.params == PARAMS_SIZES || function->desc.params == PARAMS_3D_BATCH;

	if (has(function, ROLE_SIZE) || has(function, ROLE_WIDTH))
		return row__fail(row, "copy with both params and size or width");
	if (function->desc.params == PARAMS_EXTENT)
		return need(function, row, ROLE_EXTENT);
	return need(function, row, array ? ROLE_ELEMENTS : ROLE_PARAMS);
}

/* Exactly one way to say how many bytes: size, or width and height, or a parameter structure. */
static int check_amount(const struct table_function *function, const struct row *row)
{
	const char *operation = word__of_operation(function->desc.operation);

	if (function->desc.params && function->desc.operation != OP_ALLOC)
		return check_params(function, row);

	if (has(function, ROLE_SIZE) && has(function, ROLE_WIDTH))
		return row__fail(row, "%s with both size and width", operation);
	if (has(function, ROLE_SIZE))
		return 0;
	if (!has(function, ROLE_WIDTH))
		return row__fail(row, "%s without the role size or width", operation);
	if (function->desc.operation == OP_ALLOC && !has(function, ROLE_PITCHOUT))
		return need(function, row, ROLE_PITCHOUT);
	return need(function, row, ROLE_HEIGHT);
}

/* Checks the arguments that an allocation needs besides its parameter structure. */
static int check_alloc_params(const struct table_function *function, const struct row *row)
{
	switch (function->desc.params) {
	case PARAMS_ARRAY:
	case PARAMS_ARRAY_V1:
	case PARAMS_ARRAY3D:
	case PARAMS_ARRAY3D_V1:
	case PARAMS_BUFFER: return need(function, row, ROLE_PARAMS);
	case PARAMS_CHANNELS:
		if (has(function, ROLE_EXTENT))
			return need(function, row, ROLE_PARAMS);
		return has(function, ROLE_WIDTH) ? need(function, row, ROLE_HEIGHT) :
						   need(function, row, ROLE_EXTENT);
	case PARAMS_PITCHED: return need(function, row, ROLE_EXTENT);
	case PARAMS_PHYSICAL:
		return has(function, ROLE_PARAMS) ? check_amount(function, row) :
						    need(function, row, ROLE_PARAMS);
	case PARAMS_EXTERNAL_ARRAY: return 0;
	default: return row__fail(row, "alloc with the params of a copy");
	}
}

/* An allocation writes the address to *out; registered memory gives it. */
static int check_alloc(const struct table_function *function, const struct row *row)
{
	int rc =
		need(function, row, function->desc.kind == MEMORY_REGISTERED ? ROLE_PTR : ROLE_OUT);

	if (rc)
		return rc;
	if (function->desc.params)
		return check_alloc_params(function, row);
	/* The size of memory that another process allocated need not be an argument. */
	return function->desc.kind == MEMORY_IMPORTED ? 0 : check_amount(function, row);
}

/* A free takes an address, or the handle of memory that has no address. */
static int check_free(const struct table_function *function, const struct row *row)
{
	bool handle = function->desc.kind == MEMORY_ARRAY || function->desc.kind == MEMORY_PHYSICAL;

	return need(function, row, handle ? ROLE_HANDLE : ROLE_PTR);
}

static int check_virtual(const struct table_function *function, const struct row *row)
{
	int rc;

	if (function->desc.kind != VIRTUAL_MAP && function->desc.kind != VIRTUAL_UNMAP)
		return need(function, row, ROLE_OUT);
	rc = need(function, row, ROLE_PTR);
	if (!rc)
		rc = need(function, row, ROLE_SIZE);
	if (!rc && function->desc.kind == VIRTUAL_MAP)
		rc = need(function, row, ROLE_HANDLE);
	return rc;
}

static int check_pool(const struct table_function *function, const struct row *row)
{
	bool device = has(function, ROLE_DEVICE) || has(function, ROLE_PARAMS);

	if (function->desc.kind >= POOL_CURRENT && !device)
		return need(function, row, ROLE_DEVICE);
	switch (function->desc.kind) {
	case POOL_TRIM:
		return has(function, ROLE_POOL) ? need(function, row, ROLE_SIZE) :
						  need(function, row, ROLE_POOL);
	case POOL_SET:
		return has(function, ROLE_KIND) ? need(function, row, ROLE_PARAMS) :
						  need(function, row, ROLE_KIND);
	case POOL_GET:
		return has(function, ROLE_KIND) ? need(function, row, ROLE_OUT) :
						  need(function, row, ROLE_KIND);
	case POOL_CURRENT: return need(function, row, ROLE_POOL);
	default: return need(function, row, ROLE_OUT);
	}
}

static int check_kind_argument(const struct table_function *function, const struct row *row)
{
	if (function->desc.kind == COPY_BY_ARGUMENT)
		return need(function, row, ROLE_KIND);
	if (function->desc.kind == COPY_BY_PARAMS && !function->desc.params)
		return row__fail(row, "kind by_params without the flag params=");
	if (has(function, ROLE_KIND))
		return row__fail(row, "copy with the role kind is of kind by_argument");
	return 0;
}

static int check_scope(const struct table_function *function, const struct row *row)
{
	switch (function->desc.kind) {
	case WAIT_STREAM: return need(function, row, ROLE_STREAM);
	case WAIT_EVENT: return need(function, row, ROLE_EVENT);
	default: return 0;
	}
}

static int check_context(const struct table_function *function, const struct row *row)
{
	switch (function->desc.kind) {
	case CONTEXT_RESET: /* cudaDeviceReset: the thread's current device */
		return function->desc.layer == LAYER_RUNTIME ? 0 : need(function, row, ROLE_DEVICE);
	case CONTEXT_RELEASE: return need(function, row, ROLE_DEVICE);
	case CONTEXT_GREEN:
		return has(function, ROLE_OUT) ? need(function, row, ROLE_DEVICE) :
						 need(function, row, ROLE_OUT);
	case CONTEXT_DERIVE:
		return has(function, ROLE_OUT) ? need(function, row, ROLE_CTX) :
						 need(function, row, ROLE_OUT);
	case CONTEXT_CREATE:
	case CONTEXT_RETAIN:
		return has(function, ROLE_DEVICE) ? need(function, row, ROLE_CTX) :
						    need(function, row, ROLE_DEVICE);
	default: return need(function, row, ROLE_CTX);
	}
}

static int check_operation(const struct table_function *function, const struct row *row)
{
	const struct function_desc *desc = &function->desc;
	int rc = check_needed(function, row);

	if (!rc && (desc->operation == OP_COPY || desc->operation == OP_SET))
		rc = check_amount(function, row);
	if (!rc && desc->operation == OP_ALLOC)
		rc = check_alloc(function, row);
	if (!rc && desc->operation == OP_FREE)
		rc = check_free(function, row);
	if (!rc && desc->operation == OP_VIRTUAL)
		rc = check_virtual(function, row);
	if (!rc && desc->operation == OP_POOL)
		rc = check_pool(function, row);
	if (!rc && desc->operation == OP_COPY)
		rc = check_kind_argument(function, row);
	if (!rc && desc->operation == OP_CONTEXT)
		rc = check_context(function, row);
	if (!rc && (desc->operation == OP_WAIT || desc->operation == OP_QUERY))
		rc = check_scope(function, row);
	if (!rc && (desc->operation == OP_COPY || desc->operation == OP_SET) &&
	    desc->flags & FUNCTION_ASYNC)
		rc = need(function, row, ROLE_STREAM);
	return rc;
}

static int check_unit(const struct table_function *function, const struct row *row)
{
	if (function->desc.unit == 1 || has(function, ROLE_SIZE) || has(function, ROLE_WIDTH))
		return 0;
	return row__fail(row, "a unit without the role size or width");
}

/* The argument that begins at a location, of any size. */
static const struct table_argument *argument_at(const struct table_function *function,
						uint8_t location)
{
	size_t i;

	for (i = 0; i < function->argument_count; i++) {
		if (function->arguments[i].location.first == (location & LOCATION_MASK))
			return &function->arguments[i];
	}
	return NULL;
}

/* The argument's type must fit the role: a `size_t *` is not a size. */
static int check_types(const struct table_function *function, const struct row *row)
{
	const struct table_argument *argument;
	unsigned int role;
	bool pointer;

	for (role = 0; role < ROLE_COUNT; role++) {
		argument = has(function, role) ?
				   argument_at(function, function->desc.location[role]) :
				   NULL;
		if (!argument) /* no such argument, or the second half of a dim3 */
			continue;
		pointer = type__is_pointer(argument->type);
		if (pointer ? number_roles & BIT(role) : pointer_roles & BIT(role))
			return row__fail(row, "role %s cannot be a %s", word__of_role(role),
					 argument->type);
	}
	return 0;
}

/* One flag, FUNCTION_OUT_32, covers both outputs: the address and the pitch. */
static int check_pitchout(const struct table_function *function, const struct row *row)
{
	const struct table_argument *argument;
	bool narrow, out_narrow = function->desc.flags & FUNCTION_OUT_32;

	argument = argument_at(function, function->desc.location[ROLE_PITCHOUT]);
	if (!has(function, ROLE_PITCHOUT) || !argument)
		return 0;
	narrow = type__pointee_size(argument->type) == 4;
	if (narrow == out_narrow)
		return 0;
	return row__fail(row, "out and pitchout point to numbers of different size");
}

/*
 * A call that is counted by its result must return one. The result of a call that asks for an error
 * is not read.
 */
static int check_returns(const struct table_function *function, const struct row *row)
{
	if (!function->returns || function->returns == TRACE_RETURNS_NCCL ||
	    function->desc.operation == OP_NONE ||
	    (function->desc.operation == OP_ASK && function->desc.kind == ASK_ERROR))
		return 0;
	return row__fail(row, "%s needs a result, so not the flag returns=",
			 word__of_operation(function->desc.operation));
}

/*
 * Outputs are read when the call has returned, so they must not be passed as an address or as
 * given.
 */
static int check_passing(const struct table_function *function, const struct row *row)
{
	static const enum role written[] = {ROLE_OUT, ROLE_PITCHOUT};
	const struct table_argument *argument;
	size_t i;

	for (i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		argument = has(function, written[i]) ?
				   argument_at(function, function->desc.location[written[i]]) :
				   NULL;
		if (argument && argument->passing)
			return row__fail(row,
					 "role %s is written, a flag says of %s that it is not",
					 word__of_role(written[i]), argument->name);
	}
	return 0;
}

int function__check(const struct table_function *function, const struct row *row)
{
	int rc = check_layer(function, row);

	if (!rc)
		rc = check_library(function, row);
	if (!rc)
		rc = check_per_thread(function, row);
	if (!rc)
		rc = check_soname(function, row);
	if (!rc)
		rc = check_operation(function, row);
	if (!rc)
		rc = check_unit(function, row);
	if (!rc)
		rc = check_returns(function, row);
	if (!rc)
		rc = check_passing(function, row);
	if (!rc)
		rc = check_types(function, row);
	if (!rc)
		rc = check_pitchout(function, row);
	return rc;
}
