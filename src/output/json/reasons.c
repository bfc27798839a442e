// SPDX-License-Identifier: BSD-2-Clause
// Where the time of threads that submit work went, as JSON: see output/finding/reasons.h.
#include "base/clock.h"
#include "output/json/parts.h"
#include "output/finding/reasons.h"
#include "output/enum_names.h"

/* null if nothing repeats. */
static void key_a_step(struct json *j, const char *key, const struct host_reasons *reasons,
		       double number)
{
	json__key_known_double(j, key, number, reasons->cost.step_ns);
}

static void write_partner(struct json *j, const struct host_partner *who)
{
	if (who->tid)
		json__key_i64(j, "tid", who->tid);
	json__key_i64(j, "pid", who->pid);
	json__key_string(j, "comm", who->comm);
	json__key_double(j, "seconds", (double)who->ns / (double)NS_PER_S);
	json__key_u64(j, "times", who->count);
}

static void write_doing(struct json *j, const struct host_other *other)
{
	json__key_string(j, "kind", enum_names__host_kind(other->kind));
	json__key_string(j, "what", host_kind__doing((enum host_kind)other->kind));
	json__key_double(j, "share", other->share);
	if (other->file)
		json__key_string(j, "file", other->file);
	json_stack__write(j, other->stack);
}

static const char *relation_of(enum host_kind kind)
{
	if (kind == HOST_OUTPUT)
		return "read_by";
	return kind == HOST_QUEUE ? "fed_by" : "held_by";
}

/* Each hop is nested in the one that waits for it. */
static void write_hops(struct json *j, const struct host_reasons *reasons,
		       const struct host_reason *reason)
{
	struct host_other hops[HOST_HOPS];
	size_t count = host_reasons__hops(reasons, reason, hops);
	enum host_kind kind = (enum host_kind)reason->kind;

	for (size_t i = 0; i < count; i++) {
		json__key(j, relation_of(kind));
		json__object_begin(j);
		write_partner(j, hops[i].who);
		if (hops[i].thread)
			write_doing(j, &hops[i]);
		kind = (enum host_kind)hops[i].kind;
	}
	for (size_t i = 0; i < count; i++)
		json__object_end(j);
}

static void write_rivals(struct json *j, const struct host_reason *reason)
{
	const struct host_partner *list;
	size_t count = host_reasons__rivals(reason, &list);

	if (!count)
		return;
	json__key(j, "rivals");
	json__array_begin(j);
	for (size_t i = 0; i < count; i++) {
		json__object_begin(j);
		write_partner(j, &list[i]);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_reason(struct json *j, const struct host_reasons *reasons,
			 const struct host_reason *reason)
{
	const char *file = host_reasons__file(reason);

	json__object_begin(j);
	json__key_string(j, "kind", enum_names__host_kind(reason->kind));
	json__key_string(j, "what", host_kind__doing((enum host_kind)reason->kind));
	json__key_double(j, "seconds", (double)reason->ns / (double)NS_PER_S);
	key_a_step(j, "step_seconds", reasons,
		   step_cost__ns(&reasons->cost, reason->ns) / (double)NS_PER_S);
	json__key_double(j, "share", reasons->ns ? (double)reason->ns / (double)reasons->ns : 0);
	json__key_u64(j, "times", reason->times);
	json__key_known_u64(j, "calls", reason->calls, reason->calls);
	if (reason->kind == HOST_OFF && reason->call_name)
		json__key_string(j, "system_call", reason->call_name);
	if (file)
		json__key_string(j, "file", file);
	json_stack__write(j, reason->stack);
	write_hops(j, reasons, reason);
	write_rivals(j, reason);
	json__object_end(j);
}

void reasons_json__write(struct json *j, const struct process *process, uint64_t now_ns)
{
	struct host_reasons reasons;

	if (host_reasons__of(process, now_ns, &reasons))
		return;
	json__key(j, "reasons");
	json__array_begin(j);
	for (size_t i = 0; i < reasons.count; i++)
		write_reason(j, &reasons, &reasons.items[i]);
	json__array_end(j);
	host_reasons__clear(&reasons);
}

void reasons_json__write_host(struct json *j, const struct model *model)
{
	if (!model->host)
		return;
	json__key(j, "host");
	json__object_begin(j);
	json__key_bool(j, "follows", !model->host->lack);
	if (model->host->lack)
		json__key_string(j, "lack", model->host->lack);
	json__key_u64(j, "threads_not_followed", model->host->unfollowed);
	json__object_end(j);
}
