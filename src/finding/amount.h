/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers in the sentences of findings, for a person: three digits and a unit. */
#ifndef FINDING_AMOUNT_H
#define FINDING_AMOUNT_H

#include <stdint.h>

/* Holds any of the texts below. */
struct amount {
	char text[32];
};

struct amount amount__bytes(double bytes);	    /* "1.00 GiB", "512 bytes" */
struct amount amount__time(double ns);		    /* "412 us", "1.25 s" */
struct amount amount__bandwidth(double per_second); /* bytes: "12.3 GB/s" */
struct amount amount__rate(double per_second);	    /* "250 k/s", "12.0 M/s", "81.0/s" */
struct amount amount__percent(double share);	    /* "12.3 %" of a share of 0 to 1 */

#endif
