// SPDX-License-Identifier: BSD-2-Clause
// Amounts as text; see quantity.h.
#include "base/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const char decimal_units[] = "kMGTPE";

struct quantity quantity__count(uint64_t count)
{
	char digits[24];
	struct quantity quantity;
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && !((length - i) % 3))
			quantity.text[at++] = ',';
		quantity.text[at++] = digits[i];
	}
	quantity.text[at] = '\0';
	return quantity;
}

struct quantity quantity__amount(double count)
{
	struct quantity quantity;
	size_t unit = 0;

	if (count < 9999.5)
		return quantity__count((uint64_t)round(fmax(count, 0)));
	count /= 1000;
	for (; count >= 999.5 && unit + 1 < strlen(decimal_units); unit++)
		count /= 1000;
	snprintf(quantity.text, sizeof(quantity.text), "%.*f %c",
		 count < 9.995 ? 2 :
		 count < 99.95 ? 1 :
				 0,
		 count, decimal_units[unit]);
	return quantity;
}

struct quantity quantity__bytes(double bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	struct quantity quantity;
	size_t unit = 0;

	if (bytes < 1023.5) {
		snprintf(quantity.text, sizeof(quantity.text), "%.0f byte%s", bytes,
			 round(bytes) == 1 ? "" : "s");
		return quantity;
	}
	bytes /= 1024;
	/* A value that would be rounded to 1024.0 is shown as 1.0 of the next unit. */
	for (; bytes >= 1023.95 && unit + 1 < COUNT(units); unit++)
		bytes /= 1024;
	snprintf(quantity.text, sizeof(quantity.text), "%.1f %s", bytes, units[unit]);
	return quantity;
}

#define LONG_NS (119.5 * (double)NS_PER_S)

static struct quantity long_time(double seconds)
{
	struct quantity quantity;
	uint64_t whole = (uint64_t)round(seconds);

	if (whole < 3600)
		snprintf(quantity.text, sizeof(quantity.text), "%" PRIu64 " min %" PRIu64 " s",
			 whole / 60, whole % 60);
	else
		snprintf(quantity.text, sizeof(quantity.text), "%" PRIu64 " h %" PRIu64 " min",
			 whole / 3600, whole % 3600 / 60);
	return quantity;
}

static const char *const time_units[] = {"ns", "us", "ms", "s"};

/* The unit in which to print a time. */
static size_t time_unit(double ns)
{
	size_t unit = 0;

	for (; ns >= 999.5 && unit + 1 < COUNT(time_units); unit++)
		ns /= 1000;
	return unit;
}

static int time_digits(double number, size_t unit)
{
	return unit && number < 99.95 ? 1 : 0;
}

static char *put_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

/* The number with so many decimals, 0 or 1, and a blank. */
static char *put_number(char *at, double number, int decimals)
{
	uint64_t rest = (uint64_t)rint(decimals ? number * 10 : number);
	char digits[24];
	size_t count = 0;

	if (decimals) {
		digits[count++] = (char)('0' + rest % 10);
		digits[count++] = '.';
		rest /= 10;
	}
	do {
		digits[count++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	while (count)
		*at++ = digits[--count];
	*at++ = ' ';
	return at;
}

char *quantity__put_time(char *at, double ns)
{
	static const double scales[] = {1, 1e3, 1e6, 1e9};
	size_t unit = time_unit(ns);
	double number = fmax(ns, 0) / scales[unit];

	if (ns >= LONG_NS)
		return put_text(at, long_time(fmin(ns, 1e19) / (double)NS_PER_S).text);
	at = put_number(at, number, time_digits(number, unit));
	return put_text(at, time_units[unit]);
}

struct quantity quantity__time(double ns)
{
	struct quantity quantity = {0};

	quantity__put_time(quantity.text, ns);
	return quantity;
}

struct quantity quantity__time_of(double ns, double of_ns)
{
	size_t unit = time_unit(of_ns);
	double scale = pow(1000, (double)unit), of = of_ns / scale;
	struct quantity quantity;

	if (of_ns >= LONG_NS)
		snprintf(quantity.text, sizeof(quantity.text), "%.0f of %.0f s",
			 fmin(ns, 1e13) / (double)NS_PER_S, fmin(of_ns, 1e13) / (double)NS_PER_S);
	else
		snprintf(quantity.text, sizeof(quantity.text), "%.*f of %.*f %s",
			 time_digits(of, unit), fmin(ns, 1e13) / scale, time_digits(of, unit), of,
			 time_units[unit]);
	return quantity;
}

struct quantity quantity__share(double share)
{
	struct quantity quantity;

	if (share > 0 && share < 0.001)
		strcpy(quantity.text, "under 0.1 %");
	else
		snprintf(quantity.text, sizeof(quantity.text), "%.1f %%", fmin(share, 1e15) * 100);
	return quantity;
}

static void append(struct quantity *quantity, const char *text)
{
	size_t length = strlen(quantity->text);

	snprintf(quantity->text + length, sizeof(quantity->text) - length, "%s", text);
}

struct quantity quantity__rate(double per_second)
{
	struct quantity quantity;

	if (per_second < 99.95) {
		snprintf(quantity.text, sizeof(quantity.text), "%.1f/s", per_second);
		return quantity;
	}
	quantity = quantity__amount(fmin(per_second, 1e18));
	append(&quantity, "/s");
	return quantity;
}

struct quantity quantity__rate_of(double per_second, const char *what)
{
	struct quantity rate = quantity__rate(fmin(per_second, 1e9)), quantity;

	rate.text[strlen(rate.text) - strlen("/s")] = '\0';
	snprintf(quantity.text, sizeof(quantity.text), "%.13s %.15s/s", rate.text, what);
	return quantity;
}

struct quantity quantity__ratio(double ratio)
{
	struct quantity quantity;

	snprintf(quantity.text, sizeof(quantity.text), "%.2f", fmin(ratio, 1e15));
	return quantity;
}

char *quantity__put_bandwidth(char *at, double bytes_per_second)
{
	double number = fmin(fmax(bytes_per_second, 0), 1e21);
	size_t unit = 0;

	if (number < 999.5)
		return put_text(put_number(at, number, 0), "B/s");
	number /= 1000;
	for (; number >= 999.5 && unit + 1 < strlen(decimal_units); unit++)
		number /= 1000;
	at = put_number(at, number, number < 99.95);
	*at++ = decimal_units[unit];
	return put_text(at, "B/s");
}

struct quantity quantity__bandwidth(double bytes_per_second)
{
	struct quantity quantity = {0};

	quantity__put_bandwidth(quantity.text, bytes_per_second);
	return quantity;
}

struct quantity quantity__growth(double bytes_per_second)
{
	struct quantity size = quantity__bytes(fmin(fabs(bytes_per_second), 1e21)), quantity;

	snprintf(quantity.text, sizeof(quantity.text), "%s%.30s/s", bytes_per_second < 0 ? "-" : "",
		 size.text);
	return quantity;
}

/* --- rounded or exact --- */

struct quantity quantity__amount_as(enum quantity_form form, uint64_t count)
{
	return form == QUANTITY_EXACT ? quantity__count(count) : quantity__amount((double)count);
}

struct quantity quantity__bytes_as(enum quantity_form form, uint64_t bytes)
{
	struct quantity quantity;

	if (form == QUANTITY_ROUNDED)
		return quantity__bytes((double)bytes);
	quantity = quantity__count(bytes);
	append(&quantity, bytes == 1 ? " byte" : " bytes");
	return quantity;
}

struct quantity quantity__time_as(enum quantity_form form, uint64_t ns)
{
	struct quantity quantity;

	if (form == QUANTITY_ROUNDED)
		return quantity__time((double)ns);
	quantity = quantity__count(ns);
	append(&quantity, " ns");
	return quantity;
}

struct quantity quantity__rate_as(enum quantity_form form, double per_second)
{
	struct quantity quantity;

	if (form == QUANTITY_ROUNDED || per_second < 99.95)
		return quantity__rate(per_second);
	quantity = quantity__count((uint64_t)round(fmin(per_second, 1e18)));
	append(&quantity, "/s");
	return quantity;
}

/* "-1,048,576 bytes/s". Rates are computed from times, so a whole byte is exact enough. */
static struct quantity exact_rate(double bytes_per_second)
{
	struct quantity size, quantity;

	size = quantity__bytes_as(QUANTITY_EXACT,
				  (uint64_t)round(fmin(fabs(bytes_per_second), 1e18)));
	snprintf(quantity.text, sizeof(quantity.text), "%s%.33s/s", bytes_per_second < 0 ? "-" : "",
		 size.text);
	return quantity;
}

struct quantity quantity__bandwidth_as(enum quantity_form form, double bytes_per_second)
{
	return form == QUANTITY_EXACT ? exact_rate(bytes_per_second) :
					quantity__bandwidth(bytes_per_second);
}

struct quantity quantity__growth_as(enum quantity_form form, double bytes_per_second)
{
	return form == QUANTITY_EXACT ? exact_rate(bytes_per_second) :
					quantity__growth(bytes_per_second);
}
