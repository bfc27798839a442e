// SPDX-License-Identifier: BSD-2-Clause
// Text of watched processes made printable, see escape.h.
#include "base/escape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 character at `s` and its code point; 0 when it is not valid. */
static size_t decode(const unsigned char *s, uint32_t *code)
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
	*code = s[0] & (0x7f >> length);
	for (size_t i = 1; i < length; i++) {
		/* The terminating zero is no continuation, so this stays in the string. */
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return length;
}

/* What moves the cursor, ends the line or turns the direction of the text around it. */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
	       (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

static bool write_short(FILE *out, unsigned char c)
{
	switch (c) {
	case '\\':
		fputs("\\\\", out);
		return true;
	case '\n':
		fputs("\\n", out);
		return true;
	case '\t':
		fputs("\\t", out);
		return true;
	case '\r':
		fputs("\\r", out);
		return true;
	}
	return false;
}

void escape__text(FILE *out, const char *s)
{
	const unsigned char *at = (const unsigned char *)s;

	while (at && *at) {
		uint32_t code = 0;
		size_t length = decode(at, &code);

		if (length && !is_control(code) && code != '\\') {
			fwrite(at, 1, length, out);
			at += length;
			continue;
		}
		if (!write_short(out, *at)) {
			for (size_t i = 0; i < (length ? length : 1); i++)
				fprintf(out, "\\x%02x", at[i]);
		}
		at += length ? length : 1;
	}
}
