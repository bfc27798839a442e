// SPDX-License-Identifier: BSD-2-Clause
// Numbers for a person, see amount.h.
#include "finding/amount.h"

#include <stddef.h>
#include <stdio.h>

/* Three digits. */
static int places(double value)
{
	return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

static struct amount scaled(double value, double step, const char *const *units, size_t count)
{
	struct amount amount;
	size_t unit = 0;

	while (value >= step * 0.9995 && unit + 1 < count) {
		value /= step;
		unit++;
	}
	snprintf(amount.text, sizeof(amount.text), "%.*f%s", places(value), value, units[unit]);
	return amount;
}

struct amount amount__bytes(double bytes)
{
	static const char *const units[] = {" bytes", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
	struct amount amount;

	if (bytes >= 1024)
		return scaled(bytes, 1024, units, sizeof(units) / sizeof(*units));
	snprintf(amount.text, sizeof(amount.text), "%.0f byte%s", bytes, bytes == 1 ? "" : "s");
	return amount;
}

struct amount amount__time(double ns)
{
	static const char *const units[] = {" ns", " us", " ms", " s"};

	return scaled(ns, 1000, units, sizeof(units) / sizeof(*units));
}

struct amount amount__bandwidth(double per_second)
{
	static const char *const units[] = {" B/s", " kB/s", " MB/s", " GB/s", " TB/s"};

	return scaled(per_second, 1000, units, sizeof(units) / sizeof(*units));
}

struct amount amount__rate(double per_second)
{
	static const char *const units[] = {"/s", " k/s", " M/s", " G/s"};

	return scaled(per_second, 1000, units, sizeof(units) / sizeof(*units));
}

struct amount amount__percent(double share)
{
	struct amount amount;

	snprintf(amount.text, sizeof(amount.text), "%.*f %%", share < 0.0995 ? 2 : 1, 100 * share);
	return amount;
}
