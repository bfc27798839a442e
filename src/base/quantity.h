/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Amounts for people: rounded, with their unit. Each function returns its text by value:
 * printf("%s", quantity__bytes(size).text).
 */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include <stdint.h>

struct quantity {
	char text[32];
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
struct quantity quantity__rate(double per_second); /* "12,000/s", "1.5/s" */
/* "12,000 launches/s"; `what` has up to 15 letters */
struct quantity quantity__rate_of(double per_second, const char *what);
struct quantity quantity__ratio(double ratio); /* "1.25" */

/* Bytes per second: "12.0 MiB/s". */
struct quantity quantity__bandwidth(double bytes_per_second);

#endif
