/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the generated file defines besides api_functions (model/api.h); for
 * api.c only.
 */
#ifndef MODEL_API_TABLES_H
#define MODEL_API_TABLES_H

#include <stddef.h>

#include "model/api.h"

struct api_error {
	int layer; /* enum layer */
	int code;
	const char *name;
};

extern const struct api_error api_errors[]; /* by layer, then code */
extern const size_t api_error_count;

extern const struct api_value api_values[]; /* by type (strcmp), then value */
extern const size_t api_value_count;

#endif
