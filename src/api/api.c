// SPDX-License-Identifier: BSD-2-Clause
// Look-ups in the generated tables of the CUDA API; see api.h.
#include "api/api.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_tables.h"

static int compare_symbol(const void *symbol, const void *entry)
{
	return strcmp(symbol, ((const struct api_function *)entry)->symbol);
}

static bool has_symbol(size_t row, const char *symbol)
{
	return row < api_function_count && strcmp(api_functions[row].symbol, symbol) == 0;
}

enum rate_family api__tally_family(uint16_t row)
{
	enum operation operation = api_functions[row].desc.operation;

	return operation == OP_LAUNCH || operation == OP_LAUNCH_LIST ? RATE_EXACT :
								       rate_family_of(operation);
}

int api__find(const char *symbol, int major)
{
	const struct api_function *found;
	size_t row;

	found = bsearch(symbol, api_functions, api_function_count, sizeof(*found), compare_symbol);
	if (!found)
		return -1;
	row = (size_t)(found - api_functions);
	while (row && has_symbol(row - 1, symbol))
		row--;
	for (; has_symbol(row, symbol); row++) {
		bool newest = !has_symbol(row + 1, symbol);

		if (major == API_NEWEST ?
			    newest :
			    !api_functions[row].soname || major <= api_functions[row].soname)
			return (int)row;
	}
	return -1;
}

static int compare_error(const void *left, const void *right)
{
	const struct api_error *a = left, *b = right;

	if (a->layer != b->layer)
		return a->layer < b->layer ? -1 : 1;
	return (a->code > b->code) - (a->code < b->code);
}

const char *api__shown(const char *base)
{
	int row = api__find(base, API_NEWEST);

	return row < 0 ? base : api_functions[row].shown;
}

const char *api__error_name(enum layer layer, int code)
{
	struct api_error key = {.layer = (int)layer, .code = code};
	const struct api_error *found;

	found = bsearch(&key, api_errors, api_error_count, sizeof(key), compare_error);
	return found ? found->name : NULL;
}

static int compare_type(const void *type, const void *entry)
{
	return strcmp(type, ((const struct api_value *)entry)->type);
}

const struct api_value *api__values(const char *type, size_t *count)
{
	const struct api_value *first, *end;

	first = bsearch(type, api_values, api_value_count, sizeof(*first), compare_type);
	*count = 0;
	if (!first)
		return NULL;
	end = first + 1;
	while (first > api_values && strcmp(first[-1].type, type) == 0)
		first--;
	while (end < api_values + api_value_count && strcmp(end->type, type) == 0)
		end++;
	*count = (size_t)(end - first);
	return first;
}

static bool has_probe(const char *base, bool of_exhaustion)
{
	for (size_t i = 0; i < api_probe_count; i++)
		if ((!of_exhaustion || api_probes[i].action == TENSOR_EXHAUSTED) &&
		    !strncmp(base, api_probes[i].library, strlen(api_probes[i].library)))
			return true;
	return false;
}

bool api__has_allocator(const char *base)
{
	return has_probe(base, false);
}

bool api__has_exhaustion(const char *base)
{
	return has_probe(base, true);
}

/* Whether the base name begins with one of the names, "NAME,...". */
static bool begins_with_one(const char *base, const char *names)
{
	for (const char *name = names; name; name = strchr(name, ',')) {
		name += *name == ',';
		if (!strncmp(base, name, strcspn(name, ",")))
			return true;
	}
	return false;
}

bool api__is_in_library(const struct api_function *function, const char *base)
{
	return function->libraries && begins_with_one(base, function->libraries);
}

bool api__is_library(const char *base)
{
	/* Most files that a process maps have other names. */
	if (strncmp(base, "lib", 3) != 0)
		return false;
	for (size_t row = 0; row < api_function_count; row++)
		if (api__is_in_library(&api_functions[row], base))
			return true;
	return false;
}
