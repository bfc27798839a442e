// SPDX-License-Identifier: BSD-2-Clause
// Text within XML; see xml.h.
#include "base/xml.h"

#include <string.h>

#include "base/json.h"

static const char *reference_of(char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

/*
 * Whether XML allows the character at `s`, which is `length` bytes of UTF-8 (0 if it is not valid).
 */
static int is_allowed(const char *s, size_t length)
{
	if (length == 1)
		return (unsigned char)*s >= 0x20 || *s == '\n' || *s == '\t';
	return length && strncmp(s, "\xef\xbf\xbe", 3) && strncmp(s, "\xef\xbf\xbf", 3);
}

void xml__text(FILE *out, const char *s)
{
	while (s && *s) {
		size_t length = json__utf8_length(s);
		const char *reference = reference_of(*s);

		if (reference)
			fputs(reference, out);
		else if (is_allowed(s, length))
			fwrite(s, 1, length, out);
		else
			fputs("\xef\xbf\xbd", out);
		s += length ? length : 1;
	}
}
