// SPDX-License-Identifier: BSD-2-Clause
// Calls that have not returned, in JSON, see parts.h.
#include "api/api.h"
#include "output/json/parts.h"
#include "output/enum_names.h"

static void write_call(struct json *j, const struct model *model, const struct open_call *call)
{
	const struct api_function *function = &api_functions[call->row];
	uint64_t until_ns = call->ended_ns ? call->ended_ns : model->now_ns;

	json__object_begin(j);
	json__key_string(j, "function", function->symbol);
	json__key_string(j, "layer", enum_names__layer(function->desc.layer));
	json_parts__key_device(j, call->device);
	json__key_i64(j, "tid", call->tid);
	json__key_string(j, "comm", call->comm);
	json__key_u64(j, "start_ns", call->start_ns);
	json__key_u64(j, "ns", until_ns > call->start_ns ? until_ns - call->start_ns : 0);
	json__key_u64(j, "calls_meanwhile", call->others);
	json__key_bool(j, "ended", call->ended_ns != 0);
	if (call->earlier)
		json__key_bool(j, "before_attach", true);
	json__object_end(j);
}

void json_open_calls__write(struct json *j, const struct model *model, const struct process *p)
{
	if (!p->open_count && !p->open_listed)
		return;
	json__key_u64(j, "calls_in_progress", p->open_count);
	json__key(j, "in_progress");
	json__array_begin(j);
	for (size_t i = 0; i < p->open_listed; i++)
		write_call(j, model, &p->open[i]);
	json__array_end(j);
}
