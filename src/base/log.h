/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of a running gpuprobe, on stderr. main makes the log and passes it to code that must
 * inform a person while it goes on working. Code that fails returns an error instead
 * (base/error.h).
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level {
	LOG_QUIET = 0,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG
};

struct log {
	enum log_level level; /* more detailed messages are dropped */
	bool priorities;      /* lines are for systemd's journal: "<4>TEXT", see sd-daemon(3) */
};

/*
 * Each prints one line, which begins with "gpuprobe: " unless it has a priority. A NULL log drops
 * the message.
 */
void log__warn(const struct log *log, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void log__info(const struct log *log, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void log__debug(const struct log *log, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
