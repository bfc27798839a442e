/* SPDX-License-Identifier: BSD-2-Clause */
/* What the threads that submit work did with their time, ranked, as people read it. */
#ifndef OUTPUT_REPORT_HOST_H
#define OUTPUT_REPORT_HOST_H

#include <stdio.h>

#include "model/model.h"

/* Of each process whose threads are followed, after an empty line; nothing where threads were not to be. */
void report_host__print(FILE *out, const struct model *model);

#endif
