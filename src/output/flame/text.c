// SPDX-License-Identifier: BSD-2-Clause
// Numbers for people, see parts.h.
#include "output/flame/parts.h"

#include <inttypes.h>
#include <string.h>

void flame_text__number(FILE *out, uint64_t value)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, value);

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			fputc(',', out);
		fputc(digits[i], out);
	}
}

/*
 * Prints the value in the largest unit of which it is at least one. Prints nothing for less than
 * the first unit.
 */
static void print_scaled(FILE *out, uint64_t value, double step, const char *const *units)
{
	double scaled = (double)value / step;

	if (scaled < 1)
		return;
	/* A value that would round up to a whole step moves to the next unit. */
	while (units[1] && scaled >= step - 0.005) {
		scaled /= step;
		units++;
	}
	fprintf(out, "%.2f %s (", scaled, *units);
}

static void print_singular(FILE *out, const char *unit)
{
	size_t length = strlen(unit);

	/* Cuts the plural's ending: "launches", "bytes". */
	length -= length > 2 && !strcmp(unit + length - 3, "hes") ? 2 : 1;
	fprintf(out, "%.*s", (int)length, unit);
}

void flame_text__amount(FILE *out, enum flame_by by, uint64_t value)
{
	static const char *const bytes[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL};
	static const char *const times[] = {"us", "ms", "s", NULL};
	bool is_time = by == FLAME_WAIT_TIME, is_size = by == FLAME_BYTES || by == FLAME_LIVE_BYTES;
	bool scaled = (is_time && value >= 1000) || (is_size && value >= 1024);

	if (is_size)
		print_scaled(out, value, 1024, bytes);
	else if (is_time)
		print_scaled(out, value, 1000, times);
	flame_text__number(out, value);
	fputc(' ', out);
	if (value == 1)
		print_singular(out, flame_by__unit(by));
	else
		fputs(flame_by__unit(by), out);
	if (scaled)
		fputc(')', out);
}

void flame_text__share(FILE *out, uint64_t part, uint64_t whole)
{
	fprintf(out, "%.2f %%", whole ? 100 * (double)part / (double)whole : 0);
}
