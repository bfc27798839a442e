// SPDX-License-Identifier: BSD-2-Clause
// Numbers, sizes and durations as text, see trace_text.h. By hand: printf takes longer than the rest of a line.
#include "output/trace_text.h"

#include <stdio.h>

#include "base/json.h"

static const char pairs[] = "0001020304050607080910111213141516171819"
			    "2021222324252627282930313233343536373839"
			    "4041424344454647484950515253545556575859"
			    "6061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

static const uint64_t powers[] = {
	1ull, 10ull, 100ull, 1000ull, 10000ull, 100000ull, 1000000ull, 10000000ull, 100000000ull, 1000000000ull,
	10000000000ull, 100000000000ull, 1000000000000ull, 10000000000000ull, 100000000000000ull,
	1000000000000000ull, 10000000000000000ull, 100000000000000000ull, 1000000000000000000ull,
	10000000000000000000ull,
};

static unsigned int significant_bits(uint64_t value)
{
	return 64 - (unsigned int)__builtin_clzll(value | 1);
}

static unsigned int count_digits(uint64_t value)
{
	unsigned int guess = significant_bits(value) * 1233 >> 12; /* bits * log10(2) */

	return guess + (value >= powers[guess]) + (value == 0);
}

char *trace_text__digits(char *at, uint64_t value, unsigned int digits)
{
	char *p = at + digits;

	for (; digits >= 2; digits -= 2) {
		p -= 2;
		memcpy(p, pairs + value % 100 * 2, 2);
		value /= 100;
		at += 2;
	}
	if (digits) {
		*--p = (char)('0' + value % 10);
		at++;
	}
	return at;
}

char *trace_text__unsigned(char *at, uint64_t value)
{
	if (value < 10) {
		*at = (char)('0' + value);
		return at + 1;
	}
	return trace_text__digits(at, value, count_digits(value));
}

char *trace_text__signed(char *at, int64_t value)
{
	if (value >= 0)
		return trace_text__unsigned(at, (uint64_t)value);
	*at++ = '-';
	return trace_text__unsigned(at, -(uint64_t)value);
}

static const char hex_digits[] = "0123456789abcdef";

char *trace_text__hex(char *at, uint64_t value)
{
	unsigned int digits = (significant_bits(value) + 3) / 4;
	char *end = at + 2 + digits, *p = end;

	at[0] = '0';
	at[1] = 'x';
	do {
		*--p = hex_digits[value & 0xf];
		value >>= 4;
	} while (value);
	return end;
}

char *trace_text__bytes(char *at, const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < length; i++) {
		*at++ = hex_digits[byte[i] >> 4];
		*at++ = hex_digits[byte[i] & 0xf];
	}
	return at;
}

char *trace_text__real(char *at, double value)
{
	char text[JSON_NUMBER_SIZE];

	json__format_double(text, value);
	return trace_text__copy(at, text, strlen(text));
}

static char *tenths(char *at, uint64_t value)
{
	at = trace_text__unsigned(at, value / 10);
	*at++ = '.';
	*at++ = (char)('0' + value % 10);
	return at;
}

/* In tenths of `unit`, rounded; it cannot overflow as an addition before the division could. */
static uint64_t in_tenths(uint64_t value, uint64_t unit)
{
	uint64_t tenth = unit / 10;

	return value / tenth + (value % tenth >= tenth / 2);
}

char *trace_text__duration(char *at, uint64_t ns)
{
	uint64_t value;

	if (ns < 1000)
		return TRACE_TEXT_CONSTANT(trace_text__unsigned(at, ns), "ns");
	value = in_tenths(ns, 1000);
	if (value < 10000)
		return TRACE_TEXT_CONSTANT(tenths(at, value), "us");
	value = in_tenths(ns, 1000000);
	if (value < 10000)
		return TRACE_TEXT_CONSTANT(tenths(at, value), "ms");
	return TRACE_TEXT_CONSTANT(tenths(at, in_tenths(ns, 1000000000)), "s");
}

char *trace_text__rate(char *at, uint64_t bytes_per_second)
{
	static const char prefixes[] = "KMGT";
	uint64_t unit = 1000, value;
	size_t i = 0;

	if (bytes_per_second < 1000)
		return TRACE_TEXT_CONSTANT(trace_text__unsigned(at, bytes_per_second), "B/s");
	value = in_tenths(bytes_per_second, unit);
	while (value >= 10000 && prefixes[i + 1]) {
		unit *= 1000;
		value = in_tenths(bytes_per_second, unit);
		i++;
	}
	at = tenths(at, value);
	*at++ = prefixes[i];
	return TRACE_TEXT_CONSTANT(at, "B/s");
}
