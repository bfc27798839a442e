/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of a flame graph for a person. */
#ifndef OUTPUT_FLAME_TEXT_H
#define OUTPUT_FLAME_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "output/flame/graph.h"

/* "1.50 MiB (1,572,864 bytes)", "1.23 ms (1,234,567 nanoseconds)", "12,000 launches", "1 failure". */
void flame_text__amount(FILE *out, enum flame_by by, uint64_t value);

/* "1,572,864" */
void flame_text__number(FILE *out, uint64_t value);

/* "12.34 %"; of nothing: "0.00 %". */
void flame_text__share(FILE *out, uint64_t part, uint64_t whole);

#endif
