// SPDX-License-Identifier: BSD-2-Clause
// Messages on stderr; see log.h.
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/escape.h"

static __attribute__((format(printf, 2, 0))) void write_line(const char *prefix, const char *format,
							     va_list args)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	flockfile(stderr); /* threads log too */
	fprintf(stderr, "gpuprobe: %s", prefix);
	escape__text(stderr, line); /* it may quote a watched process's file names */
	fputc('\n', stderr);
	funlockfile(stderr);
}

#define DEFINE_LOG(name, threshold, prefix) \
	void log__##name(const struct log *log, const char *format, ...) \
	{ \
		va_list args; \
\
		if (!log || log->level < (threshold)) \
			return; \
		va_start(args, format); \
		write_line(prefix, format, args); \
		va_end(args); \
	}

DEFINE_LOG(warn, LOG_WARN, "warning: ")
DEFINE_LOG(info, LOG_INFO, "")
DEFINE_LOG(debug, LOG_DEBUG, "")
