// SPDX-License-Identifier: BSD-2-Clause
// Log records of OTLP, see logs.h.
#include "output/otlp/logs.h"

#include <errno.h>

#include "output/otlp/attributes.h"

/* Numbers of fields: opentelemetry/proto/logs/v1/logs.proto. */
enum log_field {
	SCOPE_LOG = 2,
	LOG_TIME = 1,
	LOG_SEVERITY = 2,
	LOG_SEVERITY_TEXT = 3,
	LOG_BODY = 5,
	LOG_ATTRIBUTE = 6,
	LOG_OBSERVED = 11,
	LOG_EVENT = 12,
};

static const char *severity_text(enum otlp_severity severity)
{
	switch (severity) {
	case OTLP_SEVERITY_ERROR: return "ERROR";
	case OTLP_SEVERITY_WARN: return "WARN";
	default: return "INFO";
	}
}

void otlp_logs__free(struct otlp_logs *logs)
{
	protobuf_buffer__free(&logs->request);
	logs->count = 0;
}

static void write_record(struct protobuf_buffer *out, const struct otlp_log *log, uint64_t wall_ns,
			 bool names_process)
{
	size_t record = protobuf_buffer__begin(out, SCOPE_LOG);

	protobuf_buffer__fixed64(out, LOG_TIME, wall_ns);
	protobuf_buffer__fixed64(out, LOG_OBSERVED, wall_ns);
	protobuf_buffer__uint(out, LOG_SEVERITY, log->severity);
	protobuf_buffer__text(out, LOG_SEVERITY_TEXT, severity_text(log->severity));
	otlp_value__text(out, LOG_BODY, log->body);
	for (size_t i = 0; i < log->pair_count; i++)
		otlp_attribute__text(out, LOG_ATTRIBUTE, log->pairs[i].key, log->pairs[i].value);
	if (names_process)
		otlp_attribute__int(out, LOG_ATTRIBUTE, "process.pid", log->pid);
	if (log->tid)
		otlp_attribute__int(out, LOG_ATTRIBUTE, "thread.id", log->tid);
	protobuf_buffer__text(out, LOG_EVENT, log->event);
	protobuf_buffer__end(out, record);
}

/* The newest process with the pid; NULL: none. */
static const struct process *find_process(const struct model *model, int32_t pid)
{
	for (size_t i = model->process_count; pid && i > 0; i--)
		if (model->processes[i - 1].pid == pid)
			return &model->processes[i - 1];
	return NULL;
}

void otlp_logs__add(struct otlp_logs *logs, const struct otlp_sender *sender,
		    const struct model *model, const struct otlp_log *log, uint64_t now_ns)
{
	const struct process *process = find_process(model, log->pid);
	struct otlp_scope scope = otlp_resource__begin(&logs->request, sender, process);

	write_record(&logs->request, log, otlp_sender__wall_ns(sender, now_ns),
		     log->pid && !process);
	otlp_resource__end(&logs->request, scope);
	logs->count++;
}

int otlp_logs__write(struct otlp_logs *logs, otlp_take_fn take, void *arg)
{
	struct protobuf_buffer *request = &logs->request;
	int ret = request->failed ? -ENOMEM : 0;

	if (!ret && logs->count)
		ret = take(arg, request->data, request->length, logs->count);
	protobuf_buffer__clear(request);
	logs->count = 0;
	return ret;
}
