// SPDX-License-Identifier: BSD-2-Clause
// From symbols to names, see function_name.h.
#include "symbol/function_name.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/demangler.h"
#include "symbol/kernel_name.h"

static char *cut(char *name)
{
	char *shorter = malloc(FUNCTION_NAME_MAX + 1);

	if (shorter)
		kernel_name__cut(name, shorter, FUNCTION_NAME_MAX + 1, FUNCTION_NAME_MAX);
	free(name);
	return shorter;
}

char *function_name__readable(const char *symbol)
{
	char *name;

	if (demangler__rust(symbol, &name))
		name = kernel_name__demangle(symbol);
	return name && strlen(name) > FUNCTION_NAME_MAX ? cut(name) : name;
}
