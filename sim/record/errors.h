/* SPDX-License-Identifier: BSD-2-Clause */
/* Error names of both APIs, and a text made from each name. */
#ifndef SIM_RECORD_ERRORS_H
#define SIM_RECORD_ERRORS_H

#include <stddef.h>

struct error_name {
	int value;
	const char *name;
};

/* The name of the error, NULL if it has none. `names` is sorted by value. */
const char *error_name__find(const struct error_name *names, size_t count, int value);
/*
 * The name in lower case words, without its first `prefix` letters. Valid until the process ends.
 */
const char *error_name__text(const char *name, size_t prefix);

#endif
