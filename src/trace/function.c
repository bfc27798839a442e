// SPDX-License-Identifier: BSD-2-Clause
// The table of functions that can be traced; see function.h.
#include "trace/function.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "trace/steps.h"

#define NOT_READY 600 /* in both layers: the answer of a query */

struct trace_functions {
	struct trace_names names;
	size_t count;
	struct trace_function *function[MAX_FUNCTIONS]; /* one by one, so that they never move */
	struct trace_function *ranges[NVTX_FUNCTIONS];	/* of these; NULL: not added */
};

const char *trace_names__join(struct trace_names *names, const char *argument, const char *member)
{
	char *name;

	if (ARRAY_RESERVE(names->list, names->count, 1) ||
	    asprintf(&name, "%s.%s", argument, member) < 0)
		return NULL;
	names->list[names->count++] = name;
	return name;
}

static void function__free(struct trace_function *function)
{
	if (!function)
		return;
	free(function->steps);
	free(function->own_symbol);
	free(function);
}

void trace_functions__free(struct trace_functions *functions)
{
	size_t i;

	if (!functions)
		return;
	for (i = 0; i < functions->count; i++)
		function__free(functions->function[i]);
	for (i = 0; i < functions->names.count; i++)
		free(functions->names.list[i]);
	free(functions->names.list);
	free(functions);
}

static int add_row(struct trace_functions *functions, const struct api_function *row,
		   bool kernel_args)
{
	struct trace_function *function = calloc(1, sizeof(*function));
	int rc;

	if (!function)
		return -ENOMEM;
	function->symbol = row->symbol;
	function->operation = row->desc.operation;
	rc = trace_plan__build(row, kernel_args, &functions->names, function);
	if (rc) {
		function__free(function);
		return rc;
	}
	functions->function[functions->count++] = function;
	return 0;
}

struct trace_functions *trace_functions__new(bool kernel_args)
{
	struct trace_functions *functions = calloc(1, sizeof(*functions));
	size_t row;

	for (row = 0; functions && row < api_function_count; row++) {
		if (!add_row(functions, &api_functions[row], kernel_args))
			continue;
		trace_functions__free(functions);
		return NULL;
	}
	return functions;
}

size_t trace_functions__count(const struct trace_functions *functions)
{
	return functions->count;
}

const struct trace_function *trace_functions__at(const struct trace_functions *functions,
						 uint32_t row)
{
	return row < functions->count ? functions->function[row] : NULL;
}

int trace_functions__add(struct trace_functions *functions, const char *symbol, enum layer layer)
{
	struct trace_function *function;
	size_t row;

	for (row = api_function_count; row < functions->count; row++) {
		function = functions->function[row];
		if (function->plan.layer == layer && strcmp(function->symbol, symbol) == 0)
			return (int)row;
	}
	if (functions->count == MAX_FUNCTIONS)
		return -ENOSPC;
	function = calloc(1, sizeof(*function));
	if (!function)
		return -ENOMEM;
	function->own_symbol = strdup(symbol);
	function->symbol = function->own_symbol;
	function->operation = OP_NONE;
	if (!function->own_symbol || trace_plan__build_raw(layer, function)) {
		function__free(function);
		return -ENOMEM;
	}
	functions->function[functions->count] = function;
	return (int)functions->count++;
}

int trace_functions__add_ranges(struct trace_functions *functions)
{
	static const char *const symbols[NVTX_FUNCTIONS] = {
		[NVTX_PUSH] = "nvtxRangePush",	 [NVTX_POP] = "nvtxRangePop",
		[NVTX_START] = "nvtxRangeStart", [NVTX_END] = "nvtxRangeEnd",
		[NVTX_MARK] = "nvtxMark",
	};

	for (size_t i = 0; i < NVTX_FUNCTIONS; i++) {
		int row =
			symbols[i] ? trace_functions__add(functions, symbols[i], LAYER_LIBRARY) : 0;

		if (row < 0)
			return row;
		if (!symbols[i])
			continue;
		functions->ranges[i] = functions->function[row];
		functions->function[row]->plan.returns = TRACE_RETURNS_NOTHING;
	}
	return 0;
}

const struct trace_function *trace_functions__range(const struct trace_functions *functions,
						    unsigned int function)
{
	return function < NVTX_FUNCTIONS ? functions->ranges[function] : NULL;
}

const char *trace_function__symbol(const struct trace_function *function)
{
	return function->symbol;
}

enum layer trace_function__layer(const struct trace_function *function)
{
	return (enum layer)function->plan.layer;
}

enum operation trace_function__operation(const struct trace_function *function)
{
	return (enum operation)function->operation;
}

enum trace_returns trace_function__returns(const struct trace_function *function)
{
	return (enum trace_returns)function->plan.returns;
}

const struct trace_plan *trace_function__plan(const struct trace_function *function)
{
	return &function->plan;
}

static const char *nccl_result_name(int32_t result)
{
	size_t count;
	const struct api_value *values = api__values("ncclResult_t", &count);

	for (size_t i = 0; i < count; i++)
		if (values[i].value == result)
			return values[i].name;
	return NULL;
}

const char *trace_function__result_name(const struct trace_function *function, int32_t result)
{
	if (function->plan.returns == TRACE_RETURNS_NCCL)
		return nccl_result_name(result);
	if (function->plan.returns != TRACE_RETURNS_ERROR &&
	    function->plan.returns != TRACE_RETURNS_EARLIER)
		return NULL;
	/* Each library has codes of its own, of which 0 is success in all. */
	if (function->plan.layer == LAYER_LIBRARY)
		return result ? NULL : "success";
	return api__error_name((enum layer)function->plan.layer, result);
}

bool trace_function__is_failure(const struct trace_function *function, int32_t result)
{
	if (function->plan.returns == TRACE_RETURNS_NCCL)
		return result && result != TRACE_NCCL_IN_PROGRESS;
	return function->plan.returns == TRACE_RETURNS_ERROR && result && result != NOT_READY;
}
