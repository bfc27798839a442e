// SPDX-License-Identifier: BSD-2-Clause
// Look-ups in the generated tables of the CUDA API, see api.h.
#include "model/api.h"

#include <stdlib.h>
#include <string.h>

#include "model/api_tables.h"

static int compare_symbol(const void *symbol, const void *entry)
{
	return strcmp(symbol, ((const struct api_function *)entry)->symbol);
}

int api__find(const char *symbol)
{
	const struct api_function *found;

	found = bsearch(symbol, api_functions, api_function_count, sizeof(*found), compare_symbol);
	return found ? (int)(found - api_functions) : -1;
}

static int compare_error(const void *left, const void *right)
{
	const struct api_error *a = left, *b = right;

	if (a->layer != b->layer)
		return a->layer < b->layer ? -1 : 1;
	return (a->code > b->code) - (a->code < b->code);
}

const char *api__error_name(enum layer layer, int code)
{
	struct api_error key = { .layer = (int)layer, .code = code };
	const struct api_error *found;

	found = bsearch(&key, api_errors, api_error_count, sizeof(key), compare_error);
	return found ? found->name : NULL;
}
