/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Standard output, or a file in its place, that never blocks the event loop: processes may be held
 * until the loop has handled them, and the reader may be a pager that waits for its user.
 */
#ifndef CLI_CONSOLE_H
#define CLI_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct event_base;
struct console;

/*
 * `closed` is called when the reader has gone or writing fails; nothing can be written from then
 * on.
 */
int console__new(struct event_base *loop, int fd, void (*closed)(void *arg), void *arg,
		 struct console **out, struct error *err);
void console__free(struct console *console);

/* Whether the last text is still being written. Another one would only pile up. */
bool console__is_busy(const struct console *console);

/*
 * Writes what can be written now and the rest when the reader takes it. Takes ownership of `text`
 * (malloc).
 */
void console__write(struct console *console, char *text, size_t length);

/* Writes all that is left, blocking as long as it takes. Returns 0 or a negative errno. */
int console__finish(struct console *console);

/*
 * The reason why not everything was written to `name`. Returns 0, also if the reader has gone, or a
 * negative errno with the reason in `err`.
 */
int console__failure(const struct console *console, const char *name, struct error *err);

#endif
