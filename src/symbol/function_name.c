// SPDX-License-Identifier: BSD-2-Clause
// Converts symbols to names; see function_name.h.
#include "symbol/function_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
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

static char *keep(char *name)
{
	return name && strlen(name) > FUNCTION_NAME_MAX ? cut(name) : name;
}

char *function_name__readable(const char *symbol)
{
	char *name;

	if (demangler__rust(symbol, &name))
		name = kernel_name__demangle(symbol);
	return keep(name);
}

char *function_name__readable_within(uint64_t *spent_ns, const char *symbol)
{
	uint64_t begin = clock__thread_ns();
	char *name = *spent_ns < FUNCTION_NAMES_NS ? function_name__readable(symbol) :
						     keep(strdup(symbol));

	*spent_ns += clock__thread_ns() - begin;
	return name;
}
