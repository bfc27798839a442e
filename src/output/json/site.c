// SPDX-License-Identifier: BSD-2-Clause
// Call sites in the JSON report, see parts.h.
#include "api/api.h"
#include "output/json/parts.h"
#include "output/enum_names.h"

static void write_failure(struct json *j, const struct call_site *site)
{
	json__key_i64(j, "code", site->code);
	json__key_string(j, "error",
			 api__error_name(api_functions[site->row].desc.layer, site->code));
}

static void write_site(struct json *j, const struct call_site *site)
{
	json__object_begin(j);
	json__key_string(j, "kind", enum_names__site_kind(site->kind));
	if (site->kind == SITE_LAUNCH)
		json__key_string(j, "kernel", site->kernel);
	else
		json__key_string(j, "function", api_functions[site->row].base);
	json__key_u64(j, "calls", site->calls);
	json__key_u64(j, "early_calls", site->early_calls);
	if (site->kind == SITE_ALLOCATION)
		json__key_u64(j, "bytes", site->amount);
	if (site->kind == SITE_WAIT || site->kind == SITE_COPY)
		json__key_u64(j, "ns", site->amount);
	if (site->kind == SITE_FAILURE)
		write_failure(j, site);
	json_stack__write(j, site->stack);
	json__object_end(j);
}

static void write_live(struct json *j, const struct live_site *site)
{
	json__object_begin(j);
	json__key_u64(j, "bytes", site->bytes);
	json__key_u64(j, "count", site->count);
	json__key_u64(j, "oldest_ns", site->oldest_ns);
	json__key_u64(j, "newest_ns", site->newest_ns);
	json_stack__write(j, site->stack);
	json__object_end(j);
}

void json_site__write(struct json *j, const struct model *model, const struct process *p)
{
	json__key(j, "call_sites");
	json__object_begin(j);
	json__key_u64(j, "launch_stack_sample", model->stack_sample);
	json__key_u64(j, "min_wait_ns", model->min_wait_ns);
	json__key(j, "calls");
	json__array_begin(j);
	for (size_t i = 0; i < p->site_count; i++)
		write_site(j, &p->sites[i]);
	json__array_end(j);
	json__key(j, "live_memory");
	json__array_begin(j);
	for (size_t i = 0; i < p->live_site_count; i++)
		write_live(j, &p->live_sites[i]);
	json__array_end(j);
	json__object_end(j);
}
