// SPDX-License-Identifier: BSD-2-Clause
// Numbers as text, see text.h. By hand: printf takes longer than the rest of a line.
#include "output/trace/text.h"

#include <stdio.h>

#include "base/json.h"

static const char pairs[] = "0001020304050607080910111213141516171819"
			    "2021222324252627282930313233343536373839"
			    "4041424344454647484950515253545556575859"
			    "6061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

static const uint64_t powers[] = {
	1ull,
	10ull,
	100ull,
	1000ull,
	10000ull,
	100000ull,
	1000000ull,
	10000000ull,
	100000000ull,
	1000000000ull,
	10000000000ull,
	100000000000ull,
	1000000000000ull,
	10000000000000ull,
	100000000000000ull,
	1000000000000000ull,
	10000000000000000ull,
	100000000000000000ull,
	1000000000000000000ull,
	10000000000000000000ull,
};

static unsigned int significant_bits(uint64_t value)
{
	return 64 - (unsigned int)__builtin_clzll(value | 1);
}

/* The value must not be 0. */
static unsigned int count_digits(uint64_t value)
{
	unsigned int guess = significant_bits(value) * 1233 >> 12; /* bits * log10(2) */

	return guess + (value >= powers[guess]);
}

char *trace_text__digits(char *at, uint64_t value, unsigned int digits)
{
	char *p = at + digits;

	for (; digits >= 4; digits -= 4) {
		unsigned int four = (unsigned int)(value % 10000);

		value /= 10000;
		p -= 4;
		memcpy(p, pairs + four / 100 * 2, 2);
		memcpy(p + 2, pairs + four % 100 * 2, 2);
		at += 4;
	}
	if (digits & 2) {
		p -= 2;
		memcpy(p, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (digits & 1)
		*--p = (char)('0' + value % 10);
	return at + digits;
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

/* The eight digits of 32 bits as the bytes of a word, computed in parallel. */
static uint64_t hex_of_half(uint32_t value)
{
	uint64_t word = value, letters;

	word = (word | word << 16) & 0x0000ffff0000ffff;
	word = (word | word << 8) & 0x00ff00ff00ff00ff;
	word = (word | word << 4) & 0x0f0f0f0f0f0f0f0f;
	/* Adding 6 gives 16 or more in the bytes that become letters. */
	letters = (word + 0x0606060606060606) >> 4 & 0x0101010101010101;
	return __builtin_bswap64(word + 0x3030303030303030 + letters * ('a' - '9' - 1));
}

char *trace_text__hex(char *at, uint64_t value)
{
	unsigned int digits = (significant_bits(value) + 3) / 4;
	uint64_t part;

	at[0] = '0';
	at[1] = 'x';
	at += 2;
	/* Always writes eight bytes; the caller overwrites the excess. */
	if (digits > 8) {
		part = hex_of_half((uint32_t)(value >> 32)) >> 8 * (16 - digits);
		memcpy(at, &part, sizeof(part));
		at += digits - 8;
		digits = 8;
	}
	part = hex_of_half((uint32_t)value) >> 8 * (8 - digits);
	memcpy(at, &part, sizeof(part));
	return at + digits;
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
