/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other tables that the generated file defines besides api_functions (api/api.h); for api.c
 * only.
 */
#ifndef API_API_TABLES_H
#define API_API_TABLES_H

#include <stddef.h>

#include "api/api.h"

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
