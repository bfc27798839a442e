// SPDX-License-Identifier: BSD-2-Clause
// Messages on stderr; see log.h.
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/escape.h"

/* A kind of line: its beginning for people, and for the journal. */
struct line_head {
	const char *text, *priority;
};

static __attribute__((format(printf, 3, 0))) void
write_line(const struct log *log, struct line_head head, const char *format, va_list args)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	flockfile(stderr); /* threads log too */
	fputs(log->priorities ? head.priority : head.text, stderr);
	escape__text(stderr, line); /* it may quote a watched process's file names */
	fputc('\n', stderr);
	funlockfile(stderr);
}

#define DEFINE_LOG(name, threshold, ...) \
	void log__##name(const struct log *log, const char *format, ...) \
	{ \
		va_list args; \
\
		if (!log || log->level < (threshold)) \
			return; \
		va_start(args, format); \
		write_line(log, (struct line_head){__VA_ARGS__}, format, args); \
		va_end(args); \
	}

DEFINE_LOG(warn, LOG_WARN, "gpuprobe: warning: ", "<4>")
DEFINE_LOG(info, LOG_INFO, "gpuprobe: ", "<6>")
DEFINE_LOG(debug, LOG_DEBUG, "gpuprobe: ", "<7>")
