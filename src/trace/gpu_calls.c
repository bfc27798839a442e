// SPDX-License-Identifier: BSD-2-Clause
// Calls that submit work to GPUs, see gpu_calls.h.
#include "trace/gpu_calls.h"

#include "trace/function.h"

static bool submits(const struct trace_line *line)
{
	switch (trace_function__operation(line->function)) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_COPY:
	case OP_SET: return true;
	default: return false;
	}
}

/* Sets when the call began and, as far as is known, ended. Returns false if it did no work. */
static bool place(const struct trace_line *line, struct gpu_call *call)
{
	uint64_t length = line->duration_ns + line->held_ns;

	call->start_ns = line->start_ns;
	switch (line->kind) {
	case LINE_CALL: call->end_ns = line->start_ns + length; break;
	case LINE_RETURN:
	case LINE_RESUMED:
		call->start_ns = line->start_ns - length;
		call->end_ns = line->start_ns;
		break;
	case LINE_IN_PROGRESS:
	case LINE_UNFOLLOWED:
	case LINE_UNFINISHED: call->end_ns = GPU_CALL_NO_END; break;
	default: return false;
	}
	return !line->result;
}

/* Whether the line is of a call that is known already, or inside one. */
static bool is_known(struct gpu_calls *calls, const struct trace_line *line,
		     const struct gpu_call *call)
{
	struct gpu_latest_call *latest = &calls->latest[(uint32_t)line->tid % GPU_CALLS_THREADS];
	bool is_open = latest->tid == line->tid && latest->end_ns == GPU_CALL_NO_END;

	if (latest->tid == line->tid && line->depth > latest->depth &&
	    call->start_ns < latest->end_ns)
		return true;
	/* A call whose return is not watched has ended by the next one. */
	*latest = (struct gpu_latest_call){line->tid, line->depth,
					   line->kind == LINE_UNFOLLOWED ? call->start_ns :
									   call->end_ns};
	return is_open && (line->kind == LINE_RESUMED || line->kind == LINE_UNFINISHED);
}

bool gpu_calls__take(struct gpu_calls *calls, const struct trace_line *line, struct gpu_call *call)
{
	*call = (struct gpu_call){.tid = (uint32_t)line->tid,
				  .thread = (uint32_t)line->namespace_tid};
	return line->function && line->process && submits(line) && place(line, call) &&
	       !is_known(calls, line, call);
}
