// SPDX-License-Identifier: BSD-2-Clause
// Converts symbols to names; see function_name.h.
#include "symbol/function_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "symbol/demangler.h"
#include "symbol/kernel_name.h"

char *function_name__readable(const char *symbol)
{
	char *name;

	if (demangler__rust(symbol, &name))
		name = kernel_name__demangle(symbol);
	return kernel_name__keep(name);
}

char *function_name__readable_within(uint64_t *spent_ns, const char *symbol)
{
	uint64_t begin = clock__thread_ns();
	char *name = *spent_ns < FUNCTION_NAMES_NS ? function_name__readable(symbol) :
						     kernel_name__keep(strdup(symbol));

	*spent_ns += clock__thread_ns() - begin;
	return name;
}
