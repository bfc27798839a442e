/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of the form "NAME=VALUE,NAME=VALUE" in OTEL_* variables: headers and attributes of the
 * resource. Values are percent-encoded.
 */
#ifndef EXPORT_PAIRS_H
#define EXPORT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct export_pair {
	char *name, *value;
};

/* Begins as zeros. */
struct export_pairs {
	struct export_pair *items;
	size_t count;
};

/*
 * Appends the list's entries, in order; a later one of the same name replaces the earlier one.
 * `headers`: they must be HTTP headers. Returns 0, -ENOMEM, or -EINVAL with a message that contains
 * nothing of the list, which may have secrets; `variable` is its name there.
 */
int export_pairs__parse(struct export_pairs *pairs, const char *text, bool headers,
			const char *variable, struct error *err);

/* Sets a pair, or adds it; both are copied. Returns 0 or -ENOMEM. */
int export_pairs__set(struct export_pairs *pairs, const char *name, const char *value);

/* NULL: there is none of this name. */
const char *export_pairs__find(const struct export_pairs *pairs, const char *name);

void export_pairs__remove(struct export_pairs *pairs, const char *name);

void export_pairs__clear(struct export_pairs *pairs);

#endif
