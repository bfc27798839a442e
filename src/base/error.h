/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line for a person: what failed, on what, what to do.
 *
 * A function that can fail for a reason that a person must understand takes a struct error (NULL if
 * the caller does not care) and also returns a negative errno. Library code never prints; main
 * does.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>

struct error {
	char text[512]; /* no newline; empty if nothing failed */
};

/*
 * Sets the text from a printf format and returns `code`, so that `return error__set(err, -EINVAL,
 * …)` is one statement. Text that does not fit is cut.
 */
int error__set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "FORMAT: " before the current text; returns `code`. */
int error__prefix(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
