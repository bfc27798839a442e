/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver's part of the truth file.
 */
#ifndef SIM_CUDA_DESCRIBE_H
#define SIM_CUDA_DESCRIBE_H

#include <stdio.h>

/* Writes members of the truth file's object, without a comma after the last one. */
void describe__driver(FILE *out);

#endif
