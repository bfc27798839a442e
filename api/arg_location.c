// SPDX-License-Identifier: BSD-2-Clause
// Locations of arguments; see arg_location.h.
#include "arg_location.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_BYTES 8
#define MAX_SLOTS (LOCATION_MASK - LOCATION_STACK)

static const char *const registers[LOCATION_STACK] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};

/* Returns the number of the register that `text` begins with; sets `*end` to the text after it. */
static int parse_register(const char *text, const char **end)
{
	size_t length;
	int i;

	for (i = 0; i < LOCATION_STACK; i++) {
		length = strlen(registers[i]);
		if (strncmp(text, registers[i], length) == 0) {
			*end = text + length;
			return i;
		}
	}
	return -EINVAL;
}

/* A decimal number without sign, space or leading zero. */
static int parse_number(const char *text, const char **end, long max)
{
	long value;
	char *rest;

	if (*text < '1' || *text > '9')
		return -EINVAL;
	value = strtol(text, &rest, 10);
	if (value > max)
		return -EINVAL;
	*end = rest;
	return (int)value;
}

/* Parses the text after "sp+". */
static int parse_stack(const char *text, struct arg_location *location)
{
	int offset, bytes;

	offset = parse_number(text, &text, MAX_SLOTS * SLOT_BYTES);
	if (offset < 0 || offset % SLOT_BYTES)
		return -EINVAL;
	location->first = (uint8_t)(LOCATION_STACK + offset / SLOT_BYTES - 1);
	if (!*text)
		return 0;
	if (*text != '[')
		return -EINVAL;
	bytes = parse_number(text + 1, &text, UINT8_MAX);
	if (bytes <= SLOT_BYTES || strcmp(text, "]") != 0)
		return -EINVAL;
	location->bytes = (uint8_t)bytes;
	return 0;
}

static int parse_vector(const char *text, struct arg_location *location)
{
	if (*text < '0' || *text > '7' || text[1])
		return -EINVAL;
	location->vector = (uint8_t)(*text - '0');
	return 0;
}

int arg_location__parse(const char *text, struct arg_location *location)
{
	int first, second;

	*location = (struct arg_location){LOCATION_NONE, LOCATION_NONE, LOCATION_NONE, 0};
	if (strncmp(text, "sp+", 3) == 0)
		return parse_stack(text + 3, location);
	if (strncmp(text, "xmm", 3) == 0)
		return parse_vector(text + 3, location);

	first = parse_register(text, &text);
	if (first < 0)
		return first;
	location->first = (uint8_t)first;
	if (!*text)
		return 0;
	if (*text != ':')
		return -EINVAL;
	second = parse_register(text + 1, &text);
	if (second != first + 1 || *text)
		return -EINVAL;
	location->second = (uint8_t)second;
	return 0;
}

bool arg_location__fits(const struct arg_location *location, int size)
{
	if (location->bytes)
		return size == location->bytes;
	if (location->second != LOCATION_NONE)
		return size > SLOT_BYTES && size <= 2 * SLOT_BYTES;
	return size <= SLOT_BYTES;
}

/* The first slot after the location. */
static int end_of(const struct arg_location *location)
{
	if (location->second != LOCATION_NONE)
		return location->second + 1;
	if (location->bytes)
		return location->first + (location->bytes + SLOT_BYTES - 1) / SLOT_BYTES;
	return location->first + 1;
}

bool arg_location__overlap(const struct arg_location *a, const struct arg_location *b)
{
	if (a->vector != LOCATION_NONE || b->vector != LOCATION_NONE)
		return a->vector == b->vector;
	return a->first < end_of(b) && b->first < end_of(a);
}

uint8_t arg_location__encode(const struct arg_location *location, int size)
{
	if (location->first == LOCATION_NONE || location->second != LOCATION_NONE)
		return LOCATION_NONE;
	return size <= 4 ? location->first | LOCATION_32 : location->first;
}
