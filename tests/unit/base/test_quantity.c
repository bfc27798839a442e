// SPDX-License-Identifier: BSD-2-Clause
// Amounts for people: where they change their unit, how they are rounded, and their exact form.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/quantity.h"

static void rounds(void **state)
{
	(void)state;
	assert_string_equal(quantity__count(0).text, "0");
	assert_string_equal(quantity__count(999).text, "999");
	assert_string_equal(quantity__count(1000).text, "1,000");
	assert_string_equal(quantity__count(UINT64_MAX).text, "18,446,744,073,709,551,615");
	assert_string_equal(quantity__amount(0).text, "0");
	assert_string_equal(quantity__amount(9999.4).text, "9,999");
	assert_string_equal(quantity__amount(9999.5).text, "10.0 k");
	assert_string_equal(quantity__amount(123456).text, "123 k");
	assert_string_equal(quantity__amount(999499).text, "999 k");
	assert_string_equal(quantity__amount(999500).text, "1.00 M");
	assert_string_equal(quantity__amount(1638000).text, "1.64 M");
	assert_string_equal(quantity__amount(1.8e19).text, "18.0 E");
	assert_string_equal(quantity__time_of(51.8e6, 72.6e6).text, "51.8 of 72.6 ms");
	assert_string_equal(quantity__time_of(4e5, 1.5e9).text, "0.0 of 1.5 s");
	assert_string_equal(quantity__time_of(31e3, 412e3).text, "31 of 412 us");
	assert_string_equal(quantity__time_of(60e9, 300e9).text, "60 of 300 s");
	assert_string_equal(quantity__bytes(0).text, "0 bytes");
	assert_string_equal(quantity__bytes(1).text, "1 byte");
	assert_string_equal(quantity__bytes(1023).text, "1023 bytes");
	assert_string_equal(quantity__bytes(1024).text, "1.0 KiB");
	assert_string_equal(quantity__bytes(1 << 30).text, "1.0 GiB");
	assert_string_equal(quantity__bytes((1 << 30) - 1).text, "1.0 GiB");
	assert_string_equal(quantity__bytes(1.5 * (1 << 20)).text, "1.5 MiB");
	assert_string_equal(quantity__bandwidth(0).text, "0 B/s");
	assert_string_equal(quantity__bandwidth(999.4).text, "999 B/s");
	assert_string_equal(quantity__bandwidth(999.5).text, "1.0 kB/s");
	assert_string_equal(quantity__bandwidth(12345678).text, "12.3 MB/s");
	assert_string_equal(quantity__bandwidth(123456789).text, "123 MB/s");
	assert_string_equal(quantity__bandwidth(999499999).text, "999 MB/s");
	assert_string_equal(quantity__bandwidth(999500000).text, "1.0 GB/s");
	assert_string_equal(quantity__bandwidth(5.9e9).text, "5.9 GB/s");
	assert_string_equal(quantity__growth(12 * (1 << 20)).text, "12.0 MiB/s");
	assert_string_equal(quantity__growth(0).text, "0 bytes/s");
	assert_string_equal(quantity__growth(-3 * 1024).text, "-3.0 KiB/s");
	assert_string_equal(quantity__time(999).text, "999 ns");
	assert_string_equal(quantity__time(1000).text, "1.0 us");
	assert_string_equal(quantity__time(23040).text, "23.0 us");
	assert_string_equal(quantity__time(412000).text, "412 us");
	assert_string_equal(quantity__time(999600).text, "1.0 ms");
	assert_string_equal(quantity__time(1.5e9).text, "1.5 s");
	assert_string_equal(quantity__time(99949).text, "99.9 us");
	assert_string_equal(quantity__time(99951).text, "100 us");
	assert_string_equal(quantity__time(0).text, "0 ns");
	assert_string_equal(quantity__time(119e9).text, "119 s");
	assert_string_equal(quantity__time(125e9).text, "2 min 5 s");
	assert_string_equal(quantity__time(12000e9).text, "3 h 20 min");
	assert_string_equal(quantity__share(0).text, "0.0 %");
	assert_string_equal(quantity__share(0.0005).text, "under 0.1 %");
	assert_string_equal(quantity__share(0.0512).text, "5.1 %");
	assert_string_equal(quantity__rate(1.5).text, "1.5/s");
	assert_string_equal(quantity__rate(12345.4).text, "12.3 k/s");
	assert_string_equal(quantity__rate_of(248192.2, "launches").text, "248 k launches/s");
	assert_string_equal(quantity__rate_of(1e30, "fifteen letters").text,
			    "1.00 G fifteen letters/s");
	assert_string_equal(quantity__ratio(1.25).text, "1.25");
}

static void prints_exact_amounts(void **state)
{
	const enum quantity_form exact = QUANTITY_EXACT;

	(void)state;
	assert_string_equal(quantity__amount_as(exact, 1638000).text, "1,638,000");
	assert_string_equal(quantity__bytes_as(exact, 8388608).text, "8,388,608 bytes");
	assert_string_equal(quantity__bytes_as(exact, 1).text, "1 byte");
	assert_string_equal(quantity__bytes_as(exact, UINT64_MAX).text,
			    "18,446,744,073,709,551,615 bytes");
	assert_string_equal(quantity__time_as(exact, 710000000).text, "710,000,000 ns");
	assert_string_equal(quantity__rate_as(exact, 1.5).text, "1.5/s");
	assert_string_equal(quantity__rate_as(exact, 12345.4).text, "12,345/s");
	assert_string_equal(quantity__bandwidth_as(exact, 5.9e9).text, "5,900,000,000 bytes/s");
	assert_string_equal(quantity__growth_as(exact, -1048576).text, "-1,048,576 bytes/s");
}

static void rounds_unless_exact(void **state)
{
	const enum quantity_form rounded = QUANTITY_ROUNDED;

	(void)state;
	assert_string_equal(quantity__amount_as(rounded, 1638000).text, "1.64 M");
	assert_string_equal(quantity__bytes_as(rounded, 8388608).text, "8.0 MiB");
	assert_string_equal(quantity__time_as(rounded, 710000000).text, "710 ms");
	assert_string_equal(quantity__bandwidth_as(rounded, 5.9e9).text, "5.9 GB/s");
	assert_string_equal(quantity__growth_as(rounded, 1258291).text, "1.2 MiB/s");
}

/* Not even the values of a broken counter overflow a text. */
static void fits_any_value(void **state)
{
	(void)state;
	for (int power = 0; power < 300; power++) {
		double value = pow(9.97, power);
		struct quantity all[] = {quantity__bytes(fmin(value, 1.8e19)),
					 quantity__time(value),
					 quantity__share(value),
					 quantity__rate(value),
					 quantity__ratio(value),
					 quantity__bandwidth(value),
					 quantity__growth(-value),
					 quantity__bandwidth_as(QUANTITY_EXACT, value),
					 quantity__growth_as(QUANTITY_EXACT, -value)};

		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			assert_true(strlen(all[i].text) < sizeof(all[i].text) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds),
		cmocka_unit_test(prints_exact_amounts),
		cmocka_unit_test(rounds_unless_exact),
		cmocka_unit_test(fits_any_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
