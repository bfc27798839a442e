// SPDX-License-Identifier: BSD-2-Clause
// The session of a trace, see trace_session.h.
#include "cli/commands/trace_session.h"

#include "cli/commands/record_readings.h"
#include "cli/session/privileges.h"

int trace_session__begin(struct trace_session *trace, const struct trace_options *options,
			 const struct session_hooks *hooks, bool gives_library,
			 const struct log *log, struct error *err)
{
	int ret;

	if (!options->record || !options->record->readings.beside)
		return session__new(&options->targets, options->duration, hooks, log,
				    &trace->session, err);
	ret = record_readings__new(options, hooks, gives_library, log, &trace->readings, err);
	if (!ret)
		trace->session = record_readings__session(trace->readings);
	return ret;
}

int trace_session__give_up(const struct trace_session *trace, enum link_kind links,
			   struct trace_recorder *recorder, const struct log *log,
			   struct error *err)
{
	return trace->readings ? record_readings__prepare(trace->readings, recorder, err) :
				 privileges__give_up(links, log, err);
}

int trace_session__prepare(const struct trace_session *trace, const struct session_probes *probes,
			   struct error *err)
{
	return trace->readings ? record_readings__attach_beside(trace->readings, probes->selection,
								probes->programs, err) :
				 session__prepare(trace->session, probes, err);
}

int trace_session__attach(const struct trace_session *trace, struct error *err)
{
	return trace->readings ? record_readings__attach(trace->readings, err) :
				 session__attach(trace->session, err);
}

void trace_session__finish(const struct trace_session *trace, struct attacher_counts *attached)
{
	if (trace->readings) {
		record_readings__finish(trace->readings);
		session__count_beside(trace->session, attached);
		return;
	}
	session__settle(trace->session);
	session__count(trace->session, attached);
}

void trace_session__free(struct trace_session *trace)
{
	if (trace->readings)
		record_readings__free(trace->readings);
	else
		session__free(trace->session);
}
