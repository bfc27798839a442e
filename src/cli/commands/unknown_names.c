// SPDX-License-Identifier: BSD-2-Clause
// Warnings of names that no library has, see unknown_names.h.
#include "cli/commands/unknown_names.h"

#define NAMED 8 /* to look for one that is like it takes a millisecond */

void unknown_names__warn(const struct trace_selection *selection, const struct trace_functions *functions,
			 const char *what, const struct log *log)
{
	size_t at = 0, count = 0;
	const char *name;

	while ((name = trace_selection__unknown(selection, functions, &at))) {
		const char *like = count < NAMED ? trace_selection__like(name) : NULL;

		if (count++ < NAMED)
			log__warn(log, "-e %s: %s%s%s%s", name, what, like ? "; did you mean " : "", like ? like : "",
				  like ? "?" : "");
	}
	if (count > NAMED)
		log__warn(log, "-e: the same for %zu more names", count - NAMED);
}
