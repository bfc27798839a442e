// SPDX-License-Identifier: BSD-2-Clause
// Makes text of watched processes printable; see escape.h.
#include "base/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Returns the length of the UTF-8 character at `s` and sets its code point; 0 if it is not valid.
 */
static size_t decode(const unsigned char *s, size_t available, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length;

	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	if ((s[0] & 0xe0) == 0xc0)
		length = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		length = 3;
	else if ((s[0] & 0xf8) == 0xf0)
		length = 4;
	else
		return 0;
	if (length > available)
		return 0;
	*code = s[0] & (0x7f >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return length;
}

/* Characters that move the cursor, end the line or change the direction of the text around them. */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
	       (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

size_t escape__printable(const char *s, size_t length)
{
	uint32_t code = 0;
	size_t n = decode((const unsigned char *)s, length, &code);

	return n && !is_control(code) ? n : 0;
}

static bool write_short(FILE *out, unsigned char c)
{
	switch (c) {
	case '\\': fputs("\\\\", out); return true;
	case '\n': fputs("\\n", out); return true;
	case '\t': fputs("\\t", out); return true;
	case '\r': fputs("\\r", out); return true;
	}
	return false;
}

void escape__text(FILE *out, const char *s)
{
	while (s && *s) {
		size_t length = escape__printable(s, strnlen(s, 4));

		if (length && *s != '\\') {
			fwrite(s, 1, length, out);
			s += length;
			continue;
		}
		/*
		 * The remaining bytes of an escaped character are not valid by themselves, so they
		 * are escaped the same way.
		 */
		if (!write_short(out, (unsigned char)*s))
			fprintf(out, "\\x%02x", (unsigned char)*s);
		s++;
	}
}
