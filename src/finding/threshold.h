/* SPDX-License-Identifier: BSD-2-Clause */
/* Thresholds as a person writes them: "ID=VALUE", "ID.NAME=VALUE". */
#ifndef FINDING_THRESHOLD_H
#define FINDING_THRESHOLD_H

#include "finding/finding.h"

struct threshold_choice {
	const struct finding_kind *kind;
	size_t index; /* index in the kind's list */
	double value; /* in that threshold's unit */
};

/* 0, or -EINVAL with what is wrong and what is accepted. */
int threshold__parse(const char *text, struct threshold_choice *choice, struct error *err);

#endif
