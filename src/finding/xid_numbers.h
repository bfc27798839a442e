/* SPDX-License-Identifier: BSD-2-Clause */
/* Meanings of Xids, by their number. NVIDIA's catalogue of Xid errors has more about each. */
#ifndef FINDING_XID_NUMBERS_H
#define FINDING_XID_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "finding/finding.h"

struct xid_meaning {
	uint32_t number;
	bool of_program; /* a program causes it as a rule, not the hardware */
	enum finding_severity severity;
	const char *what;   /* "a kernel used an address that has no memory" */
	const char *advice; /* a sentence without its period */
};

/* The meaning of a number that is not in the table is general. Never NULL. */
const struct xid_meaning *xid_meaning__of(uint32_t number);

#endif
