/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log records of OTLP (ExportLogsServiceRequest, protobuf): findings when they begin, get worse and
 * end, and losses. The records of a process are with its resource.
 */
#ifndef OUTPUT_OTLP_LOGS_H
#define OUTPUT_OTLP_LOGS_H

#include "model/model.h"
#include "output/otlp/points.h"

/* SeverityNumber of logs.proto. */
enum otlp_severity {
	OTLP_SEVERITY_INFO = 9,
	OTLP_SEVERITY_NOTICE = 10,
	OTLP_SEVERITY_WARN = 13,
	OTLP_SEVERITY_ERROR = 17,
};

struct otlp_log {
	enum otlp_severity severity;
	const char *body;
	const char *event;	       /* "gpuprobe.finding" */
	const struct otlp_pair *pairs; /* attributes */
	size_t pair_count;
	int32_t pid; /* of the process that it is about; 0: gpuprobe itself */
	int32_t tid; /* of the thread; 0: none */
};

/* Begins as zeros. */
struct otlp_logs {
	struct protobuf_buffer request;
	uint64_t count;
};

void otlp_logs__free(struct otlp_logs *logs);

/*
 * Adds a record of `now_ns` (CLOCK_BOOTTIME). A process that the model does not have is named by an
 * attribute.
 */
void otlp_logs__add(struct otlp_logs *logs, const struct otlp_sender *sender,
		    const struct model *model, const struct otlp_log *log, uint64_t now_ns);

/*
 * Gives the records since the last call as a request, if there are any. Returns 0, -ENOMEM, or what
 * `take` returned; the records are gone in any case.
 */
int otlp_logs__write(struct otlp_logs *logs, otlp_take_fn take, void *arg);

#endif
