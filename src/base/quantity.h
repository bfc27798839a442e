/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Amounts for people: rounded, with their unit. The functions that end in "_as" also print exact
 * amounts, for --exact. Each function returns its text by value:
 * printf("%s", quantity__bytes(size).text).
 */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include <stdint.h>

struct quantity {
	char text[40];
};

enum quantity_form {
	QUANTITY_ROUNDED,
	QUANTITY_EXACT,
};

struct quantity quantity__count(uint64_t count); /* "1,000" */
/* Three digits: "950", "9,876", "12.3 k", "1.64 M". For tables and rates. */
struct quantity quantity__amount(double count);
struct quantity quantity__bytes(double bytes); /* "1.0 GiB", "512 bytes", "1 byte" */
/* "412 us", "23.4 ms", "1.5 s", "2 min 5 s", "3 h 20 min" */
struct quantity quantity__time(double ns);
/* A time as part of another: "51.8 of 72.6 ms", "0.4 of 1.5 s". */
struct quantity quantity__time_of(double ns, double of_ns);
/* 0.05: "5.0 %"; above 0 and below 0.1 %: "under 0.1 %" */
struct quantity quantity__share(double share);
struct quantity quantity__rate(double per_second); /* "1.5/s", "9,876/s", "12.3 k/s" */
/* "12.3 k launches/s"; `what` has up to 15 letters */
struct quantity quantity__rate_of(double per_second, const char *what);
struct quantity quantity__ratio(double ratio); /* "1.25" */

/* What is copied per second, in powers of 1000 as for hardware: "5.9 GB/s", "123 MB/s" */
struct quantity quantity__bandwidth(double bytes_per_second);
/*
 * quantity__time and quantity__bandwidth without the NUL, written at `at`, which has room for a
 * struct quantity. Return the end. For lines that come by the million: they do not use printf.
 */
char *quantity__put_time(char *at, double ns);
char *quantity__put_bandwidth(char *at, double bytes_per_second);

/* By how much memory grows per second, in powers of 1024 as memory: "1.2 MiB/s", "-3.0 KiB/s" */
struct quantity quantity__growth(double bytes_per_second);

/* As quantity__amount; exact: "1,638,000" */
struct quantity quantity__amount_as(enum quantity_form form, uint64_t count);
/* As quantity__bytes; exact: "8,388,608 bytes" */
struct quantity quantity__bytes_as(enum quantity_form form, uint64_t bytes);
/* As quantity__time; exact: "710,000,000 ns" */
struct quantity quantity__time_as(enum quantity_form form, uint64_t ns);
/* As quantity__rate; exact: "12,345/s" */
struct quantity quantity__rate_as(enum quantity_form form, double per_second);
/* As quantity__bandwidth and quantity__growth; exact: "5,900,000,000 bytes/s" */
struct quantity quantity__bandwidth_as(enum quantity_form form, double bytes_per_second);
struct quantity quantity__growth_as(enum quantity_form form, double bytes_per_second);

#endif
