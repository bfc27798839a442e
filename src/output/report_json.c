// SPDX-License-Identifier: BSD-2-Clause
// The report as JSON, see report_json.h.
#include "output/report_json.h"

#include <inttypes.h>

#include "base/json.h"
#include "output/json_functions.h"
#include "output/report_totals.h"
#include "output/words.h"

static void key_address(struct json *j, const char *key, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json__key_string(j, key, text);
}

static void write_time(struct json *j, const struct timespec *wall)
{
	char seconds[32], text[64];
	struct tm tm;

	json__key(j, "time");
	if (!gmtime_r(&wall->tv_sec, &tm) ||
	    !strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &tm)) {
		json__null(j);
		return;
	}
	snprintf(text, sizeof(text), "%s.%06ldZ", seconds, wall->tv_nsec / 1000);
	json__string(j, text);
}

static void write_sections(struct json *j, unsigned int sections)
{
	unsigned int section;

	json__key(j, "sections");
	json__array_begin(j);
	for (section = 1; section & SECTION_ALL; section <<= 1) {
		if (sections & section)
			json__string(j, words__section(section));
	}
	json__array_end(j);
}

static void write_memory_totals(struct json *j, const char *key, const struct memory_totals *m)
{
	json__key(j, key);
	json__object_begin(j);
	json__key_u64(j, "allocations", m->allocations);
	json__key_u64(j, "allocation_failures", m->allocation_failures);
	json__key_u64(j, "allocation_ns", m->allocation_ns);
	json__key_u64(j, "frees", m->frees);
	json__key_u64(j, "free_failures", m->free_failures);
	json__key_u64(j, "unknown_frees", m->unknown_frees);
	json__key_u64(j, "live_bytes", m->live_bytes);
	json__key_u64(j, "live_allocations", m->live_count);
	json__object_end(j);
}

static void write_totals(struct json *j, const struct model *model)
{
	struct report_totals totals;

	report_totals__sum(model, &totals);
	json__key(j, "totals");
	json__object_begin(j);
	json__key_u64(j, "processes", totals.processes);
	if (model->sections & SECTION_MEMORY) {
		write_memory_totals(j, "device_memory", &totals.device);
		write_memory_totals(j, "host_memory", &totals.host);
		json__key_u64(j, "live_at_exit_bytes", totals.live_at_exit_bytes);
		json__key_u64(j, "live_at_exit_allocations", totals.live_at_exit_count);
	}
	if (model->sections & SECTION_LAUNCH) {
		json__key_u64(j, "launches", totals.launches);
		json__key_u64(j, "kernels", totals.kernels);
		json__key_u64(j, "graph_launches", totals.graph_launches);
	}
	json__object_end(j);
}

static void write_live(struct json *j, const struct process *p)
{
	size_t i;

	json__key(j, "live");
	json__array_begin(j);
	for (i = 0; i < p->live_listed; i++) {
		const struct allocation *a = &p->live[i];

		json__object_begin(j);
		key_address(j, "address", a->address);
		json__key_u64(j, "bytes", a->size);
		json__key_string(j, "kind", words__memory_kind(a->kind));
		json__key_u64(j, "start_ns", a->start_ns);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_freed(struct json *j, const struct process *p)
{
	size_t i;

	json__key(j, "freed");
	json__array_begin(j);
	for (i = 0; i < p->freed_listed; i++) {
		json__object_begin(j);
		key_address(j, "address", p->freed[i].address);
		json__key_string(j, "kind", words__memory_kind(p->freed[i].kind));
		json__object_end(j);
	}
	json__array_end(j);
	json__key_u64(j, "freed_unlisted", p->freed_unlisted);
}

static void write_memory(struct json *j, const struct process *p)
{
	int kind;

	json__key(j, "memory");
	json__object_begin(j);
	for (kind = 0; kind < MEMORY_KINDS; kind++)
		write_memory_totals(j, words__memory_kind(kind), &p->memory[kind]);
	if (p->ended) {
		json__key_u64(j, "live_at_exit_bytes", p->live_at_exit_bytes);
		json__key_u64(j, "live_at_exit_allocations", p->live_at_exit_count);
	}
	write_live(j, p);
	write_freed(j, p);
	json__object_end(j);
}

static void write_launches(struct json *j, const struct process *p)
{
	size_t i;

	json__key_u64(j, "launches", p->launches);
	json__key_u64(j, "graph_launches", p->graph_launches);
	json__key(j, "kernels");
	json__array_begin(j);
	for (i = 0; i < p->kernel_count; i++) {
		const struct kernel *k = &p->kernels[i];

		json__object_begin(j);
		key_address(j, "handle", k->handle);
		json__key_string(j, "name", k->name);
		json__key_string(j, "short_name", k->short_name);
		json__key_u64(j, "launches", k->launches);
		json__key_u64(j, "serial", k->serial);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_copy(struct json *j, int kind, bool async, const struct process *p)
{
	const struct copy_totals *c = &p->copies[kind][async];
	const struct copy_inflight *inflight = &p->inflight[kind];

	if (!c->calls && !(async && inflight->calls))
		return;
	json__object_begin(j);
	json__key_string(j, "kind", words__copy_kind(kind));
	json__key_string(j, "mode", async ? "async" : "sync");
	json__key_u64(j, "calls", c->calls);
	json__key_u64(j, "bytes", c->bytes);
	json__key_u64(j, "ns", c->ns);
	if (!async && c->ns)
		json__key_double(j, "bytes_per_second", (double)c->bytes / ((double)c->ns / 1e9));
	if (async) {
		json__key(j, "in_flight");
		json__object_begin(j);
		json__key_u64(j, "calls", inflight->calls);
		json__key_u64(j, "bytes", inflight->bytes);
		json__key_u64(j, "oldest_ns", inflight->oldest_ns);
		json__object_end(j);
	}
	json__object_end(j);
}

static void write_copies(struct json *j, const struct process *p)
{
	int kind;

	json__key(j, "copies");
	json__array_begin(j);
	for (kind = 0; kind < COPY_KINDS; kind++) {
		write_copy(j, kind, false, p);
		write_copy(j, kind, true, p);
	}
	json__array_end(j);
}

static void write_wait(struct json *j, const char *in, const struct wait_totals *waits)
{
	if (!waits->calls)
		return;
	json__object_begin(j);
	json__key_string(j, "in", in);
	json__key_u64(j, "calls", waits->calls);
	json__key_u64(j, "ns", waits->ns);
	json__object_end(j);
}

static void write_waits(struct json *j, const struct process *p)
{
	int scope;

	json__key(j, "waits");
	json__array_begin(j);
	for (scope = 0; scope < WAIT_SCOPES; scope++)
		write_wait(j, words__wait_scope(scope), &p->waits[scope]);
	write_wait(j, "copy", &p->copy_waits);
	write_wait(j, "free", &p->free_waits);
	json__array_end(j);
	json__key(j, "queries");
	json__array_begin(j);
	for (scope = 0; scope < WAIT_SCOPES; scope++) {
		if (!p->queries[scope].calls)
			continue;
		json__object_begin(j);
		json__key_string(j, "of", words__wait_scope(scope));
		json__key_u64(j, "calls", p->queries[scope].calls);
		json__key_u64(j, "not_ready", p->queries[scope].not_ready);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_errors(struct json *j, const struct process *p)
{
	size_t i;

	json__key(j, "errors");
	json__array_begin(j);
	for (i = 0; i < p->failure_count; i++) {
		const struct failure *f = &p->failures[i];

		json__object_begin(j);
		json__key_string(j, "function", f->function);
		json__key_string(j, "layer", words__layer(f->layer));
		json__key_string(j, "error", f->error);
		json__key_i64(j, "code", f->code);
		json__key_u64(j, "count", f->count);
		json__key_bool(j, "sampled", f->sampled);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_process(struct json *j, unsigned int sections, const struct process *p)
{
	json__object_begin(j);
	json__key_i64(j, "pid", p->pid);
	json__key_string(j, "comm", p->comm);
	json__key_u64(j, "start_ns", p->start_ns);
	json__key_bool(j, "since_attach", p->since_attach);
	json__key_bool(j, "ended", p->ended);
	if (p->ended)
		json__key_u64(j, "ended_ns", p->ended_ns);
	if (sections & SECTION_MEMORY)
		write_memory(j, p);
	if (sections & SECTION_LAUNCH)
		write_launches(j, p);
	if (sections & SECTION_COPY) {
		write_copies(j, p);
		write_waits(j, p);
	}
	write_errors(j, p);
	json_functions__write(j, p);
	json__object_end(j);
}

static void write_processes(struct json *j, const struct model *model)
{
	size_t i;

	json__key(j, "processes");
	json__array_begin(j);
	for (i = 0; i < model->process_count; i++) {
		if (report__shows(&model->processes[i]))
			write_process(j, model->sections, &model->processes[i]);
	}
	json__array_end(j);
}

static void write_gpuprobe(struct json *j, const struct model *model)
{
	int i;

	json__key_u64(j, "libraries", model->libraries);
	json__key(j, "probes_attached");
	json__object_begin(j);
	for (i = 0; i < LAYER_COUNT; i++)
		json__key_u64(j, words__layer(i), model->sites_attached[i]);
	json__object_end(j);
	json__key_u64(j, "functions_missing", model->sites_missing);
	json__key(j, "lost");
	json__object_begin(j);
	for (i = 0; i < LOSS_COUNT; i++)
		json__key_u64(j, words__loss_name(i), model->lost[i]);
	json__object_end(j);
}

void report_json__print(FILE *out, const struct model *model)
{
	struct json j;

	json__init(&j, out);
	json__object_begin(&j);
	json__key_u64(&j, "schema", REPORT_JSON_SCHEMA);
	write_time(&j, &model->wall);
	json__key_u64(&j, "boot_ns", model->now_ns);
	json__key_bool(&j, "final", model->final);
	write_sections(&j, model->sections);
	json__key_u64(&j, "launch_sample", model->launch_sample);
	write_totals(&j, model);
	write_processes(&j, model);
	write_gpuprobe(&j, model);
	json__object_end(&j);
	fputc('\n', out);
}
