// SPDX-License-Identifier: BSD-2-Clause
// The JSON of `gpuprobe memleak`, see memleak.h.
#include "base/json.h"
#include "output/json/parts.h"
#include "output/memleak/memleak.h"
#include "output/memleak/objects.h"
#include "output/memleak/site.h"
#include "output/report/totals.h"
#include "output/enum_names.h"

struct writer {
	struct json *j;
	const struct model *model;
	const struct memleak_growth *growth;
	const struct memleak_options *options;
};

static const char *verdict_word(const struct growth_evidence *growth)
{
	switch (growth->verdict) {
	case GROWTH_GROWING: return "growing";
	case GROWTH_STABLE: return "stable";
	case GROWTH_UNKNOWN: break;
	}
	return "unknown";
}

static void write_growth(struct json *j, const struct growth_evidence *growth)
{
	json__key(j, "growth");
	json__object_begin(j);
	json__key_string(j, "verdict", verdict_word(growth));
	json__key_bool(j, "may_replace_older", growth->replaces);
	json__key_double(j, "bytes_per_second", growth->slope);
	json__key_u64(j, "span_ns", growth->span_ns);
	json__key_u64(j, "samples", growth->samples);
	json__object_end(j);
}

static uint64_t age_of(const struct writer *writer, const struct process *process,
		       uint64_t start_ns)
{
	uint64_t now_ns = process->ended ? process->ended_ns : writer->model->now_ns;

	return now_ns > start_ns ? now_ns - start_ns : 0;
}

static void write_allocations(const struct writer *writer, const struct memleak_site *site)
{
	struct json *j = writer->j;

	json__key(j, "live");
	json__array_begin(j);
	for (size_t i = 0; i < site->allocation_count; i++) {
		const struct allocation *a = site->allocations[i];

		json__object_begin(j);
		json__key_hex(j, "address", a->address);
		json__key_u64(j, "bytes", a->size);
		json__key_string(j, "kind", enum_names__memory_kind(a->kind));
		json__key_u64(j, "age_ns", age_of(writer, site->process, a->start_ns));
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_site(const struct writer *writer, const struct memleak_site *site)
{
	const struct live_site *live = site->live;
	struct json *j = writer->j;

	json__object_begin(j);
	json__key_u64(j, "bytes", live->bytes);
	json__key_u64(j, "allocations", live->count);
	json__key_u64(j, "oldest_age_ns", age_of(writer, site->process, live->oldest_ns));
	json__key_u64(j, "newest_age_ns", age_of(writer, site->process, live->newest_ns));
	json__key_known_u64(j, "allocated", site->allocated, site->allocated);
	if (site->made) {
		json__key_u64(j, "made", site->made->counts.made);
		json__key_u64(j, "made_bytes", site->made->counts.made_bytes);
		json__key_u64(j, "freed", site->made->counts.freed);
		json__key_u64(j, "freed_bytes", site->made->counts.freed_bytes);
		json__key_u64(j, "peak_bytes", site->made->counts.peak_bytes);
		json_tensors__write_step(j, site->process->tensors, site->made);
	}
	write_growth(j, &site->growth);
	json__key_bool(j, "leak", site->leak);
	json_stack__write(j, live->stack);
	if (writer->options->show_allocations)
		write_allocations(writer, site);
	json__object_end(j);
}

static void write_sites(const struct writer *writer, const struct memleak_process *known)
{
	const struct memleak_level *level = &known->level;
	struct memleak_site site;
	unsigned int shown = 0;

	json__key(writer->j, "sites");
	json__array_begin(writer->j);
	for (size_t i = 0; i < level->site_count; i++) {
		if (!memleak_site__shows(&level->sites[i], writer->options))
			continue;
		if (writer->options->top && shown++ == writer->options->top)
			break;
		memleak_site__know(writer->model, known, &level->sites[i], writer->options, &site);
		write_site(writer, &site);
	}
	json__array_end(writer->j);
}

/* The call sites of a level, and their sums. */
static int write_level(const struct writer *writer, const struct memleak_level *level)
{
	struct memleak_process known;
	struct memleak_sums sums;
	struct json *j = writer->j;
	int ret = memleak_process__begin(&known, level, writer->options);

	if (ret)
		return ret;
	memleak_site__sum(writer->model, &known, writer->options, &sums);
	json__key_u64(j, "call_sites", sums.sites);
	json__key_u64(j, "growing", sums.growing);
	json__key_u64(j, "bytes", sums.bytes);
	json__key_u64(j, "allocations", sums.count);
	json__key_u64(j, "left_out_bytes", sums.left_out_bytes);
	json__key_u64(j, "left_out_allocations", sums.left_out_count);
	write_sites(writer, &known);
	memleak_process__end(&known);
	return 0;
}

static int write_tensors(const struct writer *writer, const struct process *p)
{
	struct memleak_level level;
	struct json *j = writer->j;
	int ret;

	if (!writer->growth->tensors)
		return 0;
	json__key(j, "tensors");
	if (!p->tensors) {
		json__null(j);
		return 0;
	}
	json__object_begin(j);
	json_tensors__write_totals(j, p);
	json__key(j, "by_site");
	json__object_begin(j);
	memleak_level__of_tensors(&level, p, writer->growth);
	ret = write_level(writer, &level);
	json__object_end(j);
	json__object_end(j);
	return ret;
}

/* Pinned host memory. */
static int write_pinned(const struct writer *writer, const struct process *p)
{
	struct memleak_level level;
	int ret;

	json__key(writer->j, "pinned");
	json__object_begin(writer->j);
	memleak_level__of_pinned(&level, p, writer->growth);
	ret = write_level(writer, &level);
	json__object_end(writer->j);
	return ret;
}

static int write_process(const struct writer *writer, const struct process *p)
{
	struct memleak_level level;
	struct json *j = writer->j;
	int ret;

	memleak_level__of_segments(&level, p, writer->growth);
	json__object_begin(j);
	json__key_i64(j, "pid", p->pid);
	json__key_string(j, "comm", p->comm);
	json__key_u64(j, "start_ns", p->start_ns);
	json__key_bool(j, "since_attach", p->since_attach);
	json_process__write_before_attach(j, p);
	json__key_bool(j, "ended", p->ended);
	if (p->ended) {
		json__key_u64(j, "live_at_exit_bytes", p->live_at_exit_bytes);
		json__key_u64(j, "live_at_exit_allocations", p->live_at_exit_count);
	}
	ret = write_level(writer, &level);
	if (!ret)
		ret = write_pinned(writer, p);
	if (!ret)
		ret = write_tensors(writer, p);
	if (!ret)
		ret = memleak_objects__write(j, p, writer->growth->segments);
	json__object_end(j);
	return ret;
}

int memleak_json__print(FILE *out, const struct model *model, const struct memleak_growth *growth,
			const struct memleak_options *options)
{
	struct json j;
	const struct writer writer = {
		.j = &j, .model = model, .growth = growth, .options = options};
	int ret = 0;

	json__init(&j, out);
	json__object_begin(&j);
	json__key_u64(&j, "schema", MEMLEAK_JSON_SCHEMA);
	json_parts__key_time(&j, &model->wall);
	json__key_u64(&j, "boot_ns", model->now_ns);
	json__key_bool(&j, "final", model->final);
	json__key(&j, "processes");
	json__array_begin(&j);
	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (report__shows(&model->processes[i]))
			ret = write_process(&writer, &model->processes[i]);
	json__array_end(&j);
	json_parts__key_without_calls(&j, model);
	json__key_u64(&j, "sites_not_followed", growth__unfollowed(growth->segments));
	json_parts__key_lost(&j, model);
	json__object_end(&j);
	fputc('\n', out);
	return ret;
}
