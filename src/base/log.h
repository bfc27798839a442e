/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of a running gpuprobe, on stderr. The log is made by main and
 * handed to what must tell a person something while it goes on working;
 * what merely fails returns an error instead (base/error.h).
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level {
	LOG_QUIET = 0,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG
};

struct log {
	enum log_level level; /* what is more detailed than this is dropped */
};

/* One line each, "gpuprobe: " before it. A NULL log drops the message. */
void log__warn(const struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log__info(const struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log__debug(const struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
