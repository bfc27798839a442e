// SPDX-License-Identifier: BSD-2-Clause
// The text of a failure; see error.h.
#include "base/error.h"

#include <stdio.h>
#include <string.h>

int error__set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return code;
}

int error__prefix(struct error *err, int code, const char *format, ...)
{
	char old[sizeof(err->text)];
	va_list args;
	int n;

	if (!err)
		return code;
	memcpy(old, err->text, sizeof(old));
	va_start(args, format);
	n = vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", old);
	return code;
}
