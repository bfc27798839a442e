/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of comparison__make: what can be compared with what. All return 0 or -ENOMEM. */
#ifndef COMPARE_PAIRS_H
#define COMPARE_PAIRS_H

#include "compare/compare.h"

/* Adds a sentence on what is not compared, once. Names in it are not escaped. */
int comparison__refuse(struct comparison *comparison, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Refuses the whole comparison if a run is incomplete or has no process. */
int comparison__check_runs(struct comparison *comparison);

/* Pairs processes of the same name, those with most launches first; or the only two. */
int comparison__pair(struct comparison *comparison);

/* What came and went of the findings. */
int comparison__findings(struct comparison *comparison);

#endif
